"""Storing a process over REST: the body is a process file, as `veritrail ingest` reads it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import Calling, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED
from veritrail_graph.api.http.problems import problem, problems_of
from veritrail_graph.api.http.receiving import Body, UploadRefused, check_encoding, parse_name
from veritrail_graph.api.rest.recording import record_upload
from veritrail_graph.api.rest.storing import How, Storing
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.process_file.schema import PublicId

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest import IngestReport

router = APIRouter(prefix="/v1/processes", tags=["processes"], dependencies=[CHECKED])

_EXAMPLE = {
    "format": "veritrail.process/1",
    "process_id": "harbour-2025",
    "name": "Harbour report 2025",
    "stages": {"1": "source chunk", "2": "final summary"},
    "nodes": [
        {"node_id": "c1", "text": "The harbour opened in 1901. It has two piers."},
        {"node_id": "t", "text": "The harbour, opened in 1901, has two piers."},
    ],
    "edges": [{"source": "c1", "target": "t"}],
    "claims": [{"claim_id": "k1", "text": "The harbour has two piers.", "node_id": "t"}],
}
_BODY = {
    "requestBody": {
        "required": True,
        "description": (
            "A process file (docs/process-file.md): one JSON document or JSON Lines, either "
            "gzipped; `Content-Encoding: gzip` is taken too. It is streamed to disk and may have "
            "VERITRAIL_UPLOAD_MAX bytes (2 GB)."
        ),
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _EXAMPLE},
            "application/x-ndjson": {"schema": {"type": "string", "format": "binary"}},
            "application/gzip": {"schema": {"type": "string", "format": "binary"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


class IngestAnswer(BaseModel):
    """What `veritrail ingest --json` prints."""

    process_id: str = Field(examples=["harbour-2025"])
    name: str
    status: str = Field(description="created, unchanged, replaced or appended.")
    nodes: int
    edges: int
    claims: int
    claims_added: int
    verifications_added: int
    reviews_added: int | None = None
    terminals: list[str]
    stages: dict[str, int] = Field(examples=[{"1": 12, "2": 1}])
    warnings: list[str]
    removed_verifications: int | None = None
    removed_reviews: int | None = None
    nodes_added: int | None = None
    edges_added: int | None = None
    resumed: bool | None = None


@router.post(
    "",
    status_code=201,
    response_model=IngestAnswer,
    responses={
        200: {"model": IngestAnswer, "description": "The same content is stored already"},
        **problems_of(404, 409, 415, 507),
    },
    openapi_extra=_BODY,
    dependencies=[needs(Scope.WRITE)],
)
async def store_process(
    request: Request,
    caller: Calling,
    replace: Annotated[
        bool,
        Query(description="Replace another content under the id, and remove its verifications."),
    ] = False,
    append: Annotated[
        bool, Query(description="Add what is new to the stored process; verifications stay.")
    ] = False,
    process_id: Annotated[PublicId | None, Query(description="Store it under this id.")] = None,
    force: Annotated[
        bool, Query(description="With replace: also while jobs verify claims of the process.")
    ] = False,
) -> Response:
    """Check a process and store it.

    Once the body has arrived, storing it goes on when the client has left: asking again gives 200
    and `unchanged`. A body that was cut leaves nothing behind.
    """
    recorder = caller.name if caller.key_id is not None else None
    how = How(process_id, replace, append, force, recorder)
    if append and replace:
        raise InputError("append and replace exclude each other: name one of them")
    kind = request.headers.get("content-type", "")
    encoding = request.headers.get("content-encoding", "")
    try:
        report = await store_body(request, request, how, kind, encoding)
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    except ClientDisconnect:
        return problem(400, "bad-request", "The body was cut.")  # nobody reads it
    content = told_of(report)
    await record_upload(request, caller, content, force=force)
    headers = {"Location": f"/v1/processes/{quote(content['process_id'], safe='')}"}
    return answer(content, 200 if content["status"] == "unchanged" else 201, headers)


async def store_body(
    request: Request, body: Body, how: How, kind: str, encoding: str = ""
) -> IngestReport:
    """Receive a process file and store it, whichever door it came through.

    Args:
        request: The request.
        body: The file.
        how: How it is stored.
        kind: Its media type, as it was said.
        encoding: Its Content-Encoding.

    Raises:
        UploadRefused: It is not taken.
        VeriTrailError: It breaks rules, or could not be stored.
    """
    async with request.app.state.uploads.received(body, parse_name(kind)) as file:
        await asyncio.to_thread(_check_start, file, kind, encoding)
        report = await Storing(request, file, how).run()
    request.app.state.standings.forget()
    return report


def told_of(report: IngestReport) -> dict[str, Any]:
    """What is answered of a process that was stored."""
    from veritrail_graph.api.cli.ingest import report_json

    return report_json(report)


def _check_start(file: Path, content_type: str, content_encoding: str) -> None:
    """Refuse what cannot be a process file.

    Raises:
        UploadRefused: It is none.
        InputError: There is no body.
    """
    from veritrail_graph.graph.importers.process_file.importer import ProcessFileImporter

    with file.open("rb") as stream:
        start = stream.read(2)
    if not start:
        raise InputError("The body is empty", [Violation("not_json", "body", "the body is empty")])
    check_encoding(content_encoding, start)
    is_json = "json" in content_type.lower()
    reason = None if is_json else ProcessFileImporter().detect(file)
    if reason is not None and not reason.startswith("cannot be read"):  # that is told on reading
        words = f"The body is no process file: it {reason}."
        raise UploadRefused(415, "unsupported-media-type", words)
