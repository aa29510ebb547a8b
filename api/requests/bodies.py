"""Bodies of requests that change claims, reviews and what people keep beside them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.requests.limits import (
    LINK_DAYS,
    LONGEST_COMMENT,
    LONGEST_LINK_NOTE,
    LONGEST_PROJECT,
    LONGEST_TAG,
    MOST_DRAWN,
    MOST_LINK_DAYS,
    MOST_REVIEWERS,
    MOST_TAGS,
)
from veritrail_graph.graph.model import ReviewVerdict, Verdict
from veritrail_graph.graph.reviewing import MAX_REASON, MAX_REVIEWER

_LONGEST_ID = 256

Name = Annotated[str, Field(min_length=1, max_length=MAX_REVIEWER)]
Tag = Annotated[str, Field(min_length=1, max_length=LONGEST_TAG)]


class ClaimEdit(BaseModel):
    """Another text for a claim."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "The harbour has two piers."}]}
    )

    text: str = Field(min_length=1)


class LabelsGiven(BaseModel):
    """Labels by claim_id; null takes a label away."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"labels": {"k1": "FULLY_SUPPORTED", "k2": None}}]},
    )

    labels: dict[str, Verdict | None] = Field(min_length=1, max_length=10_000)


class ClaimsGivenUp(BaseModel):
    """The claims that are merged into another one, and removed."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"claim_ids": ["k2"]}]}
    )

    claim_ids: list[str] = Field(min_length=1, max_length=1_000)


class ProcessEdit(BaseModel):
    """The project and the tags of a process."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"project": "nightly", "tags": ["v2"]}]}
    )

    project: str | None = Field(max_length=LONGEST_PROJECT)
    tags: list[Tag] = Field([], max_length=MOST_TAGS)


class ReviewGiven(BaseModel):
    """A review to append."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "verdict": "FULLY_SUPPORTED",
                    "reason": "The minutes of May name the second pier too.",
                    "reviewer": "Ada",
                    "overrides": "v-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11",
                }
            ]
        },
    )

    verdict: ReviewVerdict = Field(
        description="The reviewer's verdict; the same as that of the verification confirms it. "
        "UNCLEAR: the claim itself is unclear."
    )
    reason: str = Field(
        "", max_length=MAX_REASON, description="Why; may be empty only where it confirms."
    )
    reviewer: str | None = Field(
        None,
        max_length=MAX_REVIEWER,
        description="Who says so; by default the name of the key.",
    )
    overrides: str | None = Field(
        None,
        min_length=1,
        max_length=_LONGEST_ID,
        description="The verification whose verdict is reviewed; by default the claim's latest "
        "that succeeded.",
    )


class ReviewOfTable(BaseModel):
    """A review of several that are sent together."""

    model_config = ConfigDict(extra="forbid")

    claim_id: str = Field(min_length=1, max_length=_LONGEST_ID)
    verdict: ReviewVerdict
    reason: str = Field("", max_length=MAX_REASON)
    reviewer: str | None = Field(None, max_length=MAX_REVIEWER)
    blind: bool | None = Field(
        None,
        strict=True,
        description="Whether the model's verdict was hidden from the reviewer.",
    )
    adjudicates: bool | None = Field(
        None, strict=True, description="Whether it decides between reviewers."
    )


class ReviewsGiven(BaseModel):
    """Reviews that are sent together; the same ones sent again are not stored twice."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"reviews": [{"claim_id": "k1", "verdict": "FULLY_SUPPORTED", "reviewer": "Ada"}]}
            ]
        },
    )

    reviews: list[ReviewOfTable] = Field(min_length=1, max_length=10_000)


class CommentGiven(BaseModel):
    """A comment to store."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "See page 3 of the annex."}]}
    )

    text: str = Field(min_length=1, max_length=LONGEST_COMMENT)
    author: Name | None = Field(None, description="Who says so; by default the key's name.")


class RoundWanted(BaseModel):
    """A round to begin."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,  # `false` is no seed
        json_schema_extra={"examples": [{"reviewers": ["Ada", "Bo"], "size": 50, "each": 2}]},
    )

    reviewers: list[Name] = Field(min_length=1, max_length=MOST_REVIEWERS)
    size: int = Field(ge=1, le=MOST_DRAWN, description="How many claims are drawn.")
    each: int = Field(1, ge=1, le=MOST_REVIEWERS, description="Reviewers of a claim.")
    name: str = Field("", max_length=200)
    seed: int = Field(0, ge=0, le=2**31, description="The same seed draws the same claims.")


class DecisionGiven(BaseModel):
    """A decision between reviewers."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "verdict": "NOT_FULLY_SUPPORTED",
                    "reason": "The minutes name another year.",
                    "reviewer": "Cy",
                }
            ]
        },
    )

    verdict: ReviewVerdict
    reason: str = Field(min_length=1, max_length=MAX_REASON)
    reviewer: Name | None = None


class ShareWanted(BaseModel):
    """How long a link works, and what it is for."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"days": 14, "note": "For the auditor"}]},
    )

    days: float = Field(LINK_DAYS, gt=0, le=MOST_LINK_DAYS)
    note: str = Field("", max_length=LONGEST_LINK_NOTE)
