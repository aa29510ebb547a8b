"""The supervisor's side of the control channel: one JSON line asks, one JSON line answers.

A lease is an open connection, so a command that is killed gives it back like one that ends. The
channel is loopback TCP: a Unix socket's path is limited to about 100 bytes, which a folder of
the user's choice may exceed. The token, in a file of mode 0600, keeps other users out.
"""

from __future__ import annotations

import hmac
import json
import socketserver
import threading
from collections.abc import Callable, Mapping
from typing import Any

from veritrail_graph.graph.embedded.lifetime import Lifetime

Reply = dict[str, object]
_LONGEST_REQUEST = 4096


class ControlServer(socketserver.ThreadingTCPServer):
    """Answers commands; each connection has a thread, which a lease keeps for its life."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(
        self,
        token: str,
        lifetime: Lifetime,
        describe: Callable[[], Reply | None],
        stop: threading.Event,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.token = token
        self.lifetime = lifetime
        self.describe = describe
        self.stop = stop
        self.settled = threading.Event()
        self.failure: str | None = None

    @property
    def port(self) -> int:
        """The port of the control channel."""
        return int(self.server_address[1])

    def settle(self, failure: str | None = None) -> None:
        """Let waiting commands go on: the engine is ready, or will not be."""
        self.failure = failure
        self.settled.set()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a command that is gone before its answer is no error."""


class _Connection(socketserver.StreamRequestHandler):
    server: ControlServer

    def handle(self) -> None:
        request = _parse(self.rfile.readline(_LONGEST_REQUEST))
        token = request.get("token")
        if not isinstance(token, str) or not hmac.compare_digest(token, self.server.token):
            return
        match request.get("op"):
            case "status":
                self._answer(self.server.describe())
            case "stop":
                self.server.stop.set()
                self._answer({})
                self.rfile.read()  # the connection ends with the supervisor
            case "lease":
                self._lease(float(request["idle_seconds"]), pin=bool(request.get("pin")))

    def _lease(self, idle_seconds: float, *, pin: bool) -> None:
        with self.server.lifetime.lease(idle_seconds) as granted:
            if not granted:
                return
            self.server.settled.wait()
            if self.server.failure is not None:
                self._answer({"failure": self.server.failure})
                return
            if pin:
                self.server.lifetime.pinned = True
            else:
                reply = self.server.describe()
                self._answer(reply)
                if reply is not None:
                    self.rfile.read()  # until the command ends, whatever way
        if pin:  # answered without the lease, which would count as a client
            self._answer(self.server.describe())

    def _answer(self, reply: Reply | None) -> None:
        if reply is None:  # the engine is gone, and so is this supervisor in a moment
            return
        self.wfile.write(json.dumps(reply).encode("utf-8") + b"\n")


def _parse(line: bytes) -> Mapping[str, Any]:
    try:
        request = json.loads(line)
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}
