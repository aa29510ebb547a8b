"""Stored verifications over REST: a trail, its provenance, its error, and what sets two apart."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
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
from veritrail_graph.graph.comparing import compare
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.exporters.difference import difference_json
from veritrail_graph.graph.exporters.listings import header_json
from veritrail_graph.graph.exporters.results import verification_json
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.store import Store

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
    request: Request, process_id: ProcessId, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """The verifications of a process without their trails, newest first."""
    listing = Listing("verifications", (process_id,))
    (before,) = listing.place(cursor, ("",))
    store = await request.app.state.graph.store()
    names, behind = await store.trails.page(process_id, before, limit)
    headers = await store.trails.headers(names) if names else []
    if not headers:  # those of a process that is not ready are left out
        await store.processes.get(process_id)
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
async def get_verification(request: Request, verification_id: VerificationId) -> Response:
    """A verification with its whole trail: one object of `verify --json`.

    The answer has an `ETag`; a trail that has succeeded does not change any more.
    """
    store = await request.app.state.graph.store()
    return tagged(request, verification_json(await store.trails.get(verification_id)))


@router.get(
    "/verifications/{verification_id}/provenance",
    response_model=ProvenanceModel,
    responses=problems_of(404, 504),
    dependencies=_READ,
)
async def get_provenance(
    request: Request,
    verification_id: VerificationId,
    limit: Annotated[int, Query(ge=1, le=1_000, description="At most so many paths.")] = 100,
) -> Response:
    """Paths of evidence, each from where it begins down to the verified node."""
    store = await request.app.state.graph.store()
    found = await _header(store, verification_id)
    rows, truncated = await _library(store, "provenance", found, limit=limit)
    whole = [row["complete"] for row in rows]
    return answer(
        {
            **_about(found),
            "paths": [[_step(step) for step in row["path"]] for row in rows],
            "paths_complete": whole,
            "complete": bool(whole) and all(whole) and not truncated,
            "truncated": truncated,
        }
    )


@router.get(
    "/verifications/{verification_id}/error",
    response_model=ErrorModel,
    responses=problems_of(404, 504),
    dependencies=_READ,
)
async def get_error(request: Request, verification_id: VerificationId) -> Response:
    """Where unsupported content was introduced, and the later nodes that inherited it."""
    store = await request.app.state.graph.store()
    found = await _header(store, verification_id)
    rows, _ = await _library(store, "error_path", found)
    parts: dict[str, list[dict[str, Any]]] = {"introduced": [], "carried_on": []}
    for row in rows:
        parts[row.pop("part")].append(
            {name: value for name, value in row.items() if name != "verification_id"}
        )
    return answer(
        {
            **_about(found),
            "error_stages": list(found.error.stages),
            "introduced": parts["introduced"],
            "inherited": parts["carried_on"],
        }
    )


@router.get(
    "/verifications/{verification_id}/diff/{other_id}",
    response_model=DifferenceModel,
    responses=problems_of(404),
    dependencies=_READ,
)
async def get_difference(
    request: Request, verification_id: VerificationId, other_id: VerificationId
) -> Response:
    """Where two trails part: what `diff --json` prints."""
    store = await request.app.state.graph.store()
    names = [verification_id, other_id]
    found = {one.verification_id: one for one in await store.trails.read(names)}
    for name in names:
        if name not in found:
            await store.trails.get(name)  # says that there is none
    return answer(difference_json(compare(found[verification_id], found[other_id])))


async def _header(store: Store, verification_id: str) -> Verification:
    found = await store.trails.headers([verification_id])
    if not found:
        raise NotFound(f"No verification {verification_id!r} is stored.")
    return found[0]


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


async def _library(
    store: Store, name: str, found: Verification, **more: Any
) -> tuple[list[dict[str, Any]], bool]:
    """Rows of a query of the library about a verification, by column."""
    subject = {
        "process_id": found.process_id,
        "claim_id": found.claim.claim_id,
        "verification_id": found.verification_id,
    }
    told = await store.queries.run(name, {**subject, **more})
    return [dict(zip(told.columns, row, strict=True)) for row in told.rows], told.truncated


def _step(step: dict[str, Any]) -> dict[str, Any]:
    return {
        "node_id": step["node_id"],
        "stage": step["stage"],
        "role": step["role"],
        "via": list(step.get("via") or ()),
        "sentences": step["sentences"],
    }
