"""A hub of models on loopback, as the client of huggingface.co asks it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """One repository, `owner/tiny`, with the files of a folder."""

    folder: Path
    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def files(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()
        )


@contextmanager
def model_hub(folder: Path) -> Iterator[Hub]:
    hub = Hub(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def answer(self, *, with_body: bool) -> None:
            hub.asked.append(f"{self.command} {self.path}")
            path = self.path.partition("?")[0]
            if path.startswith("/api/models/owner/tiny"):
                body = json.dumps(
                    {
                        "id": "owner/tiny",
                        "sha": COMMIT,
                        "siblings": [{"rfilename": name} for name in hub.files],
                    }
                ).encode()
                return self.send(200, body, {"Content-Type": "application/json"}, with_body)
            prefix = f"/owner/tiny/resolve/{COMMIT}/"
            name = path.removeprefix(prefix)
            if path.startswith(prefix) and name in hub.files:
                body = (hub.folder / name).read_bytes()
                tag = f'"{hashlib.sha256(body).hexdigest()}"'
                return self.send(200, body, {"ETag": tag, "X-Repo-Commit": COMMIT}, with_body)
            return self.send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, with_body)

        def send(self, status: int, body: bytes, headers: dict[str, str], with_body: bool) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
