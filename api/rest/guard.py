"""What every request passes before it is looked at: host, key, rate, and the size of its body."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.rest import bodies
from api.rest.problems import problem, told
from api.service.keys import PREFIX
from api.service.rates import Rates
from api.service.ring import ENVIRONMENT, Admitted, KeyNeeded, KeyRing, Unauthorized
from graph.errors import EngineUnavailable

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json", "/docs", "/docs/style.css"})
"""Answered without a key: health for whoever watches over the process and has none, and the
description, which a browser cannot show a key for and which tells of no data."""

HEADER_BYTES = 32_000
"""The most that the address of a request and its headers may have together."""

FAILED_PER_MINUTE = 30
"""Keys that do not open, shown from one address."""

MOST_PER_MINUTE = 1_000_000
"""Where no key says less: as good as no limit."""

_log = logging.getLogger("veritrail.requests")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "via")
_KEY_NAMES = frozenset(
    {"key", "api_key", "apikey", "api-key", "x-api-key", "access_token", "token", "authorization"}
)
_LOOKS_LIKE_A_KEY = re.compile(rf"\b{PREFIX}_[a-z2-7]{{8}}_")


@dataclass(frozen=True, slots=True)
class Rules:
    """What the guard goes by.

    Attributes:
        per_minute: Requests a minute of a key that does not say; None: no limit.
        origins: Origins of pages that may ask through a browser.
        body_seconds: How long a plain body may take to arrive.
    """

    per_minute: int | None = None
    origins: frozenset[str] = frozenset()
    body_seconds: float = 20.0


class Guard:
    """Refuses whoever may not ask, asks too often, or sends too much.

    Args:
        app: What it guards.
        ring: The keys that open.
        rules: What else it goes by.
    """

    def __init__(self, app: ASGIApp, ring: KeyRing, rules: Rules) -> None:
        self._app = app
        self._ring = ring
        self._rules = rules
        self._asked = Rates()
        self._failed = Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = await self._refusal(scope, headers)
        if refusal is None and bodies.is_upload(scope):
            upload = bodies.Upload(headers, receive, send)
            receive, send = upload.receive, upload.send
        elif refusal is None:
            read = await self._read(headers, receive)
            if isinstance(read, Response):
                refusal = read
            else:
                receive = bodies.again(read, receive)
        is_read = refusal is None or "connection" in refusal.headers
        if refusal is not None and not is_read and not await bodies.dropped(headers, receive):
            refusal.headers["Connection"] = "close"
        await (refusal or self._app)(scope, receive, send)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | Response:
        """The body of a request, or why it is refused."""
        seconds = self._rules.body_seconds
        try:
            return await bodies.whole(headers, receive, seconds)
        except bodies.TooLarge:
            words = f"The body is larger than {bodies.MAX_BODY:,} bytes."
            return problem(413, "body-too-large", words)
        except bodies.TooSlow:
            words = f"The body did not arrive within {seconds:g} seconds."
            return problem(408, "request-timeout", words, headers={"Connection": "close"})

    async def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Why a request is not let in; None: it is."""
        if _header_bytes(scope) > HEADER_BYTES:
            return problem(431, "headers-too-large", "The address and headers are too large.")
        if "transfer-encoding" in headers and "content-length" in headers:
            # Two servers in a row could take different parts of it for the body.
            return problem(400, "bad-request", "A body has one length: chunks, or Content-Length.")
        if _holds_key(scope["query_string"]):
            return problem(400, "key-in-address", _KEY_IN_ADDRESS)
        if scope["path"] in OPEN_PATHS:
            return None
        try:
            if not await self._ring.asks() and (words := _stranger(scope, headers, self._rules)):
                return problem(421, "wrong-host", words)
            admitted = await self._admitted(scope, headers)
        except EngineUnavailable as error:
            fields = {"error": str(error), "request_id": scope["state"].get("request_id")}
            _log.warning("engine", extra={"fields": fields})
            return told(error)
        except Unauthorized as error:
            return self._refused(scope, error)
        if isinstance(admitted, Response):
            return admitted
        scope["state"]["caller"] = admitted.caller
        return self._too_often(admitted)

    async def _admitted(self, scope: Scope, headers: Headers) -> Admitted | Response:
        """Who asks.

        Raises:
            Unauthorized: No key, or one that does not open.
            EngineUnavailable: The database cannot be reached.
        """
        given = headers.getlist("authorization")
        scheme, _, shown = given[0].strip().partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not shown.strip():
            return await self._ring.admit(None)
        # A key of ours cannot be guessed, so it opens whatever others at this address (such as a
        # proxy's) tried; the one from outside was thought of by a person.
        is_ours = _LOOKS_LIKE_A_KEY.match(shown.strip()) is not None
        wait = self._failed.wait(_address(scope), FAILED_PER_MINUTE)
        if wait is not None and not is_ours:
            return _come_again(wait, "Too many keys that do not open came from this address.")
        if self._ring.opens_outside(shown.strip()):
            return Admitted(ENVIRONMENT)
        return await self._ring.admit(shown.strip())

    def _refused(self, scope: Scope, error: Unauthorized) -> Response:
        wait = None
        if not isinstance(error, KeyNeeded):
            wait = self._failed.take(_address(scope), FAILED_PER_MINUTE)
        if wait is not None:
            return _come_again(wait, "Too many keys that do not open came from this address.")
        return problem(401, "unauthorized", str(error), headers={"WWW-Authenticate": "Bearer"})

    def _too_often(self, admitted: Admitted) -> Response | None:
        most = admitted.per_minute or self._rules.per_minute
        if most is None:
            return None
        wait = self._asked.take(admitted.caller.key_id or "local", min(most, MOST_PER_MINUTE))
        if wait is None:
            return None
        return _come_again(wait, f"This key may ask {most:,} times a minute.")


_KEY_IN_ADDRESS = (
    "A key never goes into the address: addresses stand in logs. Send it as `Authorization: "
    "Bearer KEY`; if this one opens anything, revoke it."
)


def _header_bytes(scope: Scope) -> int:
    """What the headers and the address take; whatever came in one piece is not counted before."""
    headers = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return headers + len(scope.get("raw_path") or b"") + len(scope["query_string"])


def _come_again(wait: int, words: str) -> Response:
    headers = {"Retry-After": str(wait)}
    return problem(429, "too-many-requests", f"{words} Try again in {wait} s.", headers=headers)


def _address(scope: Scope) -> str:
    """Where a request comes from; all addresses of one IPv6 network count as one."""
    address = str((scope.get("client") or ("unknown", 0))[0])
    return ":".join(address.split(":")[:4]) if address.count(":") > 1 else address


def _holds_key(query: bytes) -> bool:
    """Whether somebody put a key behind the question mark."""
    text = query.decode("latin-1")
    if _LOOKS_LIKE_A_KEY.search(text):
        return True
    return any(name.lower() in _KEY_NAMES for name, _ in parse_qsl(text, keep_blank_values=True))


def _stranger(scope: Scope, headers: Headers, rules: Rules) -> str | None:
    """Why a request without a key does not come from this machine; None: nothing says so."""
    if _name(headers.get("host", "")) not in LOCAL_NAMES:
        # A stranger's page may give this machine a name and ask through a browser.
        return "Without a key this service answers to localhost only."
    if any(name in headers for name in _FORWARDED):
        return (
            "This request came through a proxy. Whoever can reach the proxy could do everything: "
            "make a key first, with `veritrail keys create`."
        )
    if scope["method"] not in ("GET", "HEAD") and _crosses(headers, rules.origins):
        return "Without a key this service does nothing that the page of another site asks for."
    return None


def _crosses(headers: Mapping[str, str], origins: frozenset[str]) -> bool:
    """Whether a page of another origin sent this: browsers say so, and pages cannot unsay it."""
    origin = headers.get("origin")
    if origin is not None and origin in origins:
        return False
    if origin is not None and urlsplit(origin).netloc != headers.get("host"):
        return True
    return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()
