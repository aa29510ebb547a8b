"""The finding of a verification: where it went wrong, and the two sentences that show it."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.trails import FS, NFS, a_round, a_trail, cited, found, path

from veritrail_graph.graph.findings import ProcessFacts, finding_of, nodes_of_findings
from veritrail_graph.graph.model import (
    Claim,
    JudgedPart,
    LocatedBy,
    MarkedSentence,
    NodeRef,
    PartVerdict,
    Role,
    ValueDifference,
    ValuePlace,
    Verification,
)
from veritrail_graph.graph.model.finding import CheckedClaim, CheckJudge, FindingCounts, Findings
from veritrail_graph.graph.model.nodes import Node

SOURCE = "In May the dredger removed 48,200 cubic metres."
WROTE = "The dredger removed 84,200 cubic metres, which took a month."
CLAIM = Claim(claim_id="k1", text="The dredger removed 84,200 cubic metres.", node_id="t")
STEP, ROOT = NodeRef("s", 2, 1, Role.INTERMEDIATE), NodeRef("c", 1, 0, Role.ROOT)
ANSWER = NodeRef("t", 3, 2, Role.TERMINAL)
FACTS = ProcessFacts(
    {"s": Node(node_id="s", stage=2, step="sum", model="m", metadata={"title": "Dredging"})},
    {1: "page", 2: "summary"},
    {"k1": CLAIM.replace(start=3, end=43)},
)


def a_verification(**other: Any) -> Verification:
    """A claim of an answer that has a step and a source."""
    return a_trail(
        "v-1",
        a_round(1, FS, [STEP], [found("", cited("s", 0, 5, WROTE))]),
        a_round(2, NFS, [ROOT], [found("", cited("c", 3, 40, SOURCE))]),
        **{
            "claim": CLAIM,
            "paths": [path("s", "t", 1), path("c", "s", 2)],
            "error_nodes": [STEP],
            "propagated_nodes": [ANSWER],
            **other,
        },
    )


def test_the_parts_that_failed_are_told_with_their_words() -> None:
    verdicts = (PartVerdict.SUPPORTED, PartVerdict.NOT_ADDRESSED, PartVerdict.CONTESTED)
    parts = [JudgedPart(part=n, verdict=one) for n, one in enumerate(verdicts, start=1)]
    given = a_verification(parts=parts).replace(sub_claims=("A.", "B.", "C."))
    failed = finding_of(given, FACTS).failed_parts
    assert [(one.text, one.verdict) for one in failed] == [("B.", "not_addressed")]


def test_the_culprit_and_both_sentences_are_named_with_their_places() -> None:
    made = finding_of(a_verification(), FACTS)
    assert made.culprit is not None
    assert made.culprit.model_dump() == {
        "node_id": "s",
        "name": "Dredging",
        "stage": 2,
        "stage_name": "summary",
        "step": "sum",
        "model": "m",
    }
    assert (made.located_by, made.candidates) == (LocatedBy.VERDICTS, ())
    assert made.source is not None
    assert made.wrote is not None
    assert (made.source.node_id, made.source.sentence, made.source.start) == ("c", 3, 40)
    for side, word in ((made.source, "48,200"), (made.wrote, "84,200")):
        assert [side.text[start:end] for start, end in side.marked] == [word]
    assert made.difference == ValueDifference(source="48,200", wrote="84,200")
    assert [node.node_id for node in made.carried_on] == ["t"]
    assert set(nodes_of_findings([a_verification()])) == {"s", "t", "c"}


def test_several_nodes_that_may_be_at_fault_are_candidates_and_none_is_the_culprit() -> None:
    made = finding_of(a_verification(error_nodes=[STEP, NodeRef("s9", 2, 5, None)]), FACTS)
    assert made.culprit is None
    assert [(one.node_id, one.name) for one in made.candidates] == [("s", "Dredging"), ("s9", "s9")]


def test_where_a_value_leads_to_the_culprit_its_sentences_are_the_pair() -> None:
    def marked(node: str, stage: int, text: str, word: str) -> MarkedSentence:
        start = text.index(word)
        places = ((start, start + len(word)),)
        facts = {"stage": stage, "sentence": 1, "start": 0, "end": len(text), "text": text}
        return MarkedSentence(node_id=node, marked=places, **facts)

    place = ValuePlace(
        culprit="s",
        source=marked("c", 1, "48 cars.", "48"),
        wrote=marked("s", 2, "84 cars.", "84"),
        difference=ValueDifference(source="48", wrote="84"),
        carried_on=("t",),
    )
    given = a_verification(value_place=place, located_by=LocatedBy.VALUE)
    made = finding_of(given, FACTS)
    assert made.located_by is LocatedBy.VALUE
    assert made.wrote is not None
    assert (made.wrote.text, made.wrote.marked) == ("84 cars.", ((0, 2),))
    assert made.difference == place.difference


@pytest.mark.parametrize(("errors", "culprit"), [([ANSWER], "t"), ([], None)])
def test_of_an_answer_at_fault_the_claim_itself_is_what_was_written(
    errors: list[NodeRef], culprit: str | None
) -> None:
    made = finding_of(a_verification(error_nodes=errors), FACTS)
    assert (made.culprit.node_id if made.culprit else None) == culprit
    assert made.wrote is not None
    assert (made.wrote.node_id, made.wrote.sentence, made.wrote.text) == ("t", None, CLAIM.text)
    assert (made.wrote.start, made.wrote.end) == (3, 43)


def test_pages_of_findings_have_a_judge_together_where_each_has_the_same() -> None:
    judges = [CheckJudge(engine=engine, indicative=True) for engine in ("lexical", "nli")]
    pages = [
        Findings(
            process_id="p",
            name="p",
            claims=2,
            verdicts=FindingCounts(),
            judge=judge,
            results=(CheckedClaim(process_id="p", claim_id=f"k{number}", claim="x",
                                  verdict=None, status=None),),
            nextCursor="2" if number == 0 else None,
        )
        for number, judge in enumerate(judges)
    ]  # fmt: skip
    both = Findings.of_pages(pages)
    assert [claim.claim_id for claim in both.results] == ["k0", "k1"]
    assert (both.judge, both.nextCursor) == (None, None)
    assert Findings.of_pages(pages[:1] * 2).judge == judges[0]
