"""One node: what of it was cited, what rests on it, its text in parts."""

from __future__ import annotations

from typing import Any

import pytest

from veritrail_graph.api.page.views.node import (
    cited_here,
    pieces_near,
    resting,
)
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.model.listed import CitedSentenceHere

FS, NFS = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED


def cited(index: int, claim: str, verdict: Verdict = FS, **other: Any) -> CitedSentenceHere:
    facts = {"indicative": False, "is_evidence": True, **other}
    return CitedSentenceHere(
        index, f"Sentence {index}.", claim, "C.", f"v-{claim}", verdict, **facts
    )


def test_sentences_come_in_their_order_with_what_needs_attention_first() -> None:
    found = cited_here([cited(2, "a"), cited(2, "b", NFS), cited(7, "a")], is_cut=False)
    assert [(one.index, one.text) for one in found.sentences] == [
        (2, "Sentence 2."), (7, "Sentence 7.")
    ]  # fmt: skip
    assert [claim.claim_id for claim in found.sentences[0].claims] == ["b", "a"]
    assert [claim.mark.kind for claim in found.sentences[0].claims] == [
        "not-supported", "supported"
    ]  # fmt: skip


def test_claims_that_rest_on_a_node_say_whether_it_is_evidence() -> None:
    row = {
        "relation": "evidence", "claim_id": "k", "claim": "C.", "claim_node_id": "t", "hops": 2,
        "verdict": "INCONCLUSIVE", "verification_id": "v",
    }  # fmt: skip
    other = {**row, "relation": "downstream", "verdict": None, "verification_id": None}
    third = {**other, "claim_id": "f"}
    one, two, three = resting([row, other, third], {"f": (Status.FAILED, "no answer")})
    assert (one.is_evidence, one.mark.kind, one.hops) == (True, "inconclusive", 2)
    assert (two.is_evidence, two.mark.kind) == (False, "unchecked")
    assert three.mark.kind == "failed"
    assert "no answer" in three.mark.hint


@pytest.mark.parametrize(
    ("number", "pieces", "near"),
    [
        (1, 1, (1,)),
        (1, 2, (1, 2)),
        (1, 500, (1, 2, 3, 500)),
        (250, 500, (1, 248, 249, 250, 251, 252, 500)),
        (500, 500, (1, 498, 499, 500)),
    ],
)
def test_parts_of_a_text_to_go_to(number: int, pieces: int, near: tuple[int, ...]) -> None:
    assert pieces_near(number, pieces) == near
