"""A server on loopback that answers each request as a script says: also with faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Step = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class ScriptedService:
    """What was asked, and how the next requests are answered; the last step stays.

    Attributes:
        steps: One for each request.
        asked: The requests.
        url: The address.
    """

    steps: list[Step]
    asked: list[Asked] = field(default_factory=list)
    url: str = ""


def answer(status: int, body: Any = None, kind: str = "application/json", **headers: str) -> Step:
    """Answer with a status and JSON, or bytes as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return step


def problem(status: int, kind: str, detail: str, **more: Any) -> Step:
    """Answer with a problem; what begins with a capital is a header."""
    headers = {name: str(value) for name, value in more.items() if name[0].isupper()}
    fields = {name: value for name, value in more.items() if name not in headers}
    body = {"type": f"urn:veritrail:problem:{kind}", "status": status, "detail": detail, **fields}
    return answer(status, body, "application/problem+json", **headers)


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True


def events(*told: tuple[int, str, Any], tail: bytes = b"") -> Step:
    """A stream of events that then breaks off."""

    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for number, kind, data in told:
            text = f"id: {number}\nevent: {kind}\ndata: {json.dumps(data)}\n\n"
            handler.wfile.write(text.encode())
        handler.wfile.write(tail)
        handler.close_connection = True

    return step


@contextmanager
def scripted(*steps: Step) -> Iterator[ScriptedService]:
    """The server, until the end of the block."""
    service = ScriptedService(list(steps))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            service.asked.append(
                Asked(self.command, self.path, {k.lower(): v for k, v in self.headers.items()},
                      self._body())
            )  # fmt: skip
            step = service.steps.pop(0) if len(service.steps) > 1 else service.steps[0]
            step(self)

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_words: Any) -> None:
            """Nothing is written down."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
