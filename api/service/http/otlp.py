"""OTLP over HTTP: the body of an export request, and the answers that its protocol asks for.

Source: OpenTelemetry Protocol 1.10, OTLP/HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from tempfile import SpooledTemporaryFile
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veritrail_graph.api.app.traces import Received
from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.service.http.problems import MEDIA_TYPE
from veritrail_graph.api.service.http.receiving import (
    Body,
    Places,
    UploadRefused,
    check_encoding,
    has_room,
)
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.apart_child import TOO_MUCH_MEMORY
from veritrail_graph.graph.importers.traces.received import (
    TOO_LARGE,
    ExportedSpans,
    RequestForm,
    is_small_request,
    read_request,
    too_large,
)
from veritrail_graph.graph.importers.traces.wire import TooManyValues

PATH, LOGS_PATH = "/v1/otlp/v1/traces", "/v1/otlp/v1/logs"
PROTOBUF, JSON = "application/x-protobuf", "application/json"

MOST_BYTES = 64_000_000
"""The most that a body may have, packed and unpacked: it is read as a whole."""

RECEIVED_AT_ONCE, RECEIVED_OF_KEY = 128, 64
"""Export requests that are received, or wait to be read, at a time: in all, and of one key."""

AT_ONCE, OF_KEY = 8, 6
"""Export requests that are read at a time: in all, and of one key."""

READ_AT_ONCE = 2
"""Of them those that are read here, in threads."""

IN_MEMORY = 1_000_000
"""Bytes of a body that are held in memory while it comes; a larger one is a file meanwhile."""

WAIT_SECONDS = 5.0
"""How long they wait: an exporter waits 10 seconds for its answer."""

BODY_SECONDS = 60.0
"""How long a body may take to arrive."""

RETRY_AFTER = 5
"""Seconds after which a sender should come again."""

_PATHS = ("/v1/traces", "/v1/logs")
_TOO_MUCH = {TOO_LARGE, TooManyValues.code, TOO_MUCH_MEMORY, "too_slow"}


def media_type(header: str) -> str:
    """The media type of a header Content-Type, without its parameters."""
    return header.partition(";")[0].strip().lower()


class ExportBodies:
    """Reads export requests, a few at a time.

    Args:
        settings: How large a body may be.
    """

    def __init__(self, settings: Settings) -> None:
        self._most = min(settings.upload_max, MOST_BYTES)
        self._receiving = Places(
            RECEIVED_AT_ONCE, RECEIVED_OF_KEY, "received", retry_after=RETRY_AFTER
        )
        self._reading = Places(AT_ONCE, OF_KEY, "read", retry_after=RETRY_AFTER)
        self._here = asyncio.Semaphore(READ_AT_ONCE)

    @contextlib.asynccontextmanager
    async def read(self, body: Body, caller: Caller) -> AsyncIterator[ExportedSpans]:
        """The spans of an export request; it counts as being read until the block ends.

        Args:
            body: The request.
            caller: Who sends it.

        Raises:
            UploadRefused: It is too large or too slow, of another type, or no export request; or
                there is too much to do.
            ClientDisconnect: It was cut.
        """
        kind = media_type(body.headers.get("content-type", ""))
        if kind not in (PROTOBUF, JSON):
            words = f"An export request is sent as {PROTOBUF} or {JSON}."
            raise UploadRefused(415, "unsupported-media-type", words)
        encoding = body.headers.get("content-encoding", "")
        check_encoding(encoding, b"\x1f\x8b")  # whether it is known; the start is not here yet
        said = body.headers.get("content-length", "0")
        if said.isdigit() and int(said) > self._most:
            raise self._too_large()
        is_packed = encoding.strip().lower() not in ("", "identity")
        async with self._receiving.taken(caller, WAIT_SECONDS):
            with has_room(), SpooledTemporaryFile(IN_MEMORY) as held:
                await self._receive(body, held)
                async with self._reading.taken(caller, WAIT_SECONDS):
                    yield await self._read(held, RequestForm(kind == PROTOBUF, is_packed))

    async def _receive(self, body: Body, held: SpooledTemporaryFile[bytes]) -> None:
        """Keep a body until it is read."""
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for piece in body.stream():
                    size += len(piece)
                    if size > self._most:
                        raise self._too_large()
                    held.write(piece)
        except TimeoutError:
            words = f"The body did not arrive within {BODY_SECONDS:g} seconds."
            raise UploadRefused(408, "request-timeout", words, {"Connection": "close"}) from None

    def _too_large(self) -> UploadRefused:
        words = too_large(self._most, self._most)
        return UploadRefused(413, "body-too-large", words, {"Connection": "close"})

    async def _read(self, held: SpooledTemporaryFile[bytes], form: RequestForm) -> ExportedSpans:
        try:
            return await self._exported(held, form)
        except InputError as error:
            if error.code in _TOO_MUCH:
                raise UploadRefused(413, "body-too-large", str(error)) from None
            raise UploadRefused(400, "bad-request", str(error)) from None

    async def _exported(
        self, held: SpooledTemporaryFile[bytes], form: RequestForm
    ) -> ExportedSpans:
        """Read a request; a child reads what is large, since some of it is read in one go.

        What is small waits for none of those, and those are no bytes in memory while they wait.
        """
        from veritrail_graph.graph.importers.apart import SMALL, reader_for

        size = held.seek(0, os.SEEK_END)
        if size <= SMALL:
            body = _all_of(held)
            if await asyncio.to_thread(is_small_request, body, form):
                async with self._here:
                    return await asyncio.to_thread(read_request, body, form, self._most)
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    reader = await stack.enter_async_context(reader_for(size, soon=True))
            except TimeoutError:
                words = "Too many bodies are being read already. Come again."
                headers = {"Retry-After": str(RETRY_AFTER)}
                raise UploadRefused(503, "busy", words, headers) from None
            body = await asyncio.to_thread(_all_of, held)
            found: ExportedSpans = await asyncio.to_thread(
                reader.ask, "request", body, form, self._most
            )
            return found


def _all_of(held: SpooledTemporaryFile[bytes]) -> bytes:
    held.seek(0)
    return held.read()


def export_answer(found: Received, kind: str, *, of_logs: bool = False) -> bytes:
    """An ExportTraceServiceResponse; spans that were not taken are a partial success.

    Args:
        found: What became of the spans.
        kind: The media type of the request, which is that of its answer.
        of_logs: Whether log records were sent: then it is an ExportLogsServiceResponse.
    """
    from google.protobuf.json_format import MessageToJson
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    response = ExportLogsServiceResponse() if of_logs else ExportTraceServiceResponse()
    if found.rejected:
        partial, name = response.partial_success, "log_records" if of_logs else "spans"
        setattr(partial, f"rejected_{name}", found.rejected)
        partial.error_message = found.message
    if kind == PROTOBUF:
        written: bytes = response.SerializeToString()
        return written
    text: str = MessageToJson(response, indent=None)
    return text.encode()


def status_message(message: str) -> bytes:
    """A `google.rpc.Status` in protobuf, whose field 2 is its message."""
    text = message.encode()
    length, left = bytearray(), len(text)
    while left > 0x7F:
        length.append(left & 0x7F | 0x80)
        left >>= 7
    return b"\x12" + bytes(length) + bytes([left]) + text


class Statuses:
    """Turns problems into Status messages for those who export in protobuf, as OTLP asks.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "http" and scope["path"].endswith(_PATHS):
            kind = media_type(Headers(scope=scope).get("content-type", ""))
            if kind == PROTOBUF:
                send = _Translated(send)
        await self._app(scope, receive, send)


class _Translated:
    """Sends what is answered on, a problem as a Status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._problem = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = Headers(raw=message.get("headers", [])).get("content-type", "")
            if media_type(kind) == MEDIA_TYPE:
                self._start = message
                return
        if self._start is None:
            await self._send(message)
            return
        self._problem += message.get("body", b"")
        if message.get("more_body", False):
            return
        details: Mapping[str, Any] = json.loads(self._problem)
        body = status_message(str(details.get("detail", "")))
        kept = [
            one
            for one in self._start["headers"]
            if one[0].lower() not in (b"content-type", b"content-length")
        ]
        own = [
            (b"content-type", PROTOBUF.encode()),
            (b"content-length", str(len(body)).encode()),
        ]
        start, self._start = {**self._start, "headers": [*kept, *own]}, None
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})
