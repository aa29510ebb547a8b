"""Teams over REST: comments on claims, rounds of review, decisions, exports for other tools."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from veritrail_graph.api.app.teamwork import (
    AnnotationFormat,
    Comment,
    CommentList,
    NewRound,
    Round,
    RoundList,
)
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.bodies import CommentGiven, DecisionGiven, RoundWanted
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, ClaimId, ProcessId
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.graph.model import Review
from veritrail_graph.graph.reviewing import NewReview

router = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}",
    tags=["reviews"],
    dependencies=[CHECKED],
)


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
    dependencies=[needs(Scope.REVIEW)],
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
    dependencies=[needs(Scope.REVIEW)],
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
    dependencies=[needs(Scope.READ, Scope.WRITE)],
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
    dependencies=[needs(Scope.READ, Scope.REVIEW)],
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
