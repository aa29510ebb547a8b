"""Processes over REST: the list, one of them, and its removal; see `uploads` for storing one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from veritrail_graph.api.app.answers import ProcessFound, ProcessInList, ProcessPage, Stages
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import App, Calling, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED, ProcessId
from veritrail_graph.api.http.pages import Cursor, Limit, Listing
from veritrail_graph.api.http.problems import problems_of

router = APIRouter(prefix="/v1/processes", tags=["processes"], dependencies=[CHECKED])

_LISTING = Listing("processes")


@router.get("", response_model=ProcessPage, dependencies=[needs(Scope.READ)])
async def list_processes(app: App, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """The stored processes, in the order of their ids."""
    (after,) = _LISTING.place(cursor, ("",))
    found = await app.processes.page(after, limit + 1)
    page = found[:limit]
    more = len(found) > limit
    cursor = _LISTING.cursor(page[-1].process.process_id) if more else None
    listed = [ProcessInList.of(one) for one in page]
    return answer(ProcessPage(processes=listed, nextCursor=cursor))


@router.get(
    "/{process_id}",
    response_model=ProcessFound,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def get_process(app: App, process_id: ProcessId) -> Response:
    """A process with its stages and counts."""
    return answer(ProcessFound.of_overview(await app.processes.overview(process_id)))


@router.get(
    "/{process_id}/stages",
    response_model=Stages,
    responses=problems_of(404, 504),
    dependencies=[needs(Scope.READ)],
)
async def list_stages(app: App, process_id: ProcessId) -> Response:
    """Per stage: nodes, claims into which an error came there, sentences that evidence cites."""
    return answer(await app.processes.stages(process_id))


@router.delete(
    "/{process_id}",
    status_code=204,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.WRITE)],
)
async def delete_process(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    force: Annotated[
        bool,
        Query(description="Also while jobs verify its claims; those then fail or are cancelled."),
    ] = False,
) -> Response:
    """Remove a process with its claims, verifications and reviews.

    It is gone for everybody at once, and then removed in batches; a removal that was interrupted
    is taken up by the next call.
    """
    await app.processes.delete(process_id, force=force, by=caller)
    return Response(status_code=204)
