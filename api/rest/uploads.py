"""Storing a process over REST: the body is a process file, as `veritrail ingest` reads it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from api.rest import request_id
from api.rest.access import Calling, needs
from api.rest.answers import answer
from api.rest.names import CHECKED
from api.rest.problems import problem, problems_of
from api.rest.receiving import UploadRefused, check_encoding, parse_name
from api.service.access import Scope
from graph.errors import InputError, ProcessConflict, Violation
from graph.importers.process_file.schema import PublicId

if TYPE_CHECKING:
    from graph.importers.records import ProcessInput
    from graph.ingest import IngestReport
    from graph.store import Store

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
) -> Response:
    """Check a process and store it.

    Once the body has arrived, storing it goes on when the client has left: asking again gives 200
    and `unchanged`. A body that was cut leaves nothing behind.
    """
    if append and replace:
        raise InputError("append and replace exclude each other: name one of them")
    kind = request.headers.get("content-type", "")
    encoding = request.headers.get("content-encoding", "")
    try:
        async with request.app.state.uploads.received(request, parse_name(kind)) as file:
            await asyncio.to_thread(_check_start, file, kind, encoding)
            report = await _Ingest(request, file, process_id, replace, append).run()
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    except ClientDisconnect:
        return problem(400, "bad-request", "The body was cut.")  # nobody reads it
    content = _report_json(report)
    await request.app.state.audit.record(
        caller,
        "process.ingest",
        target=content["process_id"],
        request_id=request_id.current.get(),
        status=content["status"],
    )
    headers = {"Location": f"/v1/processes/{quote(content['process_id'], safe='')}"}
    return answer(content, 200 if content["status"] == "unchanged" else 201, headers)


def _report_json(report: IngestReport) -> dict[str, Any]:
    from api.cli.ingest import report_json

    return report_json(report)


def _check_start(file: Path, content_type: str, content_encoding: str) -> None:
    """Refuse what cannot be a process file.

    Raises:
        UploadRefused: It is none.
        InputError: There is no body.
    """
    from graph.importers.process_file.importer import ProcessFileImporter

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


class _Ingest:
    """Reads a body and stores what it holds, as the command does.

    Args:
        request: The request.
        file: Its body.
        process_id: Takes the place of the body's own.
        replace: Whether another content under the id is replaced.
        append: Whether what is new is added to what is stored.
    """

    def __init__(
        self, request: Request, file: Path, process_id: str | None, replace: bool, append: bool
    ) -> None:
        self._request = request
        self._file = file
        self._process_id = process_id
        self._replace = replace
        self._append = append
        self._most = request.app.state.settings.max_node_text
        self._left = threading.Event()

    async def run(self) -> IngestReport:
        """Store it.

        Raises:
            InputError: It breaks rules; nothing was stored, and no message names a folder of ours.
            ProcessConflict: Another content has the id, or somebody is writing it.
            EngineError: The engine failed.
        """
        try:
            return await self._run()
        except asyncio.CancelledError:
            self._left.set()  # ends the thread that reads
            raise
        except ProcessConflict as error:
            raise ProcessConflict(_for_rest(str(error)), error.violations) from None
        except InputError as error:
            if str(self._file) not in str(error):
                raise
            # Whoever sent the body knows nothing of the file that it was kept in.
            raise InputError(self._named(str(error)), self._faults(error)) from None

    async def _run(self) -> IngestReport:
        from graph import ingest as ingesting
        from graph.restoring import restore

        # A broken body is told before the graph is needed.
        source = await asyncio.to_thread(self._open)
        if self._append:
            return await ingesting.append(
                await self._store(),
                source,
                process_id=self._process_id,
                max_node_text=self._most,
                progress=self._progress(),
            )
        found = await ingesting.read_and_check(
            source,
            process_id=self._process_id,
            max_node_text=self._most,
            progress=self._progress(),
        )
        store = await self._store()
        report = await ingesting.store_process(store, source, found, replace=self._replace)
        return await restore(store, source, report)

    async def _store(self) -> Store:
        store: Store = await self._request.app.state.graph.store()
        return store

    def _open(self) -> ProcessInput:
        from api.wiring import importers
        from graph.importers.registry import ImportOptions

        options = ImportOptions(max_node_text=self._most)
        return importers().open(self._file, format_name="process", options=options)

    def _progress(self) -> Callable[[str, int, int], None]:
        def progress(_what: str, _done: int, _total: int) -> None:
            if self._left.is_set():
                raise InterruptedError

        return progress

    def _named(self, text: str) -> str:
        return text.replace(str(self._file), "The body").replace(self._file.name, "body")

    def _faults(self, error: InputError) -> list[Violation]:
        name = self._file.name
        return [
            Violation(one.kind, re.sub(rf"^{re.escape(name)}$", "body", one.where), one.message)
            for one in error.violations
        ]


_WORDS = (
    ("Use --replace to replace it", "Add ?replace=true to replace it"),
    ("--append to add to it, or --process-id for another id", "?append=true to add to it, or "
     "?process_id= for another id"),
)  # fmt: skip


def _for_rest(message: str) -> str:
    """A message of the command line in the words of REST."""
    for words, ours in _WORDS:
        message = message.replace(words, ours)
    return message
