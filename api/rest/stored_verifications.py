"""Stored verifications over REST: a trail, its provenance, its error, and what sets two apart."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import App, needs
from veritrail_graph.api.http.answers import answer, tagged
from veritrail_graph.api.http.names import CHECKED, ProcessId, VerificationId
from veritrail_graph.api.http.pages import Cursor, Limit, Listing, NextCursor
from veritrail_graph.api.http.problems import problems_of
from veritrail_graph.api.rest.trail_models import (
    DifferenceModel,
    ErrorModel,
    ProvenanceModel,
    VerificationHeader,
    VerificationModel,
)
from veritrail_graph.graph.exporters.difference import difference_json
from veritrail_graph.graph.exporters.listings import header_json
from veritrail_graph.graph.exporters.results import verification_json
from veritrail_graph.graph.model import Verification

router = APIRouter(prefix="/v1", tags=["verifications"], dependencies=[CHECKED])

_READ = [needs(Scope.READ)]


class VerificationPage(BaseModel):
    """A page of verifications without their trails, newest first."""

    verifications: list[VerificationHeader]
    nextCursor: NextCursor  # noqa: N815


@router.get(
    "/processes/{process_id}/verifications",
    response_model=VerificationPage,
    responses=problems_of(404),
    dependencies=_READ,
)
async def list_verifications(
    app: App, process_id: ProcessId, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """The verifications of a process without their trails, newest first."""
    listing = Listing("verifications", (process_id,))
    (before,) = listing.place(cursor, ("",))
    headers, behind = await app.verifications.page(process_id, before, limit)
    return answer(
        {
            "verifications": [header_json(found) for found in headers],
            "nextCursor": listing.cursor(behind) if behind else None,
        }
    )


@router.get(
    "/verifications/{verification_id}",
    response_model=VerificationModel,
    responses={
        304: {"description": "What If-None-Match names is what is stored"},
        **problems_of(404),
    },
    dependencies=_READ,
)
async def get_verification(app: App, request: Request, verification_id: VerificationId) -> Response:
    """A verification with its whole trail: one object of `verify --json`.

    The answer has an `ETag`; a trail that has succeeded does not change any more.
    """
    return tagged(request, verification_json(await app.verifications.get(verification_id)))


@router.get(
    "/verifications/{verification_id}/provenance",
    response_model=ProvenanceModel,
    responses=problems_of(404, 504),
    dependencies=_READ,
)
async def get_provenance(
    app: App,
    verification_id: VerificationId,
    limit: Annotated[int, Query(ge=1, le=1_000, description="At most so many paths.")] = 100,
) -> Response:
    """Paths of evidence, each from where it begins down to the verified node."""
    found = await app.verifications.provenance(verification_id, limit)
    return answer(
        {
            **_about(found.verification),
            "paths": found.paths,
            "paths_complete": found.paths_complete,
            "complete": found.complete,
            "truncated": found.truncated,
        }
    )


@router.get(
    "/verifications/{verification_id}/error",
    response_model=ErrorModel,
    responses=problems_of(404, 504),
    dependencies=_READ,
)
async def get_error(app: App, verification_id: VerificationId) -> Response:
    """Where unsupported content was introduced, and the later nodes that inherited it."""
    found = await app.verifications.error(verification_id)
    return answer(
        {
            **_about(found.verification),
            "error_stages": list(found.verification.error.stages),
            "introduced": found.introduced,
            "inherited": found.inherited,
        }
    )


@router.get(
    "/verifications/{verification_id}/diff/{other_id}",
    response_model=DifferenceModel,
    responses=problems_of(404),
    dependencies=_READ,
)
async def get_difference(
    app: App, verification_id: VerificationId, other_id: VerificationId
) -> Response:
    """Where two trails part: what `diff --json` prints."""
    return answer(difference_json(await app.verifications.diff(verification_id, other_id)))


def _about(found: Verification) -> dict[str, Any]:
    return {
        "verification_id": found.verification_id,
        "process_id": found.process_id,
        "claim_id": found.claim.claim_id,
        "node_id": found.claim.node_id,
        "status": found.status.value,
        "verdict": found.verdict.value if found.verdict else None,
        "indicative": found.indicative,
    }
