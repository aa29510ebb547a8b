"""No node is blamed for a value that stood before it, however it was written there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from fakes.dag import Dag, DagSource
from fakes.scripted_judge import NFS, Script, ScriptedJudge

from veritrail_graph.graph.model import Claim, Verification
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.engines.lexical import LexicalJudge
from veritrail_graph.verifier.value_holding import Wanted
from veritrail_graph.verifier.values import values

PAGE = "The roof of the chapel cost 520,000 crowns."
ANSWER = "The roof of the chapel cost 250,000 crowns."
LINE = {"note": ("page",), "answer": ("note",)}
TWO_NOTES = {"one": ("page",), "two": ("page",), "answer": ("one", "two")}
TWO_PAGES = {"note": ("page", "other"), "answer": ("note",)}
LATER = {"note": ("page",), "later": ("note",), "answer": ("later",)}


def told(
    texts: Mapping[str, str], sources: Mapping[str, Sequence[str]] = LINE, *, words: bool = False
) -> Verification:
    """The answer verified: by a judge that says Not Fully Supported to all, or by words."""
    split = {"page": PAGE, "answer": ANSWER} | dict(texts)
    dag = Dag.of(sources, texts={name: text.split("¦") for name, text in split.items()})
    claim = Claim(claim_id="k", text=split["answer"], node_id="answer")
    judge = LexicalJudge() if words else ScriptedJudge(Script({}, (NFS,)), indicative=True)
    task = Task(claim, dag.refs["answer"])
    return asyncio.run(verify_claim(task, "p", judge, DagSource(dag)))


def blamed(found: Verification) -> list[str]:
    return [ref.node_id for ref in found.error_nodes]


def case(name: str, truth: str, note: str, page: str = PAGE, answer: str = ANSWER) -> object:
    return pytest.param(truth, {"page": page, "note": note, "answer": answer}, LINE, id=name)


DAY = "The mill burned down on 7 June 1951."
OTHER_DAY = "The mill burned down on 17 June 1951."
HOUR, OTHER_HOUR = "The pool opens at 6 a.m. on Sundays.", "The pool opens at 7 a.m. on Sundays."
SHARE, OTHER_SHARE = "Exports grew by 13 per cent.", "Exports grew by 31 per cent."
HERD, OTHER_HERD = "The farm keeps 27 goats.", "The farm keeps 72 goats."
POET, OTHER_POET = "The hymn was written by Ada Voss.", "The hymn was written by Karl Brehm."

TURNED_IN_OTHER_WORDS = [
    "The chapel's covering came to 250,000 crowns.",
    "The works swallowed 250,000 crowns.",
    "| item | crowns |\n|---|---|\n| roof of the chapel | 250,000 |",
    "| | chapel | school |\n|---|---|---|\n| roof | 250,000 | 90,000 |",
    "- chapel: 250,000",
    "Covering: 250k crowns",
    "The roof of the chapel was dear.¦It cost 250,000 crowns.",
    "The chapel got a roof.¦The parish paid.¦That took 250,000 crowns.",
    "The chapel was covered.¦In all, 250,000 crowns went into it.",
    "Two hundred and fifty thousand crowns went into it.",
    "It was covered for 0.25 million crowns.",
    "Das Dach wurde für 250.000 crowns gedeckt.",
    "Covering: 250\u200b,000 crowns.",
    "The covering came to about 250,000 crowns.",
]
BOTH_IN_THE_NOTE = [
    "The roof of the chapel cost 520,000 crowns, and the organ cost 250,000 crowns.",
    "The roof of the chapel, first put at 250,000 crowns, cost 520,000 crowns.",
    "The roof of the school cost 250,000 crowns.¦The roof of the chapel cost 520,000 crowns.",
    "The roof of the chapel cost 520,000 crowns and not 250,000 crowns.",
    "250,000 crowns were set aside for the roof of the chapel.¦It cost 520,000 crowns.",
    "| roof of the chapel | 520,000 |\n| roof of the school | 250,000 |",
]
SCHOOL = "The roof of the school cost 250,000 crowns."
CASES = [
    *(case(f"words-{n}", "note", one) for n, one in enumerate(TURNED_IN_OTHER_WORDS)),
    *(case(f"both-{n}", "answer", one) for n, one in enumerate(BOTH_IN_THE_NOTE)),
    case("right", "answer", "The chapel's roof cost 520,000 crowns."),
    case("right-other-words", "answer", "The chapel's covering came to 520,000 crowns."),
    case("guests", "answer", f"{PAGE}¦It had 250,000 guests."),
    case("copied-school", "answer", f"{SCHOOL}¦{PAGE}", page=f"{PAGE}¦{SCHOOL}"),
    case("left-school", "answer", PAGE, page=f"{PAGE}¦{SCHOOL}"),
    case("took-school", "note", ANSWER, page=f"{PAGE}¦{SCHOOL}"),
    case("swapped", "note", f"{ANSWER}¦{SCHOOL.replace('250', '520')}", page=f"{PAGE}¦{SCHOOL}"),
    case(
        "millions-of-another-language",
        "note",
        "Das Dach kam auf 2,4 Mio. Euro.",
        "Das Dach kostete 4,2 Millionen Euro.",
        "Das Dach kostete 2,4 Millionen Euro.",
    ),
    case("day", "note", "Fire took the mill on 17 June.", DAY, OTHER_DAY),
    case("day-th", "note", "In June 1951 fire took it, on the 17th.", DAY, OTHER_DAY),
    case("day-both", "answer", f"{DAY}¦A fund opened on 17 June 1951.", DAY, OTHER_DAY),
    case("hour", "note", "Sundays: from 7.", HOUR, OTHER_HOUR),
    case("hour-both", "answer", f"{HOUR}¦The sauna opens at 7 a.m.", HOUR, OTHER_HOUR),
    case("share", "note", "Sales abroad: +31%", SHARE, OTHER_SHARE),
    case("share-both", "answer", f"{SHARE}¦Imports grew by 31 per cent.", SHARE, OTHER_SHARE),
    case("count", "note", "72 animals live there.", HERD, OTHER_HERD),
    case("count-both", "answer", f"{HERD}¦It keeps 72 hens.", HERD, OTHER_HERD),
    case("name", "note", "Brehm was the poet.", POET, OTHER_POET),
    case("name-both", "answer", "Ada Voss wrote the hymn, Karl Brehm the tune.", POET, OTHER_POET),
    case(
        "quotation",
        "note",
        "He called the bridge sound.",
        "He said “the bridge is safe” of it.",
        "He said “the bridge is sound” of it.",
    ),
    pytest.param("note", {"note": "The works took 250,000 crowns.", "later": "The covering took "
                          "250,000 crowns."}, LATER, id="later"),
    pytest.param("note", {"note": "The works took 250,000 crowns.", "later": "Good."}, LATER,
                 id="silent"),
    pytest.param("answer", {"note": BOTH_IN_THE_NOTE[0], "later": BOTH_IN_THE_NOTE[0]}, LATER,
                 id="later-both-in-one"),
    pytest.param("answer", {"note": f"{PAGE}¦{SCHOOL}", "later": f"{PAGE}¦{SCHOOL}"}, LATER,
                 id="later-both"),
    pytest.param("two", {"one": PAGE, "two": "The works took 250,000 crowns."}, TWO_NOTES,
                 id="two-notes"),
    pytest.param("two", {"one": PAGE, "two": ANSWER}, TWO_NOTES, id="two-notes-plain"),
    pytest.param("note", {"other": SCHOOL, "note": ANSWER}, TWO_PAGES, id="merged-school"),
    pytest.param("note", {"other": "All is well.", "note": "The works took 250,000 crowns."},
                 TWO_PAGES, id="merged"),
    pytest.param("note", {"note": "The works took 250,000 crowns."},
                 {"note": ("page",), "answer": ("page", "note")}, id="page-beside"),
]  # fmt: skip


@pytest.mark.parametrize(("truth", "texts", "sources"), CASES)
def test_nobody_else_is_blamed_than_who_turned_the_value(
    truth: str, texts: dict[str, str], sources: dict[str, Sequence[str]]
) -> None:
    for words in (False, True):
        found = told(texts, sources, words=words)
        assert blamed(found) == [] or truth in blamed(found)
        if (at := found.value_place) is not None:
            assert at.culprit in (truth, None)


def test_a_node_that_may_have_turned_it_and_the_first_that_surely_has_it_are_candidates() -> None:
    found = told({"note": TURNED_IN_OTHER_WORDS[0]})
    assert found.value_place is not None
    assert found.value_place.culprit is None
    assert found.value_place.candidates == ("note", "answer")
    assert found.error_stages == (2, 3)


@pytest.mark.parametrize(
    ("page", "note", "answer"),
    [
        pytest.param(PAGE, TURNED_IN_OTHER_WORDS[2], ANSWER, id="row"),
        pytest.param(PAGE, TURNED_IN_OTHER_WORDS[6], ANSWER, id="they"),
        pytest.param(
            "The roof cost 520,000 crowns.¦The chapel is old.",
            "After a roof that cost 250,000 crowns, the chapel opened.",
            "For the roof, the parish paid 250,000 crowns.",
            id="by the sentence between",
        ),
        pytest.param("The mast is 45 metres tall.", *["The mast is 45 feet tall."] * 2, id="unit"),
        pytest.param(PAGE, *[PAGE.replace("crowns", "pounds")] * 2, id="currency"),
        pytest.param(
            "Das Dach der Kapelle kostete 520.000 Euro.",
            *["Das Dach der Kapelle kostete 250.000 Euro."] * 2,
            id="points",
        ),
        pytest.param(
            "The roof of the chapel was dear.¦It cost 520,000 crowns.",
            ANSWER,
            ANSWER,
            id="they in the source",
        ),
    ],
)
def test_the_note_is_the_culprit_where_it_is_certain(page: str, note: str, answer: str) -> None:
    assert blamed(told({"page": page, "note": note, "answer": answer})) == ["note"]


@pytest.mark.parametrize(
    ("wanted", "text", "found"),
    [
        ("130,000 euros", "It is 130.000 now.", "130.000"),
        ("130,000 euros", "In all, 0.13 million euros.", "0.13 million euros"),
        ("130,000 euros", "130,000 guests came.", "130,000"),
        ("31 per cent", "31 guests came.", None),
        ("45 feet", "45 metres", None),
        ("90 minutes", "It took 1.5 hours.", "1.5 hours"),
        ("14 March 2024", "It was 14 March.", "14 March"),
        ("14 March 2024", "It was 15 March.", None),
        ("8 p.m.", "Until 8.", "8"),
        ("by Karl Brehm", "Brehm wrote it.", "Brehm"),
        ("by Karl Brehm", "Karl wrote it.", None),
    ],
)
def test_a_value_is_found_however_it_is_written(wanted: str, text: str, found: str | None) -> None:
    at = Wanted(values(wanted)[0]).within(text)
    assert (at and at.surface) == found
    assert at is None or text[at.start : at.end] == found
