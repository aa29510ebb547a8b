"""Processes of one pipeline in groups: how much is unsupported, and where it came in."""

from __future__ import annotations

from typing import Any

from veritrail_graph.api.app.projects import By, Trend, trend_of

YES, NO = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"


def row(process_id: str, day: str, verdict: str | None, claims: int, *stages: int) -> Any:
    return {
        "process_id": process_id,
        "name": process_id,
        "created_at": f"2026-01-{day}T10:00:00Z",
        "tags": ["v1", "night"] if process_id == "a" else None,
        "stage_names": '{"2": "summary"}',
        "terminals": ["t"],
        "verdict": verdict,
        "indicative": verdict == NO,
        "judge": "m" if verdict else None,
        "error_stages": list(stages),
        "claims": claims,
    }


ROWS = [
    row("a", "01", YES, 6),
    row("a", "01", NO, 2, 2, 3),
    row("b", "02", NO, 1, 2),
    row("b", "02", None, 3),
    row("b", "02", "undecided", 1),
    row("c", "03", None, 0),
]
MADE = {"a": [("gpt", "p1"), (None, None)], "b": [("gpt", "p2")]}


def by(what: By) -> dict[str, Any]:
    found: Trend = trend_of("nightly", what, ROWS, MADE)
    return {one.name: (one.processes, one.judged, one.share) for one in found.groups}


def test_days_are_in_order_and_a_share_without_verdicts_is_unknown() -> None:
    assert by("day") == {
        "2026-01-01": (1, 8, 0.25),
        "2026-01-02": (1, 1, 1.0),
        "2026-01-03": (1, 0, None),
    }


def test_groups_by_what_the_pipeline_was_made_with() -> None:
    assert by("model") == {"gpt": (2, 9, 3 / 9), "none": (1, 0, None)}
    assert by("prompt")["p2"] == (1, 1, 1.0)
    assert by("tag")["night"] == (1, 8, 0.25)
    assert set(by("judge")) == {"m", "none"}


def test_a_claim_with_several_possible_stages_is_counted_once_in_shares() -> None:
    found = trend_of("nightly", "day", ROWS, MADE)
    assert found.groups[0].error_stages == {"2": 2, "3": 2}
    assert found.groups[0].error_shares == {"2": 1.0, "3": 1.0}
    told = [(one.claims, one.undecided, one.indicative) for one in found.groups]
    assert told == [(8, 0, 2), (5, 1, 1), (0, 0, 0)]
    assert found.groups[0].unsupported == 2
    assert found.stage_names == {"2": "summary"}
