"""HTTP/1.1 on one connection of the scripted server, kept alive, one request at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fakes.model_faults import Fault
from fakes.model_replies import Reply

if TYPE_CHECKING:
    from fakes.model_server import ModelServer, Received

TRICKLES = 20


class Connection(asyncio.Protocol):
    """A client's connection."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.transport: asyncio.Transport | None = None
        self.buffer = b""
        self.current: Received | None = None
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(self)
        self.server.connections_made += 1

    def connection_lost(self, problem: Exception | None) -> None:
        self.server.connections.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        self._end(None)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self._next()

    def abort(self) -> None:
        """Drop the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def _next(self) -> None:
        """Take the next whole request, unless one is being answered."""
        while self.current is None:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {}
            for line in lines:
                name, _, value = line.partition(":")
                headers[name.strip().lower()] = value.strip()
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            self.buffer = rest[length:]
            method, path, _ = first.split(" ")
            self._handle(method, path, headers, rest[:length])

    def _handle(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> None:
        if path.partition("?")[0].removeprefix("/v1/").startswith(("files", "batches")):
            reply = self.server.files(method, path, headers, content)
            return self._write(reply) if reply is not None else self.abort()
        if method == "GET":
            return self._write(self.server.get(path))
        try:
            body: Any = json.loads(content)
        except ValueError:
            body = None
        taken = self.server.receive(path, headers, body)
        if isinstance(taken, Reply):
            return self._write(taken)
        self.current = taken
        self.server.begins()
        if delay := self.server.delay(taken):
            self.timer = asyncio.get_running_loop().call_later(delay, self._answer, taken)
            return None
        return self._answer(taken)

    def _answer(self, received: Received) -> None:
        """Answer, or do what the fault says in place of it."""
        match received.fault:
            case Fault.HANG:
                return
            case Fault.DROPPED:
                self.abort()
                return
        reply = self.server.reply(received)
        if received.fault is Fault.DROPPED_IN_BODY:
            assert self.transport is not None
            sent = reply.encode()
            self.transport.write(sent[: len(sent) - len(reply.body) // 2])
            self.transport.close()
            return
        if received.fault is Fault.SLOW_TRICKLE:
            self._trickle(reply, reply.encode())
            return
        self._write(reply)
        self._done(reply)

    def _trickle(self, reply: Reply, left: bytes) -> None:
        assert self.transport is not None
        size = len(reply.encode()) // TRICKLES + 1
        self.transport.write(left[:size])
        if len(left) <= size:
            self._done(reply)
            return
        wait = self.server.trickle_seconds / TRICKLES
        later = asyncio.get_running_loop().call_later
        self.timer = later(wait, self._trickle, reply, left[size:])

    def _done(self, reply: Reply) -> None:
        self._end(reply.status)
        if self.buffer:
            self._next()

    def _end(self, status: int | None) -> None:
        if self.current is not None:
            self.server.ends(self.current, status)
            self.current = None

    def _write(self, reply: Reply) -> None:
        assert self.transport is not None
        if not self.transport.is_closing():
            self.transport.write(reply.encode())
