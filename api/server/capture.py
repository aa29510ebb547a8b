"""Receive spans over OTLP and write them to one file: no graph, no jobs, no page.

Source: OpenTelemetry Protocol 1.10, OTLP/HTTP.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import BinaryIO

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from veritrail_graph.api.app.traces import Received
from veritrail_graph.api.service.http.otlp import (
    BODY_SECONDS,
    JSON,
    LOGS_PATH,
    MOST_BYTES,
    PATH,
    PROTOBUF,
    Statuses,
    export_answer,
    media_type,
)
from veritrail_graph.api.service.http.problems import problem
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.traces.captured import request_line
from veritrail_graph.graph.importers.traces.received import RequestForm
from veritrail_graph.graph.private import open_private

_PATHS = (PATH, "/v1/traces", LOGS_PATH, "/v1/logs")
"""The paths of the service, and those which exporters add to the address of a collector."""


class Capture:
    """Writes the spans, and the log records of models' calls, that it receives to a file.

    Attributes:
        spans: How many of both were written.
        traces: The ids of their traces.
        rejected: How many could not be read.
        reasons: Why, each reason once.

    Args:
        file: The file, which is open.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.spans = 0
        self.traces: set[str] = set()
        self.rejected = 0
        self.reasons: dict[str, None] = {}
        self._file = file
        self._writing = asyncio.Lock()

    def app(self) -> FastAPI:
        """Return the application that receives."""
        made = FastAPI(openapi_url=None)
        for path in _PATHS:
            made.add_api_route(path, self._receive, methods=["POST"], response_class=Response)
        made.add_middleware(Statuses)
        return made

    async def _receive(self, request: Request) -> Response:
        kind = media_type(request.headers.get("content-type", ""))
        encoding = request.headers.get("content-encoding", "").strip().lower()
        if kind not in (PROTOBUF, JSON) or encoding not in ("", "identity", "gzip"):
            words = f"An export request is sent as {PROTOBUF} or {JSON}, plain or gzipped."
            return problem(415, "unsupported-media-type", words)
        form = RequestForm(kind == PROTOBUF, encoding == "gzip")
        async with self._writing:  # one is read at a time, whatever its size
            try:
                body = await _body_of(request)
                line, found = await asyncio.to_thread(request_line, body, form, MOST_BYTES)
            except ClientDisconnect:
                return problem(400, "bad-request", "The body was cut.")
            except TimeoutError:
                return problem(408, "request-timeout", "The body did not arrive in time.")
            except InputError as error:
                self.reasons[str(error)] = None
                return problem(400, "bad-request", str(error))
            spans = sum(one.count for one in found.traces.values())
            if spans or found.rejected:
                await asyncio.to_thread(self._write, line)
            self.spans += spans
            self.traces.update(found.traces)
            self.rejected += found.rejected
            self.reasons |= dict.fromkeys(found.reasons)
        said = "; ".join(found.reasons)
        received = Received(spans, len(found.traces), found.rejected, said)
        of_logs = request.url.path.endswith("/logs")
        return Response(export_answer(received, kind, of_logs=of_logs), media_type=kind)

    def _write(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()


async def _body_of(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        InputError: It is too large.
        TimeoutError: It did not arrive in time.
        ClientDisconnect: It was cut.
    """
    body = bytearray()
    async with asyncio.timeout(BODY_SECONDS):
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BYTES:
                raise InputError(f"An export request may have {MOST_BYTES:,} bytes.")
    return bytes(body)


def open_capture(path: Path) -> BinaryIO:
    """Open the file of a capture, which must not be there: nothing is written over.

    Raises:
        InputError: It is there, or cannot be made.
    """
    if path.suffix not in (".jsonl", ".ndjson"):
        raise InputError(f"{path}: name a file that ends in .jsonl, as each request is a line")
    if path.exists():
        raise InputError(f"{path} is there already; name another file, or remove it")
    try:
        return open_private(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
