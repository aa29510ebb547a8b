"""Storing a process over REST: the body is a process file, as `veritrail ingest` reads it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from starlette.requests import ClientDisconnect

from veritrail_graph.api.app.answers import Ingested
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import Calling, needs
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED
from veritrail_graph.api.http.problems import problem, problems_of
from veritrail_graph.api.http.receiving import UploadRefused
from veritrail_graph.api.http.uploading import store_body, upload_options
from veritrail_graph.graph.model.noun import PublicId

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


@router.post(
    "",
    status_code=201,
    response_model=Ingested,
    responses={
        200: {"model": Ingested, "description": "The same content is stored already"},
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
    options = upload_options(process_id, replace=replace, append=append, force=force)
    kind = request.headers.get("content-type", "")
    encoding = request.headers.get("content-encoding", "")
    try:
        found = await store_body(request, caller, request, options, kind, encoding)
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    except ClientDisconnect:
        return problem(400, "bad-request", "The body was cut.")  # nobody reads it
    headers = {"Location": f"/v1/processes/{quote(found.process_id, safe='')}"}
    return answer(found, 200 if found.status == "unchanged" else 201, headers)
