"""Reviews that a process file carries, and everything that can be wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.process_files import as_json, as_lines, document, only_violation, read, violations

VERIFICATION: dict[str, Any] = {
    "verification_id": "v-1",
    "claim_id": "k1",
    "claim": "The tide went out.",
    "node_id": "t",
    "q": 3,
    "engine": "lexical",
    "indicative": True,
    "created_at": "2026-01-31T09:30:00.000000Z",
    "status": "succeeded",
    "verdict": "NOT_FULLY_SUPPORTED",
}
FAILED = {**VERIFICATION, "verification_id": "v-2", "status": "failed", "verdict": None}
REVIEW: dict[str, Any] = {
    "review_id": "review-1",
    "process_id": "tides",
    "claim_id": "k1",
    "claim": "The tide went out.",
    "verdict": "FULLY_SUPPORTED",
    "kind": "overridden",
    "reason": "It did.",
    "reviewer": "Ada",
    "recorded_by": None,
    "created_at": "2026-02-01T00:00:00.000000Z",
    "overrides": "v-1",
    "model_verdict": "NOT_FULLY_SUPPORTED",
}
UNCLEAR = {
    **REVIEW, "verdict": "UNCLEAR", "kind": "unclear", "overrides": None, "model_verdict": None
}  # fmt: skip


def carrying(*reviews: dict[str, Any], **other: Any) -> dict[str, Any]:
    return document(verifications=[VERIFICATION, FAILED], reviews=list(reviews), **other)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": None, "process_id": None, "recorded_by": "a key"},
        {"verdict": "NOT_FULLY_SUPPORTED", "kind": "confirmed", "reason": ""},
        {"verdict": "UNCLEAR", "kind": "unclear"},
        UNCLEAR,
    ],
)
def test_a_review_that_fits_is_accepted_and_changes_no_hash(changes: dict[str, Any]) -> None:
    review = {**REVIEW, **changes}
    assert read(carrying(review)).hash == read(document()).hash
    records = [{"review": review}, {"verification": VERIFICATION}]  # in any order
    lines = as_lines(document()) + b"".join(as_json(one) + b"\n" for one in records)
    assert read(lines, "p.jsonl").hash == read(document()).hash


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"verdict": "TRUE"}, "unknown_word", "INCONCLUSIVE, UNCLEAR"),
        ({**UNCLEAR, "claim_id": "k9"}, "unknown_claim", "'k9'"),
        ({"overrides": "v-9"}, "wrong_review", "no verification of this input is 'v-9'"),
        ({"overrides": "v-2"}, "wrong_review", "that of the verification none"),
        ({"overrides": None}, "wrong_review", "overrides is missing"),
        ({**UNCLEAR, "reason": ""}, "wrong_review", "reason is empty"),
        ({**UNCLEAR, "model_verdict": "INCONCLUSIVE"}, "wrong_review", "overrides is missing"),
        ({"model_verdict": "INCONCLUSIVE"}, "wrong_review", "model_verdict is INCONCLUSIVE"),
        ({"kind": "confirmed"}, "wrong_review", "makes it overridden"),
        ({"kind": "denied"}, "unknown_word", "confirmed, overridden, unclear"),
        ({"reason": ""}, "wrong_review", "reason is empty"),
        ({"reviewer": ""}, "missing_reviewer", "say who reviews"),
        ({"reviewer": "A\nB"}, "wrong_value", "on one line"),
        ({"reason": "x" * 10_001}, "too_long", "10,000"),
        ({"process_id": "ebbs"}, "wrong_process", "'ebbs'"),
        ({"created_at": "yesterday"}, "wrong_value", "created_at must be a time"),
        ({"created_at": "2099-01-01T00:00:00Z"}, "wrong_time", "created_at lies in the future"),
        ({"created_at": "1999-12-31T23:59:59.9Z"}, "wrong_time", "lies before 2000"),
        ({"created_at": "2026-02-30T00:00:00Z"}, "wrong_time", "does not exist"),
        ({"stars": 5}, "unknown_key", "'stars'"),
        ({"review_id": ""}, "wrong_id", "review_id"),
    ],
)
def test_a_review_that_breaks_a_rule_is_refused(
    changes: dict[str, Any], kind: str, said: str
) -> None:
    told = only_violation(carrying({**REVIEW, **changes}))
    assert (told.kind, told.where.startswith("reviews[0]")) == (kind, True)
    assert said in told.message


def test_a_review_of_a_verification_of_another_claim_is_refused() -> None:
    claims = [*document()["claims"], {"claim_id": "k2", "text": "It came back.", "node_id": "t"}]
    told = only_violation(carrying({**REVIEW, "claim_id": "k2"}, claims=claims))
    assert (told.kind, "about claim 'k1'" in told.message) == ("wrong_review", True)


def test_a_review_that_stands_twice_is_refused() -> None:
    assert [(one.kind, one.where) for one in violations(carrying(REVIEW, REVIEW))] == [
        ("duplicate_review_id", "reviews[1] 'review-1'")
    ]


def test_a_review_without_its_keys_is_told_which_are_missing() -> None:
    told = {one.message for one in violations(carrying({"review_id": "r"}))}
    missing = ("claim_id", "claim", "verdict", "reviewer", "created_at")
    assert told == {f"the key {key!r} is missing" for key in missing}
