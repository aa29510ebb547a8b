"""What every request passes before it is looked at: the key, and the size of its body."""

from __future__ import annotations

import hashlib
import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.rest.problems import problem

MAX_BODY = 1_000_000
"""Bytes of a request; queries need few."""

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Answered without a key: whoever watches over the process has none."""

_SAFE = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """Refuses requests without the key and bodies that are too large; adds safe headers.

    Args:
        app: What it guards.
        key: The key that requests carry as `Authorization: Bearer KEY`; None: none is asked for.
    """

    def __init__(self, app: ASGIApp, key: str | None) -> None:
        self._app = app
        # Only a hash is kept, and two hashes of one length are compared in constant time.
        self._hash = hashlib.sha256(key.encode()).digest() if key else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_SAFE]
            await send(message)

        if self._hash is None and _name(headers.get("host", "")) not in LOCAL_NAMES:
            # A stranger's page may give this machine a name and ask through a browser.
            words = "Without a key this service answers to localhost only."
            await problem(421, "wrong-host", words)(scope, receive, send_safely)
            return
        if not self._may_pass(scope["path"], headers):
            asked = {"WWW-Authenticate": "Bearer"}
            words = "A key is needed: send it as `Authorization: Bearer KEY`."
            answer = problem(401, "unauthorized", words, headers=asked)
            await answer(scope, receive, send_safely)
            return
        body = await _body(headers, receive)
        if body is None:
            words = f"The body is larger than {MAX_BODY:,} bytes."
            await problem(413, "body-too-large", words)(scope, receive, send_safely)
            return
        await self._app(scope, _again(body, receive), send_safely)

    def _may_pass(self, path: str, headers: Headers) -> bool:
        if self._hash is None or path in OPEN_PATHS:
            return True
        scheme, _, key = headers.get("authorization", "").partition(" ")
        given = hashlib.sha256(key.strip().encode()).digest()
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._hash)


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()


async def _body(headers: Headers, receive: Receive) -> bytes | None:
    """The body of a request, or None when it is too large."""
    said = headers.get("content-length", "0")
    if said.isdigit() and int(said) > MAX_BODY:
        return None
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read once more, then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
