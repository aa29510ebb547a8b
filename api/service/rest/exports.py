"""A process in the forms of other programs, as a file."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from veritrail_graph.api.app.exporting import ending_of
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.held_file import HeldFile
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, ProcessId
from veritrail_graph.api.service.http.problems import problem, problems_of
from veritrail_graph.api.service.http.receiving import UploadRefused

router = APIRouter(
    route_class=OneVersion, prefix="/v1/processes", tags=["processes"], dependencies=[CHECKED]
)

_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".zip": "application/zip",
    ".graphml": "application/xml",
    ".cypher": "text/plain; charset=utf-8",
}


_BINARY = {"type": "string", "format": "binary"}
_ANY: dict[str, str] = {}  # JSON of somebody else's format


@router.get(
    "/{process_id}/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file",
            "content": {
                kind.partition(";")[0]: {"schema": _ANY if "json" in kind else _BINARY}
                for kind in _TYPES.values()
            },
        },
        **problems_of(404, 409, 507),
    },
    dependencies=[needs(Scope.READ)],
)
async def export_process(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    format_name: Annotated[
        str,
        Query(
            alias="format",
            max_length=100,
            description="One of the formats of `veritrail export` (docs/export.md); tables come "
            "as a .zip.",
            examples=["prov"],
        ),
    ] = "process",
    spreadsheet: Annotated[
        bool, Query(description="csv: keep spreadsheets from taking texts for formulas.")
    ] = False,
) -> Response:
    """A process with its claims and trails as a file that other programs read.

    Verdicts go to `langfuse-scores`, `otel-events`, `otel-logs`, `phoenix-annotations` and
    `mlflow-assessments` for processes that were made from traces of these tools.
    """
    ending = ending_of(format_name)
    try:
        async with request.app.state.uploads.writing(f"export{ending}", caller) as path:
            await app.processes.export(process_id, format_name, path, spreadsheet=spreadsheet)
            file = await asyncio.to_thread(path.open, "rb")
            size = path.stat().st_size
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    name = re.sub(r"[^A-Za-z0-9._-]", "-", process_id + ending)
    kind = _TYPES[f".{ending.rpartition('.')[2]}"]
    return HeldFile(file, size, name, kind)
