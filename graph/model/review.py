"""The review of a verdict by a person: kept beside the model's, and never in its place.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import Field

from veritrail_graph.graph.model.noun import Noun, OneOf, PublicId, RecordId, Text, Time, is_none
from veritrail_graph.graph.model.process import Verdict


class ReviewVerdict(StrEnum):
    """What a reviewer may say: one of the verdicts, or that the claim itself is unclear."""

    FULLY_SUPPORTED = "FULLY_SUPPORTED"
    NOT_FULLY_SUPPORTED = "NOT_FULLY_SUPPORTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNCLEAR = "UNCLEAR"


class ReviewKind(StrEnum):
    """What a reviewer's verdict does to another: to that of a model."""

    CONFIRMED = "confirmed"
    OVERRIDDEN = "overridden"
    UNCLEAR = "unclear"


class Review(Noun):
    """One review of one claim; it is appended and never changed."""

    review_id: RecordId = Field(description="Its id.")
    process_id: PublicId = Field(description="The process.")
    claim_id: PublicId = Field(description="The claim.")
    claim: Text = Field(description="The claim's text as it was reviewed.")
    verdict: OneOf[ReviewVerdict] = Field(description="The reviewer's verdict.")
    kind: OneOf[ReviewKind] = Field(
        default=ReviewKind.UNCLEAR,
        description="What it does to the verdict that was reviewed; follows from both verdicts.",
    )
    reason: Text = Field(default="", description="Why; empty only where it confirms.")
    reviewer: Text = Field(description="The reviewer's name.")
    recorded_by: Text | None = Field(
        default=None, description="Name of the key that it came in with."
    )
    created_at: Time = Field(description="When it was stored, ISO 8601 in UTC.")
    overrides: RecordId | None = Field(
        default=None,
        description="The verification whose verdict was reviewed; null only where a claim "
        "without a verdict is called unclear.",
    )
    model_verdict: OneOf[Verdict] | None = Field(
        default=None, description="The verdict of that verification."
    )
    blind: bool | None = Field(
        default=None,
        description="Whether the model's verdict was hidden from the reviewer; null: not known.",
        exclude_if=is_none,
    )
    adjudicates: bool | None = Field(
        default=None,
        description="True: it decides between reviewers, and counts before their reviews.",
        exclude_if=is_none,
    )

    def model_post_init(self, context: Any, /) -> None:
        """Derive the kind."""
        self._fill("kind", kind_of(self.verdict, self.model_verdict))

    @property
    def order(self) -> tuple[str, str]:
        """Sort key: of two reviews the later one counts."""
        return self.created_at, self.review_id


def kind_of(said: ReviewVerdict, verdict: Verdict | None) -> ReviewKind:
    """Return what a reviewer's verdict is to a model's."""
    if said is ReviewVerdict.UNCLEAR:
        return ReviewKind.UNCLEAR
    same = verdict is not None and said.value == verdict.value
    return ReviewKind.CONFIRMED if same else ReviewKind.OVERRIDDEN


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The state of the reviews of a claim, beside the verdict of the model.

    Attributes:
        latest: The latest review of all, or the latest that decides between reviewers; it gives
            the reviewed verdict.
        counting: The latest review of each reviewer, the latest of them first.
        verdict: The model's verdict now: that of the verification in force.
        reviews: How many reviews there are.
    """

    latest: Review
    counting: tuple[Review, ...]
    verdict: Verdict | None
    reviews: int

    @property
    def reviewed_verdict(self) -> Verdict | None:
        """The verdict of the latest review; None where that calls the claim unclear."""
        said = self.latest.verdict
        return None if said is ReviewVerdict.UNCLEAR else Verdict(said.value)

    @property
    def kind(self) -> ReviewKind:
        """Return what the latest review is to the model's current verdict."""
        return kind_of(self.latest.verdict, self.verdict)

    @property
    def said(self) -> tuple[ReviewVerdict, ...]:
        """Return the decision alone, or without one the latest word of each reviewer."""
        counting = (self.latest,) if self.latest.adjudicates else self.counting
        return tuple(one.verdict for one in counting)

    @property
    def disputed(self) -> bool:
        """Return whether the latest reviews of the reviewers disagree, without a decision."""
        return len(set(self.said)) > 1


def reviewed_json(found: Reviewed | None) -> dict[str, Any]:
    """Return the state of the reviews of a claim as JSON; null or 0 where there are none."""
    if found is None:
        return {"review": None, "reviewed_verdict": None, "reviews": 0, "disputed": False}
    verdict = found.reviewed_verdict
    return {
        "review": found.kind.value,
        "reviewed_verdict": verdict.value if verdict else None,
        "reviews": found.reviews,
        "disputed": found.disputed,
    }


def latest_of_each(reviews: Iterable[Review]) -> list[Review]:
    """The latest review of each reviewer of each claim, the latest first."""
    found: dict[tuple[str, str, str], Review] = {}
    for one in sorted(reviews, key=lambda review: review.order):
        found[one.process_id, one.claim_id, one.reviewer] = one
    return sorted(found.values(), key=lambda review: review.order, reverse=True)


def reviewed_claims(reviews: Iterable[Review]) -> dict[str, Reviewed]:
    """By claim_id, the state of reviews of one process, without the verdicts of the judge.

    Args:
        reviews: Reviews of one process, in any order.
    """
    by_claim: dict[str, list[Review]] = {}
    for one in reviews:
        by_claim.setdefault(one.claim_id, []).append(one)
    return {name: made for name, each in by_claim.items() if (made := reviewed(each, None))}


def reviewed(reviews: Iterable[Review], verdict: Verdict | None) -> Reviewed | None:
    """The state of the reviews of one claim; None where there are none.

    Args:
        reviews: All reviews of the claim, in any order.
        verdict: The verdict of its verification in force.
    """
    every = list(reviews)
    if not every:
        return None
    counting = latest_of_each(every)
    deciding = [one for one in every if one.adjudicates]
    latest = max(deciding, key=lambda one: one.order) if deciding else counting[0]
    return Reviewed(latest, tuple(counting), verdict, len(every))
