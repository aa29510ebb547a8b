"""Bodies of requests: bounded in size and in time before anybody reads them."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope

MAX_BODY = 1_000_000
"""Bytes of a plain request."""

DRAINED = 64_000_000
"""Bytes of a refused body that are read and dropped, so that its sender gets to read why."""

DRAIN_SECONDS = 5.0

PIECE_SECONDS = 60.0
"""How long an upload may be silent."""


class TooLarge(Exception):
    """A body has more bytes than it may."""


class TooSlow(HTTPException):
    """A body did not arrive in time."""

    def __init__(self) -> None:
        super().__init__(408)


def is_upload(scope: Scope) -> bool:
    """Whether the body is a process file, which its route reads piece by piece."""
    return (scope["method"], scope["path"]) == ("POST", "/v1/processes")


async def whole(headers: Headers, receive: Receive, seconds: float) -> bytes:
    """The body of a request.

    Args:
        headers: Its headers.
        receive: Gives it, piece by piece.
        seconds: How long it may take.

    Raises:
        TooLarge: It has too many bytes, or says so.
        TooSlow: It did not arrive in time.
        ClientDisconnect: Nobody is there any more.
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


def impatient(receive: Receive) -> Receive:
    """Gives a body piece by piece, and does not wait for one for ever."""
    is_over = False

    async def next_message() -> Message:
        nonlocal is_over
        if is_over:  # whoever asks now waits for the client to go, which may take its time
            return await receive()
        try:
            async with asyncio.timeout(PIECE_SECONDS):
                message = await receive()
        except TimeoutError:
            raise TooSlow from None
        is_over = not message.get("more_body", False)
        return message

    return next_message
