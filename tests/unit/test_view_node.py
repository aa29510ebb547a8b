"""A node by itself: what of it was cited, what rests on it, its text in parts."""

from __future__ import annotations

from typing import Any

import pytest

from veritrail_graph.api.web.views.node import (
    MOST_CLAIMS,
    MOST_SENTENCES,
    as_text,
    cited_here,
    pieces_near,
    resting,
)
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.store.listed_nodes import CitedSentenceHere

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


def test_a_verdict_without_a_model_says_so() -> None:
    (sentence,) = cited_here([cited(0, "a", indicative=True)], is_cut=True).sentences
    assert sentence.claims[0].mark.indicative
    assert "indicative" in sentence.claims[0].mark.hint


def test_many_claims_and_many_sentences_are_counted_and_not_shown() -> None:
    many = [cited(0, f"k{n}") for n in range(MOST_CLAIMS + 3)]
    more = [cited(n, "k") for n in range(1, MOST_SENTENCES + 5)]
    found = cited_here(many + more, is_cut=False)
    assert (len(found.sentences), found.left_out) == (MOST_SENTENCES, 5)
    assert (len(found.sentences[0].claims), found.sentences[0].more) == (MOST_CLAIMS, 3)


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


def test_metadata_is_read_line_by_line() -> None:
    assert as_text('{"page":3,"von":"Köln"}') == '{\n  "page": 3,\n  "von": "Köln"\n}'
    assert as_text('{"cut": "of') == '{"cut": "of'
    assert as_text(None) is None
    assert as_text("") is None
    assert as_text("[" * 20_000) == "[" * 20_000
