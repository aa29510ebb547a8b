"""Where a value came in that the sources do not have, whatever words the answer puts it in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from fakes.dag import Dag, DagSource
from fakes.scripted_judge import FS, INC, NFS, Script, ScriptedJudge

from veritrail_graph.graph.model import (
    Claim,
    ClaimOrigin,
    LocatedBy,
    NodeRef,
    Role,
    ValuePlace,
    Verification,
)
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.ports import ReadNode

CRANE = (
    "The board met in May. The new crane cost the harbour 310,000 euros in 2023. It lifts forty."
)
SUMMARY = "In 2023 the harbour bought a new crane: it cost 130,000 euros."
LINE = {"summary": ("page",), "answer": ("summary",)}


def told(
    texts: Mapping[str, str],
    claim: str,
    *,
    sources: Mapping[str, Sequence[str]] = LINE,
    verdicts: Sequence[Any] = (NFS,),
    model: str | None = None,
    unsourced: str | None = None,
    **about: Any,
) -> Verification:
    """The claim of the answer, judged as scripted; evidence lies in every sentence."""
    split = {name: text.split("|") for name, text in texts.items()}
    dag = Dag.of(sources, texts=split)
    if unsourced is not None:
        ref = dag.refs[unsourced]
        left = NodeRef(ref.node_id, ref.stage, ref.position, Role.UNSOURCED)
        dag = replace(dag, refs={**dag.refs, unsourced: left})
    finds = {name: range(len(said)) for name, said in split.items()}
    judge = ScriptedJudge(Script(finds, verdicts), model=model, indicative=model is None)
    whole = Claim(claim_id="k", text=claim, node_id="answer", **about)
    task = Task(whole, dag.refs["answer"])
    return asyncio.run(verify_claim(task, "p", judge, DagSource(dag)))


def place(found: Verification) -> ValuePlace:
    assert found.value_place is not None
    return found.value_place


def marks(found: Verification) -> tuple[str, str]:
    """The words that are marked on both sides."""
    sides = place(found).source, place(found).wrote
    (source,), (wrote,) = ([one.text[slice(*at)] for at in one.marked] for one in sides)
    return source, wrote


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(SUMMARY, id="the same words"),
        pytest.param("The harbour bought a new crane in 2023; it cost 130,000 euros.", id="order"),
        pytest.param("The harbour spent 130,000 euros on a new crane in 2023.", id="other verb"),
        pytest.param("The harbour's new crane cost 0.13 million euros in 2023.", id="million"),
        pytest.param("The harbour's new crane cost 130 000 euros in 2023.", id="blanks"),
        pytest.param("The harbour's new crane cost €130,000 in 2023.", id="sign"),
        pytest.param(
            "After long delays the harbour, which had failed twice to find money for it, got its "
            "new crane for 130,000 euros in 2023, which the board called a bargain.",
            id="inside a longer sentence",
        ),
    ],
)
def test_the_step_that_turned_the_value_is_the_culprit_whatever_the_answer_says(
    answer: str,
) -> None:
    texts = {"page": CRANE.replace(". ", ".|"), "summary": SUMMARY, "answer": f"Hello.|{answer}"}
    found = told(texts, answer)
    assert (found.located_by, found.error_stages) == (LocatedBy.VALUE, (2,))
    assert [ref.node_id for ref in found.error_nodes] == ["summary"]
    assert [ref.node_id for ref in found.propagated_nodes] == ["answer"]
    at = place(found)
    assert (at.culprit, at.candidates, at.carried_on) == ("summary", (), ("answer",))
    assert (
        marks(found)
        == (at.difference.source, at.difference.wrote)
        == (
            "310,000 euros",
            at.difference.wrote,
        )
    )
    assert "130,000" in at.difference.wrote
    assert (at.source.node_id, at.source.sentence, at.source.stage) == ("page", 1, 1)


@pytest.mark.parametrize(
    ("source", "wrote", "answer", "words"),
    [
        (
            "The tunnel was opened on 3 March 2024 by the mayor.",
            "The mayor opened the tunnel on 5 March 2024.",
            "On March 5, 2024, the tunnel was opened.",
            ("3 March 2024", "5 March 2024"),
        ),
        (
            "The last ferry to the island leaves at 21:40 on weekdays.",
            "On weekdays the last ferry leaves for the island at 20:40.",
            "The island's last weekday ferry leaves at 20:40.",
            ("21:40", "20:40"),
        ),
        (
            "The report on the bridge was written by Vera Lindholm in spring.",
            "In spring Jonas Petersen wrote the report on the bridge.",
            "Jonas Petersen wrote the report on the bridge.",
            ("Vera Lindholm", "Jonas Petersen"),
        ),
        (
            "The utility used 37 per cent less natural gas from January to August.",
            "From January to August the utility used 41 per cent less natural gas.",
            "The utility cut its use of natural gas by 41% from January to August.",
            ("37 per cent", "41 per cent"),
        ),
        (
            "The director said of the merger: “we will not close a single plant”.",
            "Of the merger the director said: “we will close every plant”.",
            "About the merger, the director said “we will close every plant”.",
            ("we will not close a single plant", "we will close every plant"),
        ),
        (
            "The dam was finished in 1937 after ten years.",
            "In 1973 the dam was finished.",
            "The dam has been finished since 1973.",
            ("1937", "1973"),
        ),
    ],
    ids=["date", "time", "name", "percent", "quotation", "year"],
)
def test_values_of_every_kind_lead_to_the_step_that_turned_them(
    source: str, wrote: str, answer: str, words: tuple[str, str]
) -> None:
    found = told({"page": source, "summary": wrote, "answer": answer}, answer)
    assert (found.located_by, place(found).culprit) == (LocatedBy.VALUE, "summary")
    assert marks(found) == words


def test_a_value_that_only_the_answer_turned_blames_the_answer() -> None:
    texts = {"page": SUMMARY, "summary": SUMMARY}
    answer = "The harbour's new crane cost 310,000 euros in 2023."
    found = told({**texts, "answer": answer}, answer)
    assert (place(found).culprit, place(found).carried_on) == ("answer", ())
    assert (found.error_stages, found.propagated_nodes) == ((3,), ())
    assert marks(found) == ("130,000 euros", "310,000 euros")


def test_a_claim_of_the_answer_is_compared_itself_whatever_words_the_answer_has() -> None:
    answer = "It went for 130,000 euros."
    claim = "The harbour bought a crane at a price of 130,000 euros."
    page = "The harbour bought a crane at a price of 310,000 euros."
    texts = {"page": page, "summary": page, "answer": answer}
    for about in ({}, {"start": 0, "end": len(answer)}):
        assert place(told(texts, claim, **about)).culprit == "answer"


def test_a_node_that_is_silent_is_passed_through() -> None:
    sources = {"note": ("page",), "silent": ("note",), "answer": ("silent",)}
    texts = {"page": CRANE.replace(". ", ".|"), "note": SUMMARY, "silent": "All is well."}
    found = told({**texts, "answer": SUMMARY}, SUMMARY, sources=sources)
    assert (place(found).culprit, place(found).carried_on) == ("note", ("answer",))


def test_without_a_value_that_leads_anywhere_the_rule_of_the_paper_holds() -> None:
    no_value = told(
        {"page": "A crane is there.", "summary": "The crane is red.", "answer": "It is red."},
        "The crane is red.",
        verdicts=(FS, NFS),
    )
    assert (no_value.located_by, no_value.value_place) == (LocatedBy.VERDICTS, None)
    assert [ref.node_id for ref in no_value.error_nodes] == ["summary"]
    other_matter = told(
        {"page": "The shed cost the town 20 euros.", "summary": SUMMARY, "answer": SUMMARY}, SUMMARY
    )
    assert (other_matter.located_by, other_matter.value_place) == (LocatedBy.VERDICTS, None)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("The crane of 2019 cost the harbour 310,000 euros, the new one.", id="year"),
        pytest.param("Rheva's new crane cost Rheva 310,000 euros in 2023.", id="name"),
    ],
)
def test_a_sentence_with_a_second_difference_speaks_of_another_case(other: str) -> None:
    claim = "The new crane of Lindach cost 130,000 euros in 2023."
    found = told({"page": other, "summary": claim, "answer": claim}, claim)
    assert found.value_place is None


def test_a_value_that_a_source_has_did_not_come_in_on_the_way() -> None:
    sources = {"summary": ("page", "other"), "answer": ("summary",)}
    texts = {"page": CRANE.replace(". ", ".|"), "other": SUMMARY, "summary": SUMMARY}
    found = told({**texts, "answer": SUMMARY}, SUMMARY, sources=sources)
    assert (found.located_by, found.value_place) == (None, None)


def test_a_source_that_has_the_value_of_something_else_does_not_hide_the_culprit() -> None:
    expected = "The utility expects to use 41 per cent less natural gas."
    measured = "From January to August 2024 the utility used 37 per cent less natural gas."
    merged = "From January to August 2024 the utility used 41 per cent less natural gas."
    sources = {"note": ("plan",), "merge": ("note", "paper"), "answer": ("merge",)}
    texts = {"plan": expected, "note": expected, "paper": measured, "merge": merged}
    found = told({**texts, "answer": merged}, merged, sources=sources)
    assert (place(found).culprit, place(found).source.node_id) == ("merge", "paper")
    made_of_neither = {**sources, "note": ("paper",), "merge": ("plan", "note")}
    lost = told({**texts, "answer": merged}, merged, sources=made_of_neither)
    assert lost.value_place is None


def test_nobody_is_blamed_for_a_value_that_may_have_stood_before() -> None:
    page = "The battery cost 28 million euros and belongs to Voltera Storage."
    other = "By its accounts the battery at Ketterau cost 31 million euros."
    claim = "The Ketterau battery cost 28 million euros."
    sources = {"summary": ("page", "other"), "answer": ("summary",)}
    texts = {"page": page, "other": other, "summary": claim, "answer": claim}
    assert told(texts, claim, sources=sources).value_place is None
    only_other = {"summary": ("other",), "answer": ("summary",)}
    del texts["page"]
    assert place(told(texts, claim, sources=only_other)).culprit == "summary"


def test_a_name_of_something_else_stands_in_no_name_s_place() -> None:
    texts = {"page": "The Lady Brae replaced the Island Maid on the ferry route in April."}
    claim = "The ferry Lady Brae was built in Gdansk."
    assert told({**texts, "summary": claim, "answer": claim}, claim).value_place is None


def test_several_that_are_equally_near_are_candidates_and_none_is_the_culprit() -> None:
    sources = {"a": ("page",), "b": ("page",), "answer": ("a", "b")}
    texts = {"page": CRANE.replace(". ", ".|"), "a": SUMMARY, "b": SUMMARY, "answer": SUMMARY}
    at = place(told(texts, SUMMARY, sources=sources))
    assert (at.culprit, at.candidates, at.wrote.node_id) == (None, ("a", "b"), "a")


def test_the_nearest_to_the_sources_is_the_culprit_and_the_pair_shows_a_source() -> None:
    sources = {"note": ("page",), "late": ("note",), "turned": ("page",),
               "answer": ("late", "turned")}  # fmt: skip
    right = "The new crane cost the harbour 310,000 euros in 2023."
    texts = {"page": CRANE.replace(". ", ".|"), "note": right, "late": SUMMARY, "turned": SUMMARY}
    at = place(told({**texts, "answer": SUMMARY}, SUMMARY, sources=sources))
    assert (at.culprit, at.source.node_id) == ("turned", "page")
    only_late = place(told({**texts, "turned": right, "answer": SUMMARY}, SUMMARY, sources=sources))
    assert (only_late.culprit, only_late.source.node_id) == ("late", "page")


def test_unsourced_text_is_the_culprit_where_a_source_says_otherwise() -> None:
    sources = {"answer": ("page", "unknown")}
    texts = {"unknown": SUMMARY, "answer": SUMMARY}
    page = CRANE.replace(". ", ".|")
    found = told({"page": page, **texts}, SUMMARY, sources=sources, unsourced="unknown")
    assert (place(found).culprit, place(found).source.node_id) == ("unknown", "page")
    silent = told({"page": "Nothing.", **texts}, SUMMARY, sources=sources, unsourced="unknown")
    assert silent.value_place is None


TURNED = {"page": CRANE.replace(". ", ".|"), "summary": SUMMARY, "answer": SUMMARY}


def test_where_a_model_judged_the_place_is_an_offer_if_the_verdicts_tell_none() -> None:
    found = told(TURNED, SUMMARY, model="m", verdicts=(INC, NFS))
    assert (found.error_nodes, found.error_stages, found.propagated_nodes) == ((), (), ())
    assert (found.located_by, place(found).culprit) == (LocatedBy.VALUE, "summary")
    assert found.offered_place == found.value_place


def test_where_a_model_judged_its_verdicts_tell_the_place_and_a_pair_that_agrees_is_kept() -> None:
    agrees = told(TURNED, SUMMARY, model="m", verdicts=(FS, NFS))
    assert (agrees.located_by, agrees.error_stages) == (LocatedBy.VERDICTS, (2,))
    assert (place(agrees).culprit, agrees.offered_place) == ("summary", None)
    another = told(TURNED, SUMMARY, model="m", verdicts=(NFS,))
    assert (another.located_by, another.error_stages) == (LocatedBy.VERDICTS, (3,))
    assert another.value_place is None


@pytest.mark.parametrize(
    ("verdicts", "about"),
    [
        ((FS,), {}),
        ((INC,), {}),
        ((NFS,), {"origin": ClaimOrigin.ASKED, "said": False}),
        ((NFS,), {"origin": ClaimOrigin.ASKED, "said": None}),
    ],
)
def test_only_what_the_answer_says_and_is_not_fully_supported_has_a_place(
    verdicts: Sequence[Any], about: dict[str, Any]
) -> None:
    found = told(TURNED, SUMMARY, verdicts=verdicts, **about)
    assert (found.located_by, found.value_place) == (None, None)


def test_the_texts_of_a_level_that_is_too_wide_are_read_where_evidence_was_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("veritrail_graph.verifier.value_place.MOST_AT_ONCE", 1)
    sources = {"a": ("page",), "b": ("page",), "answer": ("a", "b")}
    texts = {"page": CRANE.replace(". ", ".|"), "a": SUMMARY, "answer": SUMMARY}
    assert place(told(texts, SUMMARY, sources=sources)).culprit == "a"


class BrokenLater(DagSource):
    """A source whose verified node, which no walk reads, cannot be read: by a fault of ours."""

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        if any(ref.node_id == "answer" for ref in nodes):
            raise RuntimeError("a fault")
        return await super().read(nodes)


def test_a_fault_while_a_value_is_followed_takes_nothing_from_the_verdict() -> None:
    split = {name: text.split("|") for name, text in TURNED.items()}
    dag = Dag.of(LINE, texts=split)
    finds = {name: range(len(said)) for name, said in split.items()}
    judge = ScriptedJudge(Script(finds, (NFS,)), indicative=True)
    task = Task(Claim(claim_id="k", text=SUMMARY, node_id="answer"), dag.refs["answer"])
    found = asyncio.run(verify_claim(task, "p", judge, BrokenLater(dag)))
    assert (found.verdict, found.value_place, found.error) == (NFS, None, None)
