"""Processes over REST: the list, one of them, and its removal; see `uploads` for storing one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import Calling, needs, record
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED, ProcessId
from veritrail_graph.api.http.pages import Cursor, Limit, Listing, NextCursor
from veritrail_graph.api.http.problems import problem, problems_of
from veritrail_graph.graph.exporters.listings import process_json, summary_json
from veritrail_graph.graph.store.overview import read_overview
from veritrail_graph.graph.store.process_state import DELETING, READY

router = APIRouter(prefix="/v1/processes", tags=["processes"], dependencies=[CHECKED])

_LISTING = Listing("processes")


class ProcessSummaryModel(BaseModel):
    """A process in the list."""

    process_id: str = Field(examples=["harbour-summary"])
    name: str
    status: str = Field(examples=["ready"])
    nodes: int
    edges: int
    claims: int
    verdicts: dict[str, int] = Field(
        description="Claims by the verdict of their latest verification that succeeded.",
        examples=[{"FULLY_SUPPORTED": 12, "NOT_FULLY_SUPPORTED": 3}],
    )


class ProcessPage(BaseModel):
    """A page of processes, in the order of their ids."""

    processes: list[ProcessSummaryModel]
    nextCursor: NextCursor  # noqa: N815


class ProcessModel(ProcessSummaryModel):
    """A process by itself."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "process_id": "harbour-summary",
                    "name": "Harbour report",
                    "status": "ready",
                    "question": "How did the harbour grow?",
                    "source_format": "veritrail.process/1",
                    "content_hash": "6c0e4b5c" * 8,
                    "nodes": 33,
                    "edges": 32,
                    "claims": 24,
                    "verifications": 24,
                    "verdicts": {"FULLY_SUPPORTED": 17, "NOT_FULLY_SUPPORTED": 7},
                    "terminals": ["final"],
                    "stages": {"1": 14, "2": 14, "3": 4, "4": 1},
                    "stage_names": {"1": "source page"},
                    "warnings": [],
                }
            ]
        }
    )

    question: str | None = Field(description="What its final output answers.")
    source_format: str
    content_hash: str
    verifications: int = Field(description="Its verifications, whatever their status.")
    terminals: list[str] = Field(description="node_ids of the final outputs.")
    stages: dict[str, int] = Field(description="Number of nodes by stage.")
    stage_names: dict[str, str]
    warnings: list[str]


@router.get("", response_model=ProcessPage, dependencies=[needs(Scope.READ)])
async def list_processes(request: Request, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """The stored processes, in the order of their ids."""
    (after,) = _LISTING.place(cursor, ("",))
    store = await request.app.state.graph.store()
    found = await store.processes.page(after, limit + 1)
    page = found[:limit]
    more = len(found) > limit
    return answer(
        {
            "processes": [summary_json(one) for one in page],
            "nextCursor": _LISTING.cursor(page[-1].process.process_id) if more else None,
        }
    )


@router.get(
    "/{process_id}",
    response_model=ProcessModel,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def get_process(request: Request, process_id: ProcessId) -> Response:
    """A process with its stages and counts."""
    store = await request.app.state.graph.store()
    found = await read_overview(store.database, process_id)
    return answer(process_json(found.process, found.verdicts, found.verifications))


@router.delete(
    "/{process_id}",
    status_code=204,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.WRITE)],
)
async def delete_process(
    request: Request,
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
    store = await request.app.state.graph.store()
    state = await store.processes.state(process_id)
    is_left = state is not None and state.status == DELETING and state.is_abandoned
    if not is_left and (state is None or state.status != READY):
        await store.processes.get(process_id)  # says why there is nothing to remove
    words = None if force else await in_use(request, process_id)
    if words is not None:
        return problem(409, "process-in-use", words)
    verifications = await store.processes.count_verifications(process_id)
    await store.processes.delete(process_id)
    deed = "process.delete"
    await record(request, caller, deed, process_id, verifications=verifications, force=force)
    return Response(status_code=204)


async def in_use(request: Request, process_id: str) -> str | None:
    """Why a process should not be removed or replaced now; None: no job has claims of it."""
    jobs = await running_jobs(request, process_id)
    if not jobs:
        return None
    return (
        f"{len(jobs):,} job(s) verify claims of process {process_id!r} ({', '.join(jobs[:3])})."
        " Cancel them, or add ?force=true: their claims then fail or are cancelled."
    )


async def running_jobs(request: Request, process_id: str) -> list[str]:
    """Ids of the jobs that have claims of a process before them, oldest first."""
    jobs: Any = getattr(request.app.state, "jobs", None)
    if jobs is None:
        return []
    found: list[str] = await jobs.of_process(process_id)
    return found
