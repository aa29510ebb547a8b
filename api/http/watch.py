"""The outermost layer: an id for every request, a line in the log, figures, headers that are safe.

What goes wrong without anybody having thought of it becomes a problem here, and its trace a line
of the log.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veritrail_graph.api.http import request_id
from veritrail_graph.api.http.metrics import Metrics
from veritrail_graph.api.http.problems import problem

GONE = 499
"""The status in the log of a request whose client did not wait for the answer."""

QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines: their lines are for `--log-level debug`."""

SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer that does not say something else itself."""

_log = logging.getLogger("veritrail.requests")


class Watch:
    """Sees every request come in and every answer go out.

    Args:
        app: What answers.
        metrics: Where requests are counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = request_id.taken_or_made(Headers(scope=scope).get(request_id.HEADER))
        scope.setdefault("state", {})["request_id"] = asked
        token = request_id.current.set(asked)
        answer = _Answer(send, asked)
        begun = time.perf_counter()
        self._metrics.begin()
        try:
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            answer.status = answer.status or GONE
        except Exception:  # noqa: BLE001  # told with its trace, and answered
            _log.exception("fault", extra={"fields": {"request_id": asked}})
            if answer.status is None:
                words = "A fault of the program; its log says more."
                await problem(500, "fault", words)(scope, receive, answer)
            # Else whoever listens sees the answer end before it is whole.
        finally:
            self._tell(scope, answer.status or GONE, time.perf_counter() - begun)
            request_id.current.reset(token)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        path = template(scope)
        self._metrics.end(scope["method"], path, status, seconds)
        caller = scope["state"].get("caller")
        fields = {
            "method": scope["method"],
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key_id": caller.key_id if caller is not None else None,
            "request_id": scope["state"]["request_id"],
        }
        if status in (401, 421, 429) and scope.get("client"):
            fields["address"] = scope["client"][0]
        level = logging.DEBUG if path in QUIET_PATHS and status < 500 else logging.INFO
        _log.log(level, "request", extra={"fields": fields})


class _Answer:
    """Sends what is answered on, with the headers that every answer has."""

    def __init__(self, send: Send, asked: str) -> None:
        self._send = send
        self._id = (request_id.HEADER.lower().encode(), asked.encode())
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*_with_safe(message.get("headers", ())), self._id]
        await self._send(message)


def _with_safe(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    names = {name.lower() for name, _ in given}
    return [*given, *(one for one in SAFE_HEADERS if one[0] not in names)]


def template(scope: Scope) -> str:
    """The path of the route that answers, with names for ids; a stranger's path is not told."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "unknown"
