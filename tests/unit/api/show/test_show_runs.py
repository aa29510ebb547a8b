"""The documents of runs and of their comparison: every writer makes all fields of them."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out

from veritrail_graph.api.app.runs import RunComparison
from veritrail_graph.api.show.runs import (
    COMPARISON_NOT_SHOWN,
    RUNS_NOT_SHOWN,
    comparison_shown,
    runs_shown,
)
from veritrail_graph.graph.model.run import Run

SPENT = {"calls": 5, "cost_usd": 0.23, "unpriced_calls": 1}
OTHER = {"calls": 5, "cost_usd": None, "unpriced_calls": 1}
VERDICTS = {"FULLY_SUPPORTED": 13, "NOT_FULLY_SUPPORTED": 14, "INCONCLUSIVE": 15}
MODE = {"share": 8, "escalate_to": "a-second-judge"}
RUN: dict[str, Any] = {
    "run_id": "run-1", "created_at": "2026-01-31T09:30:00Z", "engine": "an-engine",
    "model": "a-model, then a-second-judge", **MODE, "q": 3, "indicative": True,
    "is_of_record": True, "verifications": 1_234, "counts": {"succeeded": 42, "failed": 17},
    "verdicts": VERDICTS, "spent": SPENT, "mode": "batch", "since": "process-0", "kept": 19,
}  # fmt: skip
RUNS = (Run.model_validate(RUN), Run.model_validate({**RUN, "spent": OTHER}))
SIDE: dict[str, Any] = {
    "name": "run-a", "kind": "run", "engine": "an-engine", "model": RUN["model"], **MODE,
    "q": 3, "indicative": True, "created_at": "2026-01-31T09:30:00Z", "claims": 1_234,
    "verdicts": VERDICTS, "without_verdict": 38, "undecided": 21, "spent": SPENT,
}  # fmt: skip
FOUND = {"verification_id": "v-1", "status": "succeeded", "verdict": "FULLY_SUPPORTED",
         "indicative": True, "error_stages": [2], "spent": SPENT}  # fmt: skip
FAILED = {**FOUND, "status": "failed", "verdict": None}
CLAIM = {"claim_id": "k-1", "claim": "The quay is shut.", "change": "lost", "same_text": False,
         "a": FOUND, "b": FAILED}  # fmt: skip
COMPARED = (
    RunComparison.model_validate(
        {"process_id": "process-1", "a": SIDE, "b": {**SIDE, "spent": OTHER},
         "changes": {"lost": 23}, "pairs": {"FULLY_SUPPORTED": {"INCONCLUSIVE": 1}},
         "claims": [CLAIM]}
    ),
)  # fmt: skip
RUN_WORDS = {
    "Run.created_at": "2026-01-31 09:30",
    "Run.share": "8 claims a prompt",
    "Run.indicative": "indicative only",
    "Run.is_of_record": "run of record",
    "Run.counts": "17",
    "Run.mode": "in batches",
    "Run.kept": "19 kept",
    "Spending.calls": "$0.23",
    "Spending.cost_usd": "$0.23",
    "Spending.unpriced_calls": "unknown",
}
COMPARISON_WORDS = {
    **RUN_WORDS,
    "ComparedClaim.same_text": "(other words)",
    "ComparedClaim.change": "lost",
    "ComparedSide.created_at": "2026-01-31 09:30",
    "ComparedSide.share": "8 claims a prompt",
    "ComparedSide.indicative": "(indicative)",
    "ComparedSide.without_verdict": "17 could not be checked",
    "ComparedSide.undecided": "21 undecided",
    "SideOfClaim.status": "failed",
    "SideOfClaim.verdict": "fully supported",
    "SideOfClaim.error_stages": "(stage 2)",
}


def test_each_field_that_is_not_shown_is_one_of_the_nouns() -> None:
    assert set(RUNS_NOT_SHOWN) <= fields_of(RUNS)
    assert set(COMPARISON_NOT_SHOWN) <= fields_of(COMPARED)


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_runs_and_of_their_comparison_stands_in_what_a_writer_makes(
    writer: str,
) -> None:
    runs = [runs_shown([one]) for one in RUNS]
    assert left_out(writer, RUNS, runs, RUN_WORDS, RUNS_NOT_SHOWN) == {}
    documents = [comparison_shown(one) for one in COMPARED]
    left = left_out(writer, COMPARED, documents, COMPARISON_WORDS, COMPARISON_NOT_SHOWN)
    assert left == {}
