"""Processes over REST: the list, one of them, and its removal; see `uploads` for storing one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.app.answers import Stages
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import App, Calling, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED, ProcessId
from veritrail_graph.api.http.pages import Cursor, Limit, Listing, NextCursor
from veritrail_graph.api.http.problems import problems_of
from veritrail_graph.graph.exporters.listings import process_json, summary_json

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
async def list_processes(app: App, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """The stored processes, in the order of their ids."""
    (after,) = _LISTING.place(cursor, ("",))
    found = await app.processes.page(after, limit + 1)
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
async def get_process(app: App, process_id: ProcessId) -> Response:
    """A process with its stages and counts."""
    found = await app.processes.overview(process_id)
    return answer(process_json(found.process, found.verdicts, found.verifications))


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
