"""Claims of a process over REST: list, add, show, edit, remove; as `veritrail claims` does."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from veritrail_graph.api.app.findings import (
    ClaimMerged,
    ClaimPage,
    ClaimsLabelled,
    ClaimsStored,
    NearDuplicatesFound,
)
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.bodies import ClaimEdit, ClaimsGivenUp, LabelsGiven
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import (
    CHECKED,
    ClaimId,
    Cursor,
    Limit,
    Listing,
    ProcessId,
)
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.graph.model.listed import ClaimFound
from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE

router = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}/claims",
    tags=["claims"],
    dependencies=[CHECKED],
)
beside = APIRouter(
    route_class=OneVersion,
    prefix="/v1/processes/{process_id}",
    tags=["claims"],
    dependencies=[CHECKED],
)

NodeId = Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID)]
VerdictName = Literal[
    "FULLY_SUPPORTED",
    "NOT_FULLY_SUPPORTED",
    "INCONCLUSIVE",
    "none",
    "undecided",
    "failed",
    "unchecked",
]
ReviewName = Literal["none", "any", "confirmed", "overridden", "unclear"]


class ClaimsGiven(BaseModel):
    """Claims to store: texts, or objects as in a process file."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "claims": [
                        "The harbour has two piers.",
                        {"claim_id": "k2", "text": "It opened in 1901.", "node_id": "final"},
                    ]
                }
            ]
        },
    )

    claims: list[str | dict[str, JsonValue]] = Field(min_length=1, max_length=10_000)
    node_id: NodeId | None = Field(
        None, description="What claims are about that do not say; default: the only terminal."
    )


@router.get(
    "", response_model=ClaimPage, responses=problems_of(404), dependencies=[needs(Scope.READ)]
)
async def list_claims(
    app: App,
    process_id: ProcessId,
    verdict: Annotated[
        VerdictName | None,
        Query(
            description="Only claims with this verdict; none: without one; of these undecided, "
            "failed, unchecked."
        ),
    ] = None,
    error_stage: Annotated[
        int | None, Query(ge=0, le=MAX_STAGE, description="Only those with an error from here.")
    ] = None,
    review: Annotated[
        ReviewName | None, Query(description="Only those of which people said this.")
    ] = None,
    node_id: Annotated[
        str | None, Query(min_length=1, max_length=MAX_NODE_ID, description="Only about this node.")
    ] = None,
    asked: Annotated[
        bool, Query(description="Questions that were asked, instead of the claims of the answer.")
    ] = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Claims in the order of the input, each with its verdict in force and its reviews."""
    listing = Listing("claims", (process_id, verdict, error_stage, review, node_id, asked))
    after = listing.place(cursor, (-1, ""))
    claims, last = await app.claims.search(
        process_id,
        verdict=verdict,
        error_stage=error_stage,
        review=review,
        node_id=node_id,
        asked=asked,
        after=after,
        limit=limit,
    )
    behind = listing.cursor(*last) if last else None
    return answer(ClaimPage.model_construct(claims=claims, nextCursor=behind))


@beside.post(
    "/claims:label",
    response_model=ClaimsLabelled,
    responses=problems_of(404),
    dependencies=[needs(Scope.REVIEW)],
)
async def label_claims(
    app: App, caller: Calling, process_id: ProcessId, given: LabelsGiven
) -> Response:
    """Label claims for evaluation, all or none; no verdict is changed."""
    count = await app.claims.label(process_id, given.labels, by=caller)
    return answer(ClaimsLabelled(process_id=process_id, labelled=count))


@router.post(
    "/{claim_id}:merge",
    response_model=ClaimMerged,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.READ, Scope.WRITE)],
)
async def merge_claims(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    given: ClaimsGivenUp,
    force: Annotated[
        bool, Query(description="Also when the others were verified or reviewed: that goes too.")
    ] = False,
) -> Response:
    """Merge claims of a node: one gets the places of the others, which are removed."""
    claim, removed = await app.claims.merge(
        process_id, claim_id, given.claim_ids, force=force, by=caller
    )
    return answer(ClaimMerged.of(process_id, claim, removed))


@beside.get(
    "/near-duplicates",
    response_model=NearDuplicatesFound,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def list_near_duplicates(app: App, process_id: ProcessId) -> Response:
    """Claims that may repeat others of their node, by their words; nothing is removed."""
    found = await app.claims.near_duplicates(process_id)
    return answer(NearDuplicatesFound(process_id=process_id, near_duplicates=found))


@router.post(
    "",
    status_code=201,
    response_model=ClaimsStored,
    responses={
        200: {"model": ClaimsStored, "description": "All of them are stored already"},
        **problems_of(404, 409),
    },
    dependencies=[needs(Scope.WRITE)],
)
async def add_claims(app: App, process_id: ProcessId, given: ClaimsGiven) -> Response:
    """Store claims, all or none; nothing is verified."""
    claims, added = await app.claims.add(
        process_id, app.claims.records_of(given.claims), given.node_id
    )
    return answer(
        ClaimsStored(
            process_id=process_id,
            claims=list(claims),
            claims_added=added,
        ),
        201 if added else 200,
        {"Location": f"/v1/processes/{quote(process_id, safe='')}/claims"},
    )


@router.get(
    "/{claim_id}",
    response_model=ClaimFound,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def get_claim(app: App, process_id: ProcessId, claim_id: ClaimId) -> Response:
    """A claim with its verdict in force and its reviews."""
    return answer(await app.claims.get(process_id, claim_id))


Force = Annotated[bool, Query(description="Also when it was verified or, to remove it, reviewed.")]


@router.patch(
    "/{claim_id}",
    response_model=ClaimFound,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.READ, Scope.WRITE)],
)
async def edit_claim(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    edit: ClaimEdit,
    force: Force = False,
) -> Response:
    """Give a claim another text; its id and place stay, and what was verified stays too."""
    await app.claims.edit(process_id, claim_id, edit.text, force=force, by=caller)
    return answer(await app.claims.get(process_id, claim_id))


@router.delete(
    "/{claim_id}",
    status_code=204,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.WRITE)],
)
async def delete_claim(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    force: Force = False,
) -> Response:
    """Remove a claim; with `force` its verifications and reviews go too."""
    await app.claims.remove(process_id, [claim_id], force=force, by=caller)
    return Response(status_code=204)
