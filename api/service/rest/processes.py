"""Processes over REST: the list, one of them, and its removal; see `uploads` for storing one."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.requests import ClientDisconnect

from veritrail_graph.api.advice import REST
from veritrail_graph.api.app.answers import Ingested, IngestedMany, ProcessPage, Stages
from veritrail_graph.api.app.version_diff import VersionDifference
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.importing import import_options
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, Cursor, Limit, Listing, ProcessId
from veritrail_graph.api.service.http.problems import problem, problems_of
from veritrail_graph.api.service.http.receiving import UploadRefused, any_name
from veritrail_graph.api.service.http.uploading import (
    Force,
    Keep,
    Replace,
    Stored,
    TableColumns,
    store_any,
    store_body,
    upload_options,
)
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model.noun import PUBLIC_ID, PublicId
from veritrail_graph.graph.model.processes import ProcessOverview

router = APIRouter(
    route_class=OneVersion, prefix="/v1/processes", tags=["processes"], dependencies=[CHECKED]
)

_LISTING = Listing("processes")
MOST_MATCHES = 200
"""Pairs of claims in one address, which has to stay short enough for proxies."""


@router.get("", response_model=ProcessPage, dependencies=[needs(Scope.READ)])
async def list_processes(app: App, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """The stored processes, in the order of their ids."""
    (after,) = _LISTING.place(cursor, ("",))
    found = await app.processes.page(after, limit + 1)
    page = found[:limit]
    more = len(found) > limit
    cursor = _LISTING.cursor(page[-1].process_id) if more else None
    return answer(ProcessPage(processes=page, nextCursor=cursor))


@router.get(
    "/{process_id}",
    response_model=ProcessOverview,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def get_process(app: App, process_id: ProcessId) -> Response:
    """A process with its stages and counts."""
    return answer(await app.processes.overview(process_id))


@router.get(
    "/{process_id}/stages",
    response_model=Stages,
    responses=problems_of(404, 504),
    dependencies=[needs(Scope.READ)],
)
async def list_stages(app: App, process_id: ProcessId) -> Response:
    """The stages of a process: nodes, claims that went wrong there, sentences that are cited."""
    return answer(await app.processes.stages(process_id))


@router.get(
    "/{process_id}/diff",
    response_model=VersionDifference,
    responses=problems_of(404, 422),
    dependencies=[needs(Scope.READ)],
)
async def compare_versions(
    app: App,
    process_id: ProcessId,
    since: Annotated[
        str,
        Query(
            pattern=rf"^{PUBLIC_ID}$",
            description="The earlier version: another process, a content hash, or `last`.",
        ),
    ],
    match: Annotated[
        list[Annotated[str, Field(pattern=rf"^{PUBLIC_ID},{PUBLIC_ID}$")]],
        Query(
            max_length=MOST_MATCHES,
            description="Claims with other texts that say the same, as a person found: the "
            "claim_id in the earlier version and that in the process, with a comma between them. "
            "May be repeated.",
        ),
    ] = [],  # noqa: B006  # FastAPI reads it, and nothing changes it
) -> Response:
    """An earlier version and the process side by side: nodes, texts, stages, claims, verdicts."""
    pairs = [(earlier, now) for earlier, _, now in (one.partition(",") for one in match)]
    return answer(await app.processes.diff(since, process_id, pairs))


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

    It is hidden at once, and then removed in batches; a removal that was interrupted
    is taken up by the next call.
    """
    await app.processes.delete(process_id, force=force, by=caller)
    return Response(status_code=204)


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
            "VERITRAIL_UPLOAD_MAX bytes (2 GB). With `format`: a file in that format "
            "(docs/formats), of which there may be several processes."
        ),
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _EXAMPLE},
            "application/x-ndjson": {"schema": {"type": "string", "format": "binary"}},
            "application/gzip": {"schema": {"type": "string", "format": "binary"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "application/x-protobuf": {"schema": {"type": "string", "format": "binary"}},
            "text/csv": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post(
    "",
    status_code=201,
    response_model=Ingested,
    responses={
        200: {"model": Ingested, "description": "The same content is stored already"},
        207: {
            "model": IngestedMany,
            "description": "The body holds several processes, each stored or refused on its "
            "own; also where none of them was stored (`failed`)",
        },
        **problems_of(404, 409, 415, 507),
    },
    openapi_extra=_BODY,
    dependencies=[needs(Scope.INGEST)],
)
async def store_process(
    request: Request,
    caller: Calling,
    replace: Replace = False,
    keep: Keep = False,
    append: Annotated[
        bool, Query(description="Add what is new to the stored process; verifications stay.")
    ] = False,
    process_id: Annotated[PublicId | None, Query(description="Store it under this id.")] = None,
    force: Force = False,
    strict: Annotated[
        bool, Query(description="Refuse generated text without recorded inputs.")
    ] = False,
    format_name: Annotated[
        str | None,
        Query(
            alias="format",
            max_length=100,
            description="The format of the body, as `veritrail formats` lists them, or `detect`. "
            "Without it: a process file.",
            examples=["langfuse"],
        ),
    ] = None,
    filename: Annotated[
        str | None,
        Query(
            max_length=500,
            description="With format: what the file is called. Of some formats the ending says "
            "what is in it, such as `.csv`; without it the Content-Type does, or the content.",
        ),
    ] = None,
    only_one: Annotated[
        bool,
        Query(description="With format: refuse a body with several processes, and store none."),
    ] = False,
    only_explicit: Annotated[
        bool, Query(description="Leave edges out that the input does not name.")
    ] = False,
    infer: Annotated[
        Literal["overlap"] | None,
        Query(description="Traces: also infer edges from words in common, which makes false ones."),
    ] = None,
    grouping: Annotated[
        int | None,
        Query(ge=1, description="Summaries: how many of a level one of the next level summarises."),
    ] = None,
    question: Annotated[
        str | None,
        Query(
            max_length=10_000,
            description="The question that the answer is about, of formats that hold none.",
        ),
    ] = None,
    columns: TableColumns = None,
) -> Response:
    """Check a process and store it, or with `format` all processes of a file.

    A key with the scope `ingest` stores new processes and what is new of their claims: `replace`,
    `append`, and a body with verifications or reviews need `write`.
    Once the body has arrived, storing it goes on when the client has left: asking again gives 200
    and `unchanged`. A body that was cut leaves nothing behind. Ids are stable: the same file
    again is `unchanged`.
    """
    options = upload_options(
        caller,
        process_id,
        replace=replace,
        keep=keep,
        append=append,
        force=force,
        strict=strict,
        format_name=format_name,
        importing=import_options(
            question=question,
            only_explicit=only_explicit,
            infer=infer,
            grouping=grouping,
            columns=columns,
        ),
    )
    kind = request.headers.get("content-type", "")
    encoding = request.headers.get("content-encoding", "")
    try:
        if format_name is None:
            found: list[Stored] = [
                ("body", await store_body(request, caller, request, options, kind, encoding))
            ]
        else:
            found = await store_any(
                request,
                caller,
                request,
                options,
                filename or any_name(kind),
                encoding=encoding,
                only_one=only_one,
            )
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    except ClientDisconnect:
        return problem(400, "bad-request", "The body was cut.")  # no client reads it
    return _stored(found)


def _stored(found: list[Stored]) -> Response:
    """Return what became of the processes of a body.

    Raises:
        VeriTrailError: There is one, and it was not stored.
        InputError: There is none.
    """
    if not found:
        raise InputError("There is no process in the body.")
    if len(found) > 1:
        return answer(IngestedMany.of_outcomes(found, REST), 207)
    ((_, one),) = found
    if isinstance(one, VeriTrailError):
        raise one
    headers = {"Location": f"/v1/processes/{quote(one.process_id, safe='')}"}
    return answer(one, 200 if one.status == "unchanged" else 201, headers)
