"""Reviews of a process file as a pydantic model.

Only what can be said of one record alone is checked here; whether a review fits to its claim
and verification is checked in `graph.trail_checks`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import ValidationError

from veritrail_graph.graph.errors import Violation
from veritrail_graph.graph.importers.process_file.schema import (
    PublicId,
    Text,
    _Model,
    _named,
    _violations,
)
from veritrail_graph.graph.importers.process_file.trails import (
    AVerdict,
    Time,
    VerificationId,
    _one_of,
)
from veritrail_graph.graph.importers.records import ReviewRecord
from veritrail_graph.graph.model import Review, ReviewKind, ReviewVerdict, Verdict
from veritrail_graph.graph.reviewing import text_faults

_FIRST_YEAR = 2000
_CLOCKS_DIFFER = timedelta(minutes=5)


class ReviewModel(_Model):
    """An object of `reviews list --json`."""

    review_id: VerificationId
    process_id: PublicId | None = None
    claim_id: PublicId
    claim: Text
    verdict: Annotated[str, _one_of(ReviewVerdict)]
    kind: Annotated[str, _one_of(ReviewKind)] | None = None
    reason: Text = ""
    reviewer: Text
    recorded_by: Text | None = None
    created_at: Time
    overrides: VerificationId | None = None
    model_verdict: AVerdict | None = None


def read_review(value: object, place: str) -> ReviewRecord | list[Violation]:
    """A review, or everything that is wrong with it."""
    where = _named(place, value, "review_id")
    try:
        model = ReviewModel.model_validate(value)
    except ValidationError as error:
        return list(_violations(error, where, ReviewModel))
    faults = [
        Violation(one.kind, where, f"{one.where} {one.message}")
        for one in text_faults(model.reason, model.reviewer)
    ]
    if words := _time_fault(model.created_at):
        faults.append(Violation("wrong_time", where, f"created_at {words}"))
    if faults:
        return faults
    return ReviewRecord(_review(model), where, model.kind)


def _time_fault(created_at: str) -> str | None:
    """What is wrong with a time; of a reviewer's reviews the latest counts, so none lies ahead."""
    try:
        at = datetime.fromisoformat(created_at)
    except ValueError:
        return "names a day or an hour that does not exist"
    if at > datetime.now(UTC) + _CLOCKS_DIFFER:
        return "lies in the future; set it to when the review was written, or check the clock"
    if at.year < _FIRST_YEAR:
        return f"lies before {_FIRST_YEAR}; set it to when the review was written"
    return None


def _review(model: ReviewModel) -> Review:
    return Review(
        review_id=model.review_id,
        process_id=model.process_id or "",
        claim_id=model.claim_id,
        claim=model.claim,
        verdict=ReviewVerdict(model.verdict),
        reviewer=model.reviewer,
        created_at=model.created_at,
        reason=model.reason,
        verification_id=model.overrides,
        model_verdict=Verdict(model.model_verdict) if model.model_verdict else None,
        recorded_by=model.recorded_by,
    )
