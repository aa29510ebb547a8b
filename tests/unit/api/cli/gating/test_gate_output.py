"""The document of an outcome: every writer makes all fields of it."""

from __future__ import annotations

import pytest
from fakes.shown_fields import WRITERS, fields_of, left_out
from fakes.trails import a_trail

from veritrail_graph.api.cli.gating.entries import BaselineChange, Entry
from veritrail_graph.api.cli.gating.output import NOT_SHOWN, outcome_shown
from veritrail_graph.api.cli.gating.rules import Check, GateLimits, Outcome
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.model import Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.review import reviewed

REVIEW = Review(
    review_id="review-1", process_id="p", claim_id="k-1", claim="It snowed.", reviewer="Ada",
    verdict=ReviewVerdict.FULLY_SUPPORTED, reason="page 3", created_at="2026-01-31T09:30:00Z",
    overrides="v-1", model_verdict=Verdict.NOT_FULLY_SUPPORTED,
)  # fmt: skip
WRONG = Entry(
    "k-1", "It snowed.", State.NOT_SUPPORTED, (2, 3), indicative=True,
    change=BaselineChange.REGRESSED, again="its latest check failed",
    judged=a_trail(verdict=Verdict.NOT_FULLY_SUPPORTED),
    reviewed=reviewed([REVIEW], Verdict.NOT_FULLY_SUPPORTED),
)  # fmt: skip
FAILED = Entry("k-2", "It rained.", State.FAILED, reason="no usable answer")
OUTCOME = Outcome(
    process_id="process-1",
    limits=GateLimits(),
    checks=(Check("failed", False, 17, 0, "could not be checked: 17, at most 0", ("k-2",)),),
    entries=(WRONG, FAILED),
    gone=(FAILED, FAILED, FAILED),
    has_baseline=True,
    notes=("verdicts in force: by lexical",),
)
WORDS = {
    "Check.met": "NOT MET",
    "Entry.state": "not fully supported",
    "Entry.error_stages": "introduced at stage 2 (summary) or 3",
    "Entry.indicative": "(indicative)",
    "Entry.change": "worse than in the baseline",
    "Entry.reviewed": "overridden by a person: fully supported",
    "Outcome.gone": "gone 3",
    "Outcome.has_baseline": "since the baseline",
}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_an_outcome_stands_in_what_a_writer_makes(writer: str) -> None:
    every = fields_of([OUTCOME])
    assert set(NOT_SHOWN) <= every
    others = {one for one in every if not one.startswith(("Outcome.", "Check.", "Entry."))}
    document = outcome_shown(OUTCOME, {2: "summary"})
    assert left_out(writer, [OUTCOME], [document], WORDS, {*NOT_SHOWN, *others}) == {}
