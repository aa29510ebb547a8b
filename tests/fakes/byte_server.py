"""An HTTP server on loopback that answers every request with the bytes that a test gives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Server:
    """Answers every request with the same bytes, or with what a function makes of it."""

    reply: bytes | Callable[[dict[str, Any]], bytes]
    delay: float = 0.0
    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
                body = json.loads(await reader.readexactly(length))
                self.heads.append(head)
                self.bodies.append(body)
                await asyncio.sleep(self.delay)
                reply = self.reply if isinstance(self.reply, bytes) else self.reply(body)
                writer.write(reply)
                await writer.drain()
                if not reply:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(reply: Any, delay: float = 0.0) -> AsyncIterator[Server]:
    server = Server(reply, delay)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


def http(status: int, body: Any, *headers: str, kind: str = "application/json") -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Status", f"content-type: {kind}"]
    lines += [f"content-length: {len(content)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + content


def answer(content: Any = "Yes.", finish: str = "stop", **more: Any) -> bytes:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    return http(200, {"choices": [{"message": message, "finish_reason": finish}], **more})
