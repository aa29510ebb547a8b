"""The server around the application: what it listens on, how long it waits, how it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import h11
import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from veritrail_graph.api.service.http import request_id
from veritrail_graph.api.service.http.attempts import Peer
from veritrail_graph.api.service.http.problems import problem
from veritrail_graph.api.service.http.watch import SAFE_HEADERS
from veritrail_graph.api.threads import let_loops_run_soon, wait_for_no_threads
from veritrail_graph.graph.errors import InputError, VeriTrailError

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

HEADER_BYTES = 33_000
"""A request that is not complete after this many bytes is refused; the guard's limit is below."""

HEADER_SECONDS = 10.0
"""How long a connection may take to send them."""

CLOSING_SECONDS = 10
"""How long answers under way may go on when the service ends."""

UNREAD_SECONDS = 60.0
"""How long a client may take nothing of an answer before its connection is dropped."""

BACKLOG = 1_024
MOST_PORT = 65_535

_KINDS = {400: "bad-request", 408: "request-timeout", 431: "headers-too-large"}

_log = logging.getLogger("veritrail.requests")
_service = logging.getLogger("veritrail")


class Protocol(H11Protocol):
    """HTTP of a connection, which is closed when it asks for nothing, or for too much at once."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected and must say what is wanted."""
        super().connection_made(transport)
        self._asking = self.loop.call_later(HEADER_SECONDS, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection was lost."""
        self._asking.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Take what has come; a request that is not whole yet must be so in time."""
        super().handle_events()
        if self.conn.their_state is not h11.IDLE:
            self._asking.cancel()

    def on_response_complete(self) -> None:
        """An answer is whole; the next request has its own time."""
        super().on_response_complete()
        self._asking.cancel()
        self._asking = self.loop.call_later(HEADER_SECONDS, self._too_slow)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; too many headers get an answer of their own."""
        too_large = len(self.conn.trailing_data[0]) > HEADER_BYTES
        status = 431 if too_large else 400
        words = "The headers are too large." if too_large else msg
        self._refuse(status, words)

    def _too_slow(self) -> None:
        if self.transport.is_closing() or self.conn.their_state is not h11.IDLE:
            return
        if self.conn.trailing_data[0] and self.conn.our_state is h11.IDLE:
            self._refuse(408, "The request did not arrive in time.")
        else:
            self.transport.close()

    def _refuse(self, status: int, words: str) -> None:
        # The application is not asked: there is no request that it could be given.
        asked = request_id.taken_or_made(None)
        token = request_id.current.set(asked)
        refusal = problem(status, _KINDS[status], words)
        request_id.current.reset(token)
        headers = [
            *refusal.raw_headers,
            *SAFE_HEADERS,
            (request_id.HEADER.lower().encode(), asked.encode()),
            (b"connection", b"close"),
        ]
        fields = {"method": "unknown", "path": "unknown", "status": status, "request_id": asked}
        _log.info("request", extra={"fields": fields})
        reason = HTTPStatus(status).phrase.encode()
        answer = h11.Response(status_code=status, headers=headers, reason=reason)
        with suppress(h11.LocalProtocolError):  # an answer has begun: it ends before it is whole
            for event in (answer, h11.Data(data=bytes(refusal.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """Serves an application until it is stopped; then waiting callers get their answer at once.

    Args:
        app: The application.
        on_listening: Called with the address once it can be reached.
        proxies: Addresses of proxies whose headers count.
    """

    def __init__(
        self,
        app: FastAPI,
        on_listening: Callable[[str], None] | None = None,
        proxies: str = "127.0.0.1",
    ) -> None:
        config = uvicorn.Config(
            Peer(cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", app), proxies))),
            http=Protocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            h11_max_incomplete_event_size=HEADER_BYTES,
            timeout_graceful_shutdown=CLOSING_SECONDS,
            backlog=BACKLOG,
            proxy_headers=False,  # they are read behind `Peer`
        )
        super().__init__(config)
        self._app = app
        self._on_listening = on_listening or (lambda _url: None)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal to end: streams end now, other answers are finished."""
        closing = getattr(self._app.state, "closing", None)
        if closing is not None:
            closing.set()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and only then say where: a program that reads the line can connect."""
        wait_for_no_threads()
        let_loops_run_soon()
        await super().startup(sockets)
        if self.started:
            for one in sockets or ():
                host, port = one.getsockname()[:2]
                url = f"http://{shown(host)}:{port}"
                _service.info("Listening on %s", url, extra={"fields": {"url": url}})
                self._on_listening(url)

    def serve_on(self, listening: socket.socket) -> None:
        """Serve until SIGTERM, which is a regular end, or Ctrl-C.

        Raises:
            VeriTrailError: It could not start.
        """
        # The signal is raised once more when everything has ended, and would kill the process.
        signal.signal(signal.SIGTERM, lambda *_: None)
        with listening, suppress(SystemExit):  # so it ends when it could not start
            self.run(sockets=[listening])
        if not self.started:
            raise VeriTrailError("The service could not start; its log says why.")


def listen(host: str, port: int) -> socket.socket:
    """A socket for a server; port 0 takes any that is free.

    Raises:
        InputError: The address is not known here, or the port is taken or not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
    except OSError:
        raise InputError(f"--host {host!r} is no address of this machine") from None
    # Without the protocol asyncio leaves Nagle's algorithm on: every answer waits 40 ms.
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # inherited by every connection
            unread = int(UNREAD_SECONDS * 1_000)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unread)
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise InputError(
            f"Port {port} of {shown(host)} cannot be opened ({error.strerror}). Choose another: "
            f"--port {port + 1 if port < MOST_PORT else 0}"
        ) from None
    return listening


def shown(host: str) -> str:
    """A host as part of an address."""
    return f"[{host}]" if ":" in host else host
