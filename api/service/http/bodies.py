"""Bodies of requests: bounded in size and in time before anybody reads them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

MAX_BODY = 1_000_000
"""Bytes of a plain request."""

DRAINED = 64_000_000
"""Bytes of a refused body that are read and dropped, so that its sender gets to read why."""

DRAIN_SECONDS = 5.0

_UPLOADS = ("/v1/processes", "/v1/check", "/upload", "/v1/otlp/v1/traces", "/v1/otlp/v1/logs")

PIECE_SECONDS = 60.0
"""How long an upload may be silent."""

LEAST_RATE, SLOW_SECONDS = 10_000, 60.0
"""Bytes a second that an upload has at least, on the whole and beside its first seconds."""

UPLOAD_SECONDS = 3_600.0
"""How long an upload may take at the least; see `upload_seconds`."""


class TooLarge(Exception):
    """A body has more bytes than it may."""


class TooSlow(HTTPException):
    """A body did not arrive in time."""

    def __init__(self) -> None:
        super().__init__(408)


def upload_seconds(most: int) -> float:
    """Say how long an upload may take in all: an hour, or an hour for each GB that it may have."""
    return UPLOAD_SECONDS * max(1.0, most / 1e9)


def is_upload(scope: Scope) -> bool:
    """Return whether the body may be large, so that its route reads it piece by piece."""
    return scope["method"] == "POST" and scope["path"] in _UPLOADS


async def whole(headers: Headers, receive: Receive, seconds: float) -> bytes:
    """The body of a request.

    Args:
        headers: Its headers.
        receive: Gives it, piece by piece.
        seconds: How long it may take.

    Raises:
        TooLarge: It has too many bytes, or says so.
        TooSlow: It did not arrive in time.
        ClientDisconnect: The client has gone.
    """
    said = headers.get("content-length", "0")
    if said.isdigit() and int(said) > MAX_BODY:
        raise TooLarge
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    raise TooLarge
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise TooSlow from None


async def dropped(headers: Headers, receive: Receive) -> bool:
    """Read the body of a request that is refused; False: it does not end, so do not wait for it."""
    said = headers.get("content-length", "0")
    if "transfer-encoding" not in headers and (not said.isdigit() or int(said) > DRAINED):
        return False
    size = 0
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while size <= DRAINED:
                message = await receive()
                size += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return True
    except TimeoutError:
        return False
    return False


def again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read once more, then what comes after it."""
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


class Upload:
    """A body that its route reads piece by piece.

    Args:
        headers: The headers of its request.
        receive: Gives it.
        send: Takes the answer.
        seconds: How long it may take in all.
        clock: Seconds, never going back.
    """

    def __init__(
        self,
        headers: Headers,
        receive: Receive,
        send: Send,
        seconds: float = UPLOAD_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._headers = headers
        self._receive = receive
        self._send = send
        self._seconds = seconds
        self._clock = clock
        self._waited, self._size = 0.0, 0
        self._is_begun = self._is_over = False

    async def receive(self) -> Message:
        """The next piece; the wait is bounded, and so are all waits together.

        Only waits for the sender count, and not what is done with a piece, or a wait for a place.
        """
        if self._is_over:  # the caller now waits until the client disconnects
            return await self._receive()
        self._is_begun = True
        begun = self._clock()
        try:
            async with asyncio.timeout(self.patience):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow from None
        self._waited += self._clock() - begun
        self._size += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        return message

    @property
    def patience(self) -> float:
        """Seconds that the sender may take for the next piece."""
        earned = SLOW_SECONDS + self._size / LEAST_RATE
        return max(0.0, min(PIECE_SECONDS, min(earned, self._seconds) - self._waited))

    async def send(self, message: Message) -> None:
        """Answer; what was not read is dropped first, so that its sender gets to read why."""
        if message["type"] == "http.response.start" and not self._is_over:
            self._is_over = True
            # A client that waits for `100 Continue` has not sent anything.
            is_waiting = "expect" in self._headers and not self._is_begun
            if is_waiting or not await dropped(self._headers, self._receive):
                kept = [one for one in message.get("headers", ()) if one[0] != b"connection"]
                message = {**message, "headers": [*kept, (b"connection", b"close")]}
        await self._send(message)
