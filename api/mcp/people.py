"""What people said of verdicts, beside the model's and never in its place."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from veritrail_graph.api.client.answers import Agreement, Claim, Review
from veritrail_graph.api.mcp.words import TEXT, quoted, verdict_words
from veritrail_graph.api.views.texts import one_line

REVIEWS = 10
"""Reviews that are shown of one claim."""


class FoundReview(BaseModel):
    """What a person said of the claim's verdict."""

    reviewer: str
    verdict: str = Field(description="The reviewer's; UNCLEAR: the claim itself is unclear")
    kind: str = Field(description="confirmed, overridden or unclear")
    reason: str
    created_at: str
    verification_id: str | None = Field(description="The verification whose verdict was reviewed")
    model_verdict: str | None = Field(description="Its verdict")


class People(BaseModel):
    """The reviews of a claim, newest first."""

    reviewed_verdict: str | None = Field(description="The verdict of the latest review")
    disputed: bool = Field(description="Whether reviewers disagree")
    reviews: list[FoundReview]
    reviews_left_out: int = 0


class Reviewed(BaseModel):
    """The claims of a process that people reviewed."""

    claims: int
    overridden: int = Field(description="Where the latest review holds another verdict")
    unclear: int = Field(description="Where the latest review calls the claim unclear")
    disputed: int = Field(description="Where reviewers disagree")


def people_of(claim: Claim, reviews: Sequence[Review]) -> People | None:
    """What people said of a claim; None: nobody did."""
    if not reviews:
        return None
    return People(
        reviewed_verdict=reviews[0].verdict,
        disputed=claim.disputed,
        reviews=[
            FoundReview(
                reviewer=one_line(one.reviewer, TEXT),
                verdict=one.verdict,
                kind=one.kind,
                reason=one_line(one.reason, TEXT),
                created_at=one.created_at,
                verification_id=one.overrides,
                model_verdict=one.model_verdict,
            )
            for one in reviews[:REVIEWS]
        ],
        reviews_left_out=max(0, claim.reviews - REVIEWS),
    )


def reviewed_of(found: Agreement) -> Reviewed | None:
    """What people said of a process; None: nobody reviewed a claim of it."""
    if not found.reviews:
        return None
    pairs = found.overall
    return Reviewed(
        claims=found.claims,
        overridden=pairs.pairs - pairs.agreed,
        unclear=found.unclear,
        disputed=found.disputed,
    )


def people_text(found: People | None, verification_id: str) -> list[str]:
    """Reviews to be read, a line each."""
    if found is None:
        return []
    lines = ["People reviewed this claim; their verdicts stand beside the one above:"]
    for one in found.reviews:
        other = one.verification_id not in {None, verification_id}
        lines.append(
            f"  {quoted(one.reviewer)} on {one.created_at[:10]}: {verdict_words(one.verdict)}"
            f" ({one.kind}{f' the verdict of {one.verification_id}' if other else ''})"
            + (f": {quoted(one.reason)}" if one.reason else "")
        )
    if found.reviews_left_out:
        lines.append(f"  … and {found.reviews_left_out:,} more reviews")
    if found.disputed:
        lines.append("Reviewers disagree on this claim.")
    return lines


def reviewed_text(found: Reviewed | None) -> str:
    """The end of a process's line."""
    if found is None:
        return ""
    return (
        f"; people reviewed {found.claims:,} claims: {found.overridden:,} overridden, "
        f"{found.unclear:,} unclear, {found.disputed:,} disputed"
    )
