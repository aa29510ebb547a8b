"""OTLP over HTTP: the body of an export request, and the answers that its protocol asks for.

Source: OpenTelemetry Protocol 1.10, OTLP/HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import zlib
from collections.abc import AsyncIterator, Mapping
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
from veritrail_graph.graph.importers.process_file.reading import (
    TooManyValues,
    check_values,
    most_unpacked,
)

PATH = "/v1/otlp/v1/traces"
PROTOBUF, JSON = "application/x-protobuf", "application/json"

MOST_BYTES = 64_000_000
"""The most that a body may have, packed and unpacked: it is read as a whole."""

RECEIVED_AT_ONCE, RECEIVED_OF_KEY = 128, 64
"""Export requests that are received, or wait to be read, at a time: in all, and of one key."""

AT_ONCE, OF_KEY = 8, 6
"""Export requests that are read at a time: in all, and of one key."""

READ_AT_ONCE = 2
"""Of them those that are in memory as values."""

IN_MEMORY = 1_000_000
"""Bytes of a body that are held in memory while it comes; a larger one is a file meanwhile."""

WAIT_SECONDS = 5.0
"""How long they wait: an exporter waits 10 seconds for its answer."""

BODY_SECONDS = 60.0
"""How long a body may take to arrive."""

_SLOWLY_READ = 8_000_000
"""Bytes of JSON that the slow reader takes, which knows all that Python writes."""


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
        self._receiving = Places(RECEIVED_AT_ONCE, RECEIVED_OF_KEY, "received", retry_after=5)
        self._reading = Places(AT_ONCE, OF_KEY, "read", retry_after=5)
        self._in_memory = asyncio.Semaphore(READ_AT_ONCE)

    @contextlib.asynccontextmanager
    async def read(self, body: Body, caller: Caller) -> AsyncIterator[Any]:
        """An export request, as JSON or in protobuf; it counts as being read until the block ends.

        Args:
            body: The request.
            caller: Who sends it.

        Raises:
            UploadRefused: It is too large or too slow, of another type, or cannot be read; or there
                is too much to do.
            InputError: It is no export request.
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
                async with self._reading.taken(caller, WAIT_SECONDS), self._in_memory:
                    yield await asyncio.to_thread(self._parsed, held, kind, is_packed)

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

    def _too_large(self, most: int | None = None) -> UploadRefused:
        words = f"An export request may have {self._most:,} bytes, packed and unpacked."
        if most is not None and most < self._most:
            words = f"An export request that is packed like this one may unpack to {most:,} bytes."
        return UploadRefused(413, "body-too-large", words, {"Connection": "close"})

    def _parsed(self, held: SpooledTemporaryFile[bytes], kind: str, is_packed: bool) -> Any:
        held.seek(0)
        body = held.read()
        if is_packed:
            body = self._unpacked(body)
        if kind == PROTOBUF:
            return body
        try:
            found = _json(body)
        except TooManyValues as error:
            words = f"The body cannot be read: {error}."
            raise UploadRefused(413, "body-too-large", words) from None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise UploadRefused(400, "bad-request", "The body is no JSON object.")
        return found

    def _unpacked(self, body: bytes) -> bytes:
        """A gzipped body unpacked, as far as it may be."""
        packed = zlib.decompressobj(wbits=31)
        most = min(self._most, most_unpacked(len(body)))
        try:
            found = packed.decompress(body, most + 1)
        except zlib.error:
            found = b""
        if len(found) > most:
            raise self._too_large(most)
        if not packed.eof or packed.unused_data:
            words = "Content-Encoding says gzip, and the body is not one whole gzip stream."
            raise UploadRefused(400, "bad-request", words)
        return found


def _json(body: bytes) -> Any:
    """Read JSON without holding up other requests for long.

    Raises:
        TooManyValues: It holds too many values.
        ValueError: It is no JSON.
    """
    import jiter

    check_values(body)
    try:
        return jiter.from_json(body, cache_mode="keys")
    except ValueError:
        if len(body) > _SLOWLY_READ:
            raise
        return json.loads(body)


def export_answer(found: Received, kind: str) -> bytes:
    """An ExportTraceServiceResponse; spans that were not taken are a partial success.

    Args:
        found: What became of the spans.
        kind: The media type of the request, which is that of its answer.
    """
    from google.protobuf.json_format import MessageToJson
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    response = ExportTraceServiceResponse()
    if found.rejected:
        response.partial_success.rejected_spans = found.rejected
        response.partial_success.error_message = found.message
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
        if scope["type"] == "http" and scope["path"] == PATH:
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
