"""A TCP proxy between a store and its engine that cuts, delays, trickles and falls silent."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

# The message COMMIT of Bolt, in a chunk of its own: a structure without fields, its tag is 0x12.
COMMIT = b"\x00\x02\xb0\x12\x00\x00"
PIECE = 65_536


@dataclass
class Cut:
    """Ends the connection when a message goes by.

    Attributes:
        marker: What the client sends.
        number: At which one of them, from 1 on.
        is_answered: Whether the engine gets it, and only its answer is lost.
        times: How many in a row are cut.
    """

    marker: bytes = COMMIT
    number: int = 1
    is_answered: bool = False
    times: int = 1


@dataclass
class TcpProxy:
    """Passes bytes on, but for the faults that a test asks for.

    Attributes:
        cut: What ends a connection.
        delay: Seconds that each piece of an answer takes.
        piece: How many bytes of an answer go at a time.
        is_silent: Whether answers are kept back, while connections stay open.
        commits: How many COMMITs went by.
        cuts: How many connections were ended.
        sent: What clients sent, while it is kept (`keep`).
    """

    host: str
    target: int
    cut: Cut | None = None
    delay: float = 0.0
    piece: int = PIECE
    is_silent: bool = False
    commits: int = 0
    seen: int = 0
    cuts: int = 0
    keep: bool = False
    sent: bytearray = field(default_factory=bytearray)
    port: int = 0
    _closed: bool = False
    _listening: socket.socket | None = None
    _open: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def listen(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def heal(self) -> None:
        """Pass everything on as it is, from now on."""
        self.cut, self.delay, self.piece, self.is_silent = None, 0.0, PIECE, False

    def plan(self, cut: Cut) -> None:
        """Count from now on, and cut then."""
        with self._lock:
            self.cut, self.seen, self.cuts = cut, 0, 0

    def close(self) -> None:
        """Refuse new connections and end those that are open."""
        self._closed = True
        if self._listening is not None:
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
        for connection in self._open:
            _end(connection)

    def _accept(self) -> None:
        assert self._listening is not None
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(client)
            try:
                server = socket.create_connection((self.host, self.target))
            except OSError:
                _end(client)
                continue
            self._open.append(server)
            if self._closed:
                _end(client)
                _end(server)
                return
            for connection in (client, server):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = _Link(self, client, server)
            threading.Thread(target=link.up, daemon=True).start()
            threading.Thread(target=link.down, daemon=True).start()

    def count(self, data: bytes, fresh: int) -> bool:
        """Count what the last `fresh` bytes end; whether the connection is to be cut now."""
        with self._lock:
            if self.keep:
                self.sent += data[-fresh:]
            self.commits += _ending(data, fresh, COMMIT)
            if self.cut is None:
                return False
            found = _ending(data, fresh, self.cut.marker)
            before, self.seen = self.seen, self.seen + found
            is_due = any(
                self.cut.number <= number < self.cut.number + self.cut.times
                for number in range(before + 1, self.seen + 1)
            )
            self.cuts += is_due
            return is_due


@dataclass
class _Link:
    """One connection of a client, and ours to the engine for it."""

    proxy: TcpProxy
    client: socket.socket
    server: socket.socket
    lose_answer: bool = False

    def up(self) -> None:
        """From the client to the engine."""
        tail = b""
        with suppress(OSError):
            while piece := self.client.recv(PIECE):
                data = tail + piece
                if self.proxy.count(data, len(piece)):
                    if self.proxy.cut is None or not self.proxy.cut.is_answered:
                        break
                    self.lose_answer = True
                self.server.sendall(piece)
                tail = data[-200:]
        self._end()

    def down(self) -> None:
        """From the engine to the client."""
        with suppress(OSError):
            while piece := self.server.recv(PIECE):
                if self.lose_answer:
                    break
                while self.proxy.is_silent:
                    time.sleep(0.05)
                    if self.client.fileno() < 0:
                        break
                for start in range(0, len(piece), self.proxy.piece):
                    if self.proxy.delay:
                        time.sleep(self.proxy.delay)
                    self.client.sendall(piece[start : start + self.proxy.piece])
        self._end()

    def _end(self) -> None:
        for connection in (self.client, self.server):
            _end(connection)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def _ending(data: bytes, fresh: int, marker: bytes) -> int:
    """How often the marker ends among the last `fresh` bytes."""
    found, start = 0, max(0, len(data) - fresh - len(marker) + 1)
    while (at := data.find(marker, start)) >= 0:
        found, start = found + 1, at + len(marker)
    return found


@contextmanager
def tcp_proxy(uri: str) -> Iterator[TcpProxy]:
    """A proxy before an engine."""
    parts = urlsplit(uri)
    proxy = TcpProxy(parts.hostname or "127.0.0.1", parts.port or 7687)
    proxy.listen()
    try:
        yield proxy
    finally:
        proxy.heal()
        proxy.close()
