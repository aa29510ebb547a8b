"""A receiver of webhooks on this machine: keeps what comes, and answers as it is told."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass(frozen=True)
class Received:
    """A request."""

    headers: dict[str, str]
    body: str


class Receiver:
    """Answers with the statuses it has left, then with 204.

    Attributes:
        received: What came, in order.
        statuses: Those of the next answers.
        trickling: So many of the next answers trickle in and never end.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.trickling = 0
        self.statuses: list[int] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.received.append(Received(dict(self.headers), body))
                if outer.trickling > 0:
                    outer.trickling -= 1
                    self.trickle()
                    return
                self.send_response(outer.statuses.pop(0) if outer.statuses else 204)
                self.send_header("Location", outer.url)
                self.end_headers()

            def trickle(self) -> None:
                """Send a header that does not end, until the sender has gone."""
                with suppress(OSError):
                    self.wfile.write(b"HTTP/1.1 204 No Content\r\nX-Slow: ")
                    while True:
                        self.wfile.write(b"x")
                        time.sleep(0.02)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?token=hidden"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
