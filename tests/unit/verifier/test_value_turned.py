"""A value that a step turned decides on the claim, whatever words the answer puts it in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from fakes.dag import Dag, DagSource

from veritrail_graph.graph.model import Claim, LocatedBy, NodeRef, Role, Verdict, Verification
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.engines.lexical import LexicalJudge
from veritrail_graph.verifier.value_turned import statement_of, turned
from veritrail_graph.verifier.values import values
from veritrail_graph.verifier.values.derived import may_be_derived

PAGE = "The library reopened on 4 March 2024.|The repairs cost 310,000 euros.|The roof leaked."
NOTE = "After repairs that cost 130,000 euros, the library reopened on 4 March 2024."
LINE = {"note": ("page",), "answer": ("note",)}


def judged(
    page: str, note: str, claim: str, *, sources: Mapping[str, Sequence[str]] = LINE, **more: str
) -> Verification:
    """The claim of an answer, judged by words; each text is given as its sentences."""
    texts = {"page": page, "note": note, "answer": claim, **more}
    dag = Dag.of(sources, texts={name: text.split("|") for name, text in texts.items()})
    task = Task(Claim(claim_id="k", text=claim, node_id="answer"), dag.refs["answer"])
    return asyncio.run(verify_claim(task, "p", LexicalJudge(), DagSource(dag)))


def blamed(found: Verification) -> list[str]:
    return [ref.node_id for ref in found.error_nodes]


WIND = (
    "The nine turbines of the Hohenfeld wind farm produced 78 gigawatt hours in 2023.",
    "The Hohenfeld wind farm has nine turbines, which produced 87 gigawatt hours in 2023.",
)


@pytest.mark.parametrize(
    ("page", "note", "claim"),
    [
        *(
            pytest.param(PAGE, NOTE, claim, id=claim[:24])
            for claim in (
                "130,000 euros were paid for the repairs of the library.",
                "For the repairs, the town spent 130,000 euros.",
                "Repairing the library came to 130,000 euros.",
                "The bill for the repairs was EUR 130,000.",
                "Mending the library swallowed 0.13 million euros.",
            )
        ),
        pytest.param(*WIND, "Hohenfeld's wind farm generated 87 gigawatt hours.", id="unit"),
        pytest.param(
            "The organ was consecrated on 9 October 1974 by the bishop.",
            "The bishop consecrated the organ on 19 October 1974.",
            "Parishioners celebrated the consecration of the organ on 19 October 1974.",
            id="date",
        ),
        pytest.param(
            "From January to August the utility used 37 per cent less natural gas.",
            "The utility used 47 per cent less natural gas from January to August.",
            "Consumption of natural gas at the utility went down by 47%.",
            id="percent",
        ),
    ],
)
def test_a_paraphrase_of_a_turned_value_is_not_supported_and_blames_the_step(
    page: str, note: str, claim: str
) -> None:
    found = judged(page, note, claim)
    assert (found.verdict, found.located_by) == (Verdict.NOT_FULLY_SUPPORTED, LocatedBy.VALUE)
    assert blamed(found) == ["note"]
    assert (found.reasoning or "").startswith("Indicative (lexical, no model): no source has “")


MUSEUM = "The museum opens at 10:00 and closes at 18:00."
MUSEUM_LATER = "The museum opens at 11:00 and closes at 18:00."


@pytest.mark.parametrize(
    ("page", "note", "claim"),
    [
        ("The repairs cost 310,000 euros.", "The repairs cost 130,000 euros.",
         "Restoring the library came to 130,000 euros in total."),
        (MUSEUM, MUSEUM_LATER, "Visitors are let in from 11:00."),
        ("The lighthouse was built in 1887 and rebuilt in 1934.",
         "The lighthouse was built in 1878 and rebuilt in 1934.", "It dates from 1878."),
        ("The crew consisted of seventeen sailors and two cooks.",
         "The crew consisted of seventy sailors and two cooks.", "On board were seventy sailors."),
        ("The lease of the mill ends on 30 September 2027.",
         "The lease of the mill ends on 30 November 2027.",
         "The mill must be vacated by 30 November 2027."),
        ("Revenue of Tarn Foods rose to 4.2 million pounds, and its staff grew to 58 people.",
         "Tarn Foods' revenue rose to 2.4 million pounds.", "Tarn Foods took in £2.4m."),
        ("The ceremony was held on 7 May 2021.", "The ceremony was held on 7 July 2021.",
         "The event took place on July 7, 2021."),
    ],
    ids=["money", "time", "year", "counted", "duty", "short", "May"],
)  # fmt: skip
def test_a_claim_that_shares_no_word_with_the_step_has_the_value_from_there(
    page: str, note: str, claim: str
) -> None:
    found = judged(page, note, claim)
    assert found.verdict is Verdict.NOT_FULLY_SUPPORTED
    assert blamed(found) == ["note"]


@pytest.mark.parametrize(
    ("page", "note", "claim"),
    [
        (f"{MUSEUM}|Tours begin at 9:30 and take an hour and a half.", MUSEUM_LATER,
         "The first tour is over at 11:00."),
        ("The repairs cost 310,000 euros.|Paint was 30,000 euros, glass 40,000, and wood 60,000 "
         "euros.", "The repairs cost 130,000 euros.", "Craftsmen got 130,000 euros for materials."),
        ("The repairs cost 310,000 euros.|Paint was 129,870 euros.", "The repairs cost 130,000 "
         "euros.", "Colours swallowed 130,000 euros."),
        ("The repairs cost 310,000 euros.|A hall is 32,500 euros each.", "The repairs cost "
         "130,000 euros.", "For four halls, the town set 130,000 euros aside."),
        ("The repairs cost 310,000 euros.", "The repairs cost 130,000 euros.|A car is 130,000 "
         "euros.", "Restoring the library came to 130,000 euros."),
        ("The repairs cost 310,000 euros.", "The repairs cost 130,000 euros.",
         "Restoring the library must have come to 130,000 euros."),
        ("The repairs cost 310,000 euros.", "The repairs cost 130,000 euros.",
         "La restauration valait 130.000 euros."),
        ("The crew consisted of seventeen sailors.", "The crew consisted of seventy sailors.",
         "On shore the captain was joined by 70 guests."),
    ],
    ids=["span in words", "total", "rounded", "each", "two sentences", "guess", "language",
         "counts something else"],
)  # fmt: skip
def test_a_value_that_a_claim_may_have_from_elsewhere_decides_nothing(
    page: str, note: str, claim: str
) -> None:
    assert judged(page, note, claim).verdict is None


def test_the_source_is_shown_also_where_a_step_between_kept_its_value() -> None:
    chain = {"between": ("page",), "note": ("between",), "answer": ("note",)}
    found = judged(
        "Renewable sources supplied 58 per cent of the electricity.|"
        "For heat the share was only 23 per cent.",
        "For heat the share of renewable sources was 32 per cent.",
        "32 per cent of the heat came from renewable sources.",
        sources=chain,
        between="Renewable sources supplied 58 per cent of the electricity.|"
        "For heat the share was 23 per cent.",
    )
    assert blamed(found) == ["note"]
    assert found.value_place is not None
    assert found.value_place.source.text == "For heat the share was only 23 per cent."


REPAIRS = "The repairs cost 310,000 euros."


@pytest.mark.parametrize(
    ("page", "note", "claim"),
    [
        (f"{REPAIRS}|The state paid 180,000 euros of it.", "The repairs cost 130,000 euros after "
         "the grant.", "The town had to pay 130,000 euros for the repairs."),
        ("In the first quarter the firm sold 120 boats.|In the second another 80 were sold.",
         "In the first half the firm sold 200 boats.", "In the first half it sold 200 boats."),
        ("The shop sold 30 books on Monday, 50 books on Tuesday and 45 books on Wednesday.",
         "The shop sold 125 books.", "125 books were sold by the shop."),
        ("The town has 5,000 houses, and 500 houses have solar panels.",
         "10 per cent of the houses of the town have solar panels.",
         "Of the houses, 10 per cent have panels."),
        ("Half of the 3,000 trees died.", "1,500 trees died.", "The drought killed 1,500 trees."),
        ("The company sold 48,912 bicycles in 2022.", "In 2022 the company sold 49,000 bicycles.",
         "The company's sales were 49,000 bicycles."),
        ("The repairs cost 312,400 euros.", "The repairs cost 300,000 euros.",
         "The repairs came to 300,000 euros."),
        ("The fair began on 4 March 2024 and lasted three days.",
         "The fair lasted until 6 March 2024.", "On 6 March 2024 the fair ended."),
        ("The mayor was born in 1950 and died aged 70.", "The mayor died in 2020.",
         "In 2020 the mayor died."),
        ("The ferry leaves at 9:40 p.m. and takes 50 minutes.", "The ferry leaves and is there at "
         "10:30 p.m.", "The ferry is there at 10:30 p.m."),
        ("The school's roof cost 250,000 euros.|The library's roof cost 520,000 euros.",
         "The roof of the library cost 520,000 euros.", "The library's roof took 520,000 euros."),
        (REPAIRS, "The repairs did not cost 130,000 euros.", "The repairs never cost 130,000."),
        (REPAIRS, "The repairs cost 130,000 euros.", "It is not true that they cost 130,000 euros "
         "for the repairs."),
        (REPAIRS, "The repairs could cost 130,000 euros.", "The repairs took 130,000 euros."),
        (REPAIRS, "Repairs: 130,000.", "The repairs took 130,000 euros."),
        ("The plant's imports rose to 310 tonnes.", "The plant's exports rose to 130 tonnes.",
         "The exports of the plant came to 130 tonnes."),
        ("The fleet of the town has 14 ferries: the Anna, the Berta, the Carla and others.",
         "The fleet of the town has 3 ferries that run daily.", "3 ferries of the fleet run."),
        ("Die Reparatur der Kirche kostete 310.000 Euro.", "Die Reparatur der Kirche kostete nicht "
         "130.000 Euro.", "Die Reparatur der Kirche hat nicht 130.000 Euro gekostet."),
        ("He won it in the 2007-08 season of the league.", "He won it in the 2011 season of the "
         "league, after 2008.", "In the season of 2008 he won the league."),
        ("The fee for parking is 1.50 euros per day.",
         *["The fee for parking is 10.50 euros per week."] * 2),
        ("The machine makes 20 parts a minute.", *["The machine makes 1,200 parts an hour."] * 2),
        ("The tax of 19 percent was cut by 2 percentage points.",
         *["The tax was cut to 17 percent."] * 2),
        ("The tax of 19 percent was raised by 2 points.",
         *["The tax was raised to 21 percent."] * 2),
        ("The offer is valid until 31 May.", *["The offer is valid before 1 June."] * 2),
        ("Berths 1 to 4 take ships of up to 180 metres.|Berth 5 takes ships that are 60 metres "
         "longer.", "Berth 5 takes ships of 230 metres.", "A ship of 230 metres fits berth 5."),
    ],
    ids=["net", "sum", "three", "share", "half", "rounded", "rounded to one digit", "days later",
         "aged", "minutes later", "two things", "denied", "denied by the claim", "doubted",
         "no sentence", "opposite", "counted", "another language", "end of a span",
         "rate of money", "rate of things", "points off", "points on", "next day",
         "beyond another"],
)  # fmt: skip
def test_nothing_is_said_of_a_value_that_may_be_right_or_of_something_else(
    page: str, note: str, claim: str
) -> None:
    assert judged(page, note, claim).verdict is None


@pytest.mark.parametrize(
    ("one_source", "other_source", "note", "claim"),
    [
        (
            "Plant A made 1,200 tonnes in 2021.",
            "Plant B made 800 tonnes in 2021.",
            "The plants A and B made 2,000 tonnes in 2021.",
            "Together, both plants reached 2,000 tonnes in 2021.",
        ),
        (
            "The town had 15,000 inhabitants in 2011.",
            "The village had 900 inhabitants in 2011.",
            "The town had 15,900 inhabitants in 2011 including the village.",
            "Counting the village, 15,900 inhabitants lived there in 2011.",
        ),
        (
            "The town had 12,000 inhabitants in 2001 and 15,000 in 2011.",
            "The village had 900 inhabitants in 2011.",
            "The town had 15,900 inhabitants in 2011 including the village.",
            "Counting the village, 15,900 inhabitants lived there in 2011.",
        ),
    ],
    ids=["two plants", "town and village", "town of two years and village"],
)
def test_nothing_is_said_of_a_sum_whose_parts_stand_in_sources_of_their_own(
    one_source: str, other_source: str, note: str, claim: str
) -> None:
    sources = {"note": ("page", "other"), "answer": ("note",)}
    found = judged(one_source, note, claim, sources=sources, other=other_source)
    assert found.verdict is None


def test_nothing_is_said_where_a_text_of_unknown_origin_has_the_value() -> None:
    claim = "130,000 euros were paid for the repairs of the library."
    sources = {"note": ("page", "mail"), "answer": ("note",)}
    texts = {"page": PAGE, "note": NOTE, "answer": claim, "mail": "130,000 it is."}
    dag = Dag.of(sources, texts={name: text.split("|") for name, text in texts.items()})
    mail = dag.refs["mail"]
    dag.refs["mail"] = NodeRef(mail.node_id, mail.stage, mail.position, Role.UNSOURCED)
    task = Task(Claim(claim_id="k", text=claim, node_id="answer"), dag.refs["answer"])
    found = asyncio.run(verify_claim(task, "p", LexicalJudge(), DagSource(dag)))
    assert found.verdict is None


@pytest.mark.parametrize(
    ("wrote", "read", "pair"),
    [
        (WIND[1], WIND[0], ("87 gigawatt", "78 gigawatt")),
        ("The mill sold 41 tonnes.", "The mill sold 37 tonnes and bought 38 tonnes.", None),
        ("The mill in Tarn sold 41 tonnes.", "The mill in Kalm sold 37 tonnes.", None),
        ("The mill sold 41 tonnes in 2023.", "The mill sold 37 tonnes in 2019.", None),
        ("Was the mill's flour 41 tonnes?", "The mill's flour was 37 tonnes.", None),
        ("In section 41 the mill's flour is named.", "In section 37 the mill's flour is.", None),
    ],
)
def test_a_sentence_that_keeps_all_but_one_value_turned_it(
    wrote: str, read: str, pair: tuple[str, str] | None
) -> None:
    found = turned(statement_of(wrote), statement_of(read))
    assert (found and (found.wrote.surface, found.read.surface)) == pair


@pytest.mark.parametrize(
    ("value", "others", "is_derived"),
    [
        ("130 euros", "310 euros 180 euros", True),
        ("130 euros", "310 euros 170 euros", False),
        ("20 percent", "1,000 people 200 people", True),
        ("21 percent", "1,000 people 200 people", False),
        ("400 euros", "500 euros 20 percent", True),
        ("50 years", "in 1974 in 2024", True),
        ("6 March 2024", "on 4 March 2024 for two days", True),
        ("8 March 2024", "on 4 March 2024 for two days", False),
    ],
)
def test_a_value_may_follow_from_others(value: str, others: str, is_derived: bool) -> None:
    assert may_be_derived(values(value)[0], values(others), others) is is_derived
