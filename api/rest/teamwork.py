"""Teams over REST: comments on claims, rounds of review, decisions, exports for other tools."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.app.teamwork import (
    MOST_DRAWN,
    MOST_REVIEWERS,
    MOST_TEXT,
    AnnotationFormat,
    Comment,
    CommentList,
    NewRound,
    Round,
    RoundList,
)
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import App, Calling, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.pages import CHECKED, ClaimId, ProcessId
from veritrail_graph.api.http.problems import problems_of
from veritrail_graph.graph.model import Review, ReviewVerdict
from veritrail_graph.graph.reviewing import MAX_REASON, MAX_REVIEWER, NewReview

router = APIRouter(prefix="/v1/processes/{process_id}", tags=["reviews"], dependencies=[CHECKED])

Name = Annotated[str, Field(min_length=1, max_length=MAX_REVIEWER)]


class CommentGiven(BaseModel):
    """A comment to store."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "See page 3 of the annex."}]}
    )

    text: str = Field(min_length=1, max_length=MOST_TEXT)
    author: Name | None = Field(None, description="Who says so; by default the key's name.")


class RoundWanted(BaseModel):
    """A round to begin."""

    model_config = ConfigDict(
        extra="forbid",
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


@router.get(
    "/claims/{claim_id}/comments",
    response_model=CommentList,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def list_comments(
    app: App, caller: Calling, process_id: ProcessId, claim_id: ClaimId
) -> Response:
    """The comments on a claim, oldest first."""
    return answer(await app.teamwork.comments(process_id, claim_id, by=caller))


@router.post(
    "/claims/{claim_id}/comments",
    status_code=201,
    response_model=Comment,
    responses=problems_of(404),
    dependencies=[needs(Scope.WRITE)],
)
async def add_comment(
    app: App, caller: Calling, process_id: ProcessId, claim_id: ClaimId, given: CommentGiven
) -> Response:
    """Comment on a claim; no verdict and no review changes."""
    author = caller.author(given.author)
    made = await app.teamwork.comment(process_id, claim_id, given.text, author, by=caller)
    return answer(made, 201)


@router.delete(
    "/comments/{comment_id}",
    status_code=204,
    responses=problems_of(404),
    dependencies=[needs(Scope.WRITE)],
)
async def delete_comment(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    comment_id: Annotated[str, Path(description="The comment, by its id.")],
) -> Response:
    """Remove a comment: one's own, or with the scope admin any."""
    await app.teamwork.remove_comment(process_id, comment_id, by=caller)
    return Response(status_code=204)


@router.get(
    "/review-rounds",
    response_model=RoundList,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def list_rounds(app: App, process_id: ProcessId) -> Response:
    """The rounds of review, newest first, with what is done of each."""
    return answer(await app.teamwork.rounds(process_id))


@router.post(
    "/review-rounds",
    status_code=201,
    response_model=Round,
    responses=problems_of(404),
    dependencies=[needs(Scope.WRITE)],
)
async def begin_round(
    app: App, caller: Calling, process_id: ProcessId, wanted: RoundWanted
) -> Response:
    """Draw claims by lot, stratified by verdict, and assign them to reviewers."""
    new = NewRound(wanted.reviewers, wanted.size, wanted.each, wanted.name, wanted.seed)
    return answer(await app.teamwork.begin(process_id, new, by=caller), 201)


@router.delete(
    "/review-rounds/{round_id}",
    status_code=204,
    responses=problems_of(404),
    dependencies=[needs(Scope.WRITE)],
)
async def end_round(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    round_id: Annotated[str, Path(description="The round, by its id.")],
) -> Response:
    """Remove a round with its assignments; reviews stay."""
    await app.teamwork.end(process_id, round_id, by=caller)
    return Response(status_code=204)


@router.post(
    "/claims/{claim_id}/reviews:decide",
    status_code=201,
    response_model=Review,
    responses=problems_of(404),
    dependencies=[needs(Scope.WRITE)],
)
async def decide(
    app: App, caller: Calling, process_id: ProcessId, claim_id: ClaimId, given: DecisionGiven
) -> Response:
    """Decide between reviewers: the decision counts before their reviews, which stay."""
    reviewer = caller.author(given.reviewer)
    new = NewReview(given.verdict, given.reason, reviewer)
    made = await app.teamwork.decide(process_id, claim_id, new, by=caller)
    return answer(made.json_object(), 201)


@router.get("/annotation-export", responses=problems_of(404), dependencies=[needs(Scope.READ)])
async def export_for_annotation(
    app: App,
    process_id: ProcessId,
    format_name: Annotated[
        AnnotationFormat, Query(alias="format", description="label-studio or inception.")
    ] = "label-studio",
    blind: Annotated[bool, Query(description="Leave verdicts and reviews out.")] = False,
) -> Any:
    """Claims for Label Studio (tasks) or INCEpTION (UIMA CAS JSON)."""
    return answer(await app.teamwork.export(process_id, format_name, blind=blind))
