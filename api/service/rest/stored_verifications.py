"""Stored verifications over REST: a trail, its provenance, its error, and what sets two apart."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from veritrail_graph.api.app.findings import ErrorOrigin, Provenance, RunOfRecord, VerificationPage
from veritrail_graph.api.app.runs import RunComparison, RunList
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import KnownTags, answer, tagged
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import (
    CHECKED,
    Cursor,
    Limit,
    Listing,
    ProcessId,
    RunId,
    VerificationId,
)
from veritrail_graph.api.service.http.problems import problems_of
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.model.difference import Difference

router = APIRouter(
    route_class=OneVersion, prefix="/v1", tags=["verifications"], dependencies=[CHECKED]
)

_READ = [needs(Scope.READ)]
_VERIFY = [needs(Scope.VERIFY)]


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
    listed = [found.header for found in headers]
    cursor = listing.cursor(behind) if behind else None
    return answer(VerificationPage(verifications=listed, nextCursor=cursor))


@router.get(
    "/verifications/{verification_id}",
    response_model=Verification,
    responses={
        304: {"description": "What If-None-Match names is what is stored"},
        **problems_of(404),
    },
    dependencies=_READ,
)
async def get_verification(app: App, known: KnownTags, verification_id: VerificationId) -> Response:
    """A verification with its whole trail: one object of `verify --json`.

    The answer has an `ETag`. A trail that has succeeded does not change any more, apart from
    `carried`: the sentences of its error nodes that carried the claim, where they are attributed.
    """
    found = await app.verifications.get(verification_id)
    return tagged(known, await app.verifications.as_document(found))


@router.get(
    "/verifications/{verification_id}/provenance",
    response_model=Provenance,
    responses=problems_of(404, 504),
    dependencies=_READ,
)
async def get_provenance(
    app: App,
    verification_id: VerificationId,
    limit: Annotated[int, Query(ge=1, le=1_000, description="The most paths.")] = 100,
) -> Response:
    """Paths of evidence, each from where it begins down to the verified node."""
    return answer(await app.verifications.provenance(verification_id, limit))


@router.get(
    "/verifications/{verification_id}/error",
    response_model=ErrorOrigin,
    responses=problems_of(404, 504),
    dependencies=_READ,
)
async def get_error(app: App, verification_id: VerificationId) -> Response:
    """Where unsupported content was introduced, and the later nodes that inherited it."""
    return answer(await app.verifications.error(verification_id))


@router.get(
    "/verifications/{verification_id}/diff/{other_id}",
    response_model=Difference,
    responses=problems_of(404),
    dependencies=_READ,
)
async def get_difference(
    app: App, verification_id: VerificationId, other_id: VerificationId
) -> Response:
    """Where two trails part: what `diff --json` prints."""
    return answer(await app.verifications.diff(verification_id, other_id))


@router.get(
    "/processes/{process_id}/runs",
    response_model=RunList,
    responses=problems_of(404),
    dependencies=_READ,
)
async def list_runs(app: App, process_id: ProcessId) -> Response:
    """The runs of a process, newest first, with their verdicts and costs."""
    return answer(await app.runs.of_process(process_id))


Side = Annotated[
    str,
    Query(min_length=1, max_length=200, description="A run_id, or the name of a model or engine."),
]


@router.get(
    "/processes/{process_id}/run-comparison",
    response_model=RunComparison,
    responses=problems_of(404),
    dependencies=_READ,
)
async def compare_runs(app: App, process_id: ProcessId, a: Side, b: Side) -> Response:
    """Two runs or judges over all claims: gained, lost, moved to another stage, and what it cost.

    Of a judge the latest verdict of each claim counts, whatever the run.
    """
    return answer(await app.runs.compare(process_id, a, b))


@router.post(
    "/runs/{run_id}:pin",
    response_model=RunOfRecord,
    responses=problems_of(404),
    dependencies=_VERIFY,
)
async def pin_run(app: App, caller: Calling, run_id: RunId) -> Response:
    """Make a run the run of record: its verdicts count for the claims that it verified."""
    return answer(await app.verifications.pin(run_id, by=caller))


@router.post(
    "/runs/{run_id}:unpin",
    response_model=RunOfRecord,
    responses=problems_of(404),
    dependencies=_VERIFY,
)
async def unpin_run(app: App, caller: Calling, run_id: RunId) -> Response:
    """Let a run be the run of record no more: the strongest judge's latest verdicts count."""
    return answer(await app.verifications.pin(run_id, on=False, by=caller))
