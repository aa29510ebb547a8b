"""What a person reads of a run against an earlier version."""

from __future__ import annotations

from typing import Any

import pytest

from veritrail_graph.api.app.changes import Changes, ComparedClaim
from veritrail_graph.api.cli.changes import tell_changes

HASH = "53956c9a37b5" + "0" * 52
SUPPORTED, NOT_SUPPORTED = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"


def compared(number: int, *, kept: bool = False, **more: Any) -> ComparedClaim:
    known: dict[str, Any] = {
        "claim_id": f"k{number}",
        "claim": f"Claim {number}.",
        "verification_id": f"v-{number}",
        "kept": kept,
        "reason": "the same texts" if kept else "iteration 1: the text of 'g1' changed",
        "earlier": f"v-{number}-before",
        "status": "succeeded",
        "verdict_before": SUPPORTED,
        "verdict": SUPPORTED,
        "error_stages_before": [],
        "error_stages": [],
    }
    return ComparedClaim(**{**known, **more})


def told(capsys: pytest.CaptureFixture[str], *claims: ComparedClaim, since: str = "p") -> str:
    kept = sum(one.kept for one in claims)
    tell_changes(
        Changes(
            since=since,
            content_hash=HASH,
            kept=kept,
            verified=len(claims) - kept,
            changed=sum(one.is_changed for one in claims),
            moved=sum(one.is_moved for one in claims),
            calls=0,
            saved_calls=0,
            saved_share=None,
            claims=list(claims),
            possible_matches=[],
        )
    )
    return " ".join(capsys.readouterr().err.split())


def test_a_version_that_was_kept_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    words = told(capsys, compared(1, kept=True), since="p.53956c9a37b5")
    start = "Compared with p.53956c9a37b5: 1 of 1 verdict kept, 0 claims verified anew."
    assert words == f"{start} No verdict and no error stage changed."
    assert "with p (53956c9a37b5):" in told(capsys, compared(1, kept=True))


def test_what_changed_is_counted_with_its_noun(capsys: pytest.CaptureFixture[str]) -> None:
    changed = compared(1, verdict=NOT_SUPPORTED, error_stages=[2])
    both = {"verdict_before": NOT_SUPPORTED, "verdict": NOT_SUPPORTED}
    moved = compared(2, **both, error_stages_before=[2], error_stages=[3])
    words = told(capsys, changed, moved, compared(3, kept=True))
    assert "1 of 3 verdicts kept, 2 claims verified anew." in words
    assert "1 verdict changed; 1 claim has the same verdict with other error stages." in words


def test_claims_without_an_earlier_verdict_are_not_said_to_be_unchanged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lonely = compared(1, earlier=None, verdict_before=None, reason="no earlier verification")
    assert "None of these claims was compared with a verdict there." in told(capsys, lonely)


def test_claims_that_were_verified_anew_for_one_reason_share_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    others = [compared(number, reason=f"reason {number}") for number in range(5, 8)]
    words = told(capsys, others[0], *map(compared, range(5)), *others[1:])
    assert words.count("Verified anew") == 3
    first = words.index("k0, k1, k2 and 2 more: iteration 1: the text of 'g1' changed")
    assert first < words.index("reason 5")
    assert "and 1 more reason;" in words


def test_calls_made_answers_of_the_cache_and_saved_calls_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = Changes(
        since="p",
        content_hash=HASH,
        kept=1,
        verified=1,
        changed=0,
        moved=0,
        calls=94,
        saved_calls=112,
        saved_share=112 / 206,
        calls_made=11,
        cached_calls=83,
        calls_spared_share=195 / 206,
        claims=[compared(1, kept=True), compared(2)],
        possible_matches=[],
    )
    tell_changes(found)
    words = " ".join(capsys.readouterr().err.split())
    assert (
        "Of 206 answers of models, kept verdicts rest on 112, 83 came from the cache and 11 calls "
        "were made: 95% of the calls saved." in words
    )
    without = {"cached_calls": 0, "calls_made": 94, "calls_spared_share": 112 / 206}
    tell_changes(found.model_copy(update=without))
    words = " ".join(capsys.readouterr().err.split())
    assert "rest on 112 and 94 calls were made: 54% of the calls saved." in words
