"""Check every request before it is looked at: host, key, rate, and the size of its body."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from veritrail_graph.api.auth.key_cache import Admitted, KeyCache, Unauthorized
from veritrail_graph.api.auth.sessions import Sessions
from veritrail_graph.api.auth.shares import Shares
from veritrail_graph.api.service.http import bodies
from veritrail_graph.api.service.http.attempts import (
    LOOKS_LIKE_A_KEY,
    Attempts,
    Rates,
    TooManyAttempts,
)
from veritrail_graph.api.service.http.problems import AdviceAt, answer_of, problem
from veritrail_graph.graph.errors import EngineError

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

OPEN_PATHS = frozenset(
    {
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/docs",
        "/docs/swagger-ui-bundle.js",
        "/docs/swagger-ui.css",
        "/docs/favicon.png",
        "/sign-in",
        "/favicon.ico",
    }
)
"""Answered without a key: health for monitors that have none, the
description, which a browser cannot show a key for and which tells of no data, and where a key is
shown once."""

OPEN_FOLDER = "/static/"
"""Style sheets, scripts and icons."""

SHARED_FOLDER = "/shared/"
"""Links that show one process."""

MCP_PATH = "/mcp"
"""Where assistants ask; pages of other sites never may, with a key or without one."""

COOKIE = "veritrail_session"
SHARE_COOKIE = "veritrail_share"

SAFE_METHODS = ("GET", "HEAD")

HEADER_BYTES = 32_000
"""The most that the address of a request and its headers may have together."""

MOST_PER_MINUTE = 1_000_000
"""Where no key says less: as good as no limit."""

_log = logging.getLogger("veritrail.requests")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "via")
_KEY_NAMES = frozenset(
    {"key", "api_key", "apikey", "api-key", "x-api-key", "access_token", "token", "authorization"}
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of the guard.

    Attributes:
        per_minute: Requests a minute of a key that does not say; None: no limit.
        origins: Origins of pages that may ask through a browser.
        body_seconds: How long a plain body may take to arrive.
        upload_seconds: How long an upload may take.
    """

    per_minute: int | None = None
    origins: frozenset[str] = frozenset()
    body_seconds: float = 20.0
    upload_seconds: float = bodies.UPLOAD_SECONDS


class Guard:
    """Refuses callers that may not ask, ask too often, or send too much.

    Args:
        app: What it guards.
        ring: The keys that open.
        attempts: Looks at keys that are shown.
        sessions: What cookies stand for.
        shares: Links that show one process.
        rules: What else it goes by.
        advice_at: Chooses the advice of the door that the caller uses.
    """

    def __init__(
        self,
        app: ASGIApp,
        ring: KeyCache,
        attempts: Attempts,
        sessions: Sessions,
        shares: Shares,
        rules: Rules,
        advice_at: AdviceAt,
    ) -> None:
        self._app = app
        self._ring = ring
        self._attempts = attempts
        self._sessions = sessions
        self._shares = shares
        self._rules = rules
        self._advice_at = advice_at
        self._asked = Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = await self._refusal(scope, headers)
        if refusal is None and bodies.is_upload(scope):
            upload = bodies.Upload(headers, receive, send, self._rules.upload_seconds)
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
        """Return why a request is not let in; None: it is."""
        if _header_bytes(scope) > HEADER_BYTES:
            return problem(431, "headers-too-large", "The address and headers are too large.")
        if "transfer-encoding" in headers and "content-length" in headers:
            # Two servers in a row could take different parts of it for the body.
            return problem(400, "bad-request", "A body has one length: chunks, or Content-Length.")
        if _holds_key(scope["query_string"]):
            return problem(400, "key-in-address", _KEY_IN_ADDRESS)
        if scope["path"] in OPEN_PATHS or scope["path"].startswith((OPEN_FOLDER, SHARED_FOLDER)):
            return None
        if scope["path"] == MCP_PATH and crosses(headers, self._rules.origins):
            return problem(403, "cross-origin", "A page from elsewhere may not ask this.")
        try:
            if not await self._ring.asks() and (words := _stranger(scope, headers, self._rules)):
                return problem(421, "wrong-host", words)
            admitted = await self._admitted(scope, headers)
        except EngineError as error:
            fields = {"error": str(error), "request_id": scope["state"].get("request_id")}
            _log.warning("engine", extra={"fields": fields})
            return answer_of(error, self._advice_at(scope["path"], headers))
        except TooManyAttempts as error:
            return come_again(error.wait, str(error))
        except Unauthorized as error:
            scheme = {"WWW-Authenticate": "Bearer"}
            return problem(401, "unauthorized", str(error), headers=scheme)
        if isinstance(admitted, Response):
            return admitted
        scope["state"]["caller"] = admitted.caller
        return self._too_often(admitted)

    async def _admitted(self, scope: Scope, headers: Headers) -> Admitted | Response:
        """Return who asks; a key in the headers counts before a cookie.

        Raises:
            Unauthorized: No key, or one that does not open.
            TooManyAttempts: Too many such keys came from this address.
            EngineUnavailable: The database cannot be reached.
        """
        given = headers.getlist("authorization")
        scheme, _, shown = given[0].strip().partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() == "bearer" and shown.strip():
            scope["state"]["form_secret"] = shown.strip().encode("utf-8", "surrogateescape")
            return await self._attempts.admit(scope, shown.strip())
        token = None if given else cookie_of(headers)
        session = await self._sessions.admit(token) if token is not None else None
        if token is None or session is None:
            guest = None if given else await self._guest(scope, headers)
            return guest or await self._ring.admit(None)
        scope["state"]["session"] = token
        scope["state"]["form_secret"] = token.encode()
        return self._misused(scope, headers) or session

    async def _guest(self, scope: Scope, headers: Headers) -> Admitted | None:
        """Return who comes with a link, where it shows what is asked for; None: there is none."""
        token = cookie_of(headers, SHARE_COOKIE)
        if token is None or scope["method"] not in SAFE_METHODS or not await self._ring.asks():
            return None
        link = await self._shares.admit(token)
        if link is None:
            return None
        place = f"/processes/{link.process_id}"
        is_shown = scope["path"] in ("/", place) or scope["path"].startswith(f"{place}/")
        return Admitted(link.guest) if is_shown else None

    def _misused(self, scope: Scope, headers: Headers) -> Response | None:
        """Return why a cookie does not open this; a browser sends it from any page."""
        if scope["method"] in SAFE_METHODS:
            return None
        if crosses(headers, frozenset()):
            return problem(403, "cross-origin", "A page from elsewhere may not send this.")
        if scope["path"] == MCP_PATH or scope["path"].startswith("/v1/"):
            words = "The session of the page only reads here; send a key to change something."
            return problem(403, "not-allowed", words)
        return None

    def _too_often(self, admitted: Admitted) -> Response | None:
        most = admitted.per_minute or self._rules.per_minute
        if most is None:
            return None
        wait = self._asked.take(admitted.caller.key_id or "local", min(most, MOST_PER_MINUTE))
        if wait is None:
            return None
        return come_again(wait, f"This key may ask {most:,} times a minute.")


_KEY_IN_ADDRESS = (
    "Never put a key into the address: logs keep addresses. Send it as `Authorization: "
    "Bearer KEY`; if this one opens anything, revoke it."
)


def _header_bytes(scope: Scope) -> int:
    """Return what the headers and the address take.

    Whatever came in one piece is not counted before.
    """
    headers = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return headers + len(scope.get("raw_path") or b"") + len(scope["query_string"])


def come_again(wait: int, words: str) -> Response:
    """The answer to a caller that asks too often."""
    headers = {"Retry-After": str(wait)}
    return problem(429, "too-many-requests", f"{words} Try again in {wait} s.", headers=headers)


def _holds_key(query: bytes) -> bool:
    """Return whether somebody put a key behind the question mark."""
    text = query.decode("latin-1")
    if LOOKS_LIKE_A_KEY.search(text):
        return True
    return any(name.lower() in _KEY_NAMES for name, _ in parse_qsl(text, keep_blank_values=True))


def _stranger(scope: Scope, headers: Headers, rules: Rules) -> str | None:
    """Return why a request without a key does not come from this machine; None: nothing says so."""
    if _name(headers.get("host", "")) not in LOCAL_NAMES:
        # A stranger's page may give this machine a name and ask through a browser.
        return "Without a key this service answers to localhost only."
    if any(name in headers for name in _FORWARDED):
        return (
            "This request came through a proxy. Every client of the proxy could do everything: "
            "make a key first, with `veritrail keys create`."
        )
    if scope["method"] not in SAFE_METHODS and crosses(headers, rules.origins):
        return "Without a key this service does nothing that the page of another site asks for."
    return None


def crosses(headers: Mapping[str, str], origins: frozenset[str]) -> bool:
    """Return whether a page of another origin sent this.

    Browsers say so, and pages cannot unsay it.
    """
    origin = headers.get("origin")
    if origin is not None and origin in origins:
        return False
    if origin is not None and netloc(origin) != headers.get("host"):
        return True
    return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def netloc(address: str) -> str | None:
    """The host and port of an address; None: it is none."""
    try:
        return urlsplit(address).netloc
    except ValueError:  # such as `http://[`
        return None


def cookie_of(headers: Headers, named: str = COOKIE) -> str | None:
    """The cookie of a session, if one was sent; several of that name are none."""
    found = [
        value
        for header in headers.getlist("cookie")
        for name, value in (one.strip().partition("=")[::2] for one in header.split(";"))
        if name == named
    ]
    return found[0] if len(found) == 1 and found[0].isascii() else None


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()
