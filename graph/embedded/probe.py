"""Asks the engine whether it answers, takes the password and opens the database.

It says the few words of Bolt 4.4 that this takes itself: loading the driver takes as long as half
a start and 70 MB of memory, which the supervisor would keep as long as the engine runs.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from veritrail_graph import cypher

HANDSHAKE = bytes.fromhex("6060b017 00000404 00000304 00000004 00000000")
"""The magic number of Bolt and the versions 4.4, 4.3 and 4.0, as every server understands them."""

_PAUSE_SECONDS = 0.05
_HELLO, _RUN, _PULL = 0x01, 0x10, 0x3F
_SUCCESS, _RECORD = 0x70, 0x71
_Value = str | int | Mapping[str, "_Value"]


@dataclass(frozen=True, slots=True)
class Login:
    """The address of an engine on this machine, with a user's name and password."""

    port: int
    username: str
    password: str
    database: str


def refusal(login: Login, seconds: float, is_alive: Callable[[], bool]) -> str | None:
    """Return why the engine refuses a login and a query until the time is over; None if it works.

    Bolt listens a moment before a new database is there, so a refusal is tried again.

    Args:
        login: Where it listens.
        seconds: How long it is asked again.
        is_alive: Whether it still runs; one that has ended is not asked again.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            said = _said(login, max(_PAUSE_SECONDS, deadline - time.monotonic()))
        except (OSError, ValueError) as error:
            said = f"it does not answer as Bolt does: {error}"
        if said is None or time.monotonic() > deadline or not is_alive():
            return said
        time.sleep(_PAUSE_SECONDS)


def _said(login: Login, seconds: float) -> str | None:
    with socket.create_connection(("127.0.0.1", login.port), timeout=seconds) as line:
        line.sendall(HANDSHAKE)
        if not any(_read(line, 4)):
            raise ValueError("it speaks another version")
        hello: dict[str, _Value] = {
            "user_agent": "veritrail-start",
            "scheme": "basic",
            "principal": login.username,
            "credentials": login.password,
        }
        where: dict[str, _Value] = {"db": login.database, "mode": "r"}
        statement = cypher.load("meta/schema_state").text
        for message in (
            _message(_HELLO, hello),
            _message(_RUN, statement, {}, where),
            _message(_PULL, {"n": -1}),
        ):
            line.sendall(message)
            tag, rest = _answer(line)
            while tag == _RECORD:
                tag, rest = _answer(line)
            if tag != _SUCCESS:
                return _words(rest)
    return None


def _message(tag: int, *values: _Value) -> bytes:
    content = bytes([0xB0 + len(values), tag]) + b"".join(map(_packed, values))
    return struct.pack(">H", len(content)) + content + b"\0\0"


def _packed(value: _Value) -> bytes:
    """A value as Bolt packs it: text, a number below 128, or a map of up to 15 entries."""
    if isinstance(value, int):
        return struct.pack("b", value)
    if isinstance(value, str):
        data = value.encode()
        return struct.pack(">BH", 0xD1, len(data)) + data
    entries = (_packed(key) + _packed(inner) for key, inner in value.items())
    return bytes([0xA0 + len(value)]) + b"".join(entries)


def _answer(line: socket.socket) -> tuple[int, bytes]:
    """Kind and content of the next message."""
    content = bytearray()
    while True:
        (size,) = struct.unpack(">H", _read(line, 2))
        if size:
            content += _read(line, size)
        elif content:  # what is empty only keeps the connection alive
            break
    if len(content) < 2:
        raise ValueError("a message is too short")
    return content[1], bytes(content[2:])


def _read(line: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        some = line.recv(size - len(data))
        if not some:
            raise ConnectionError("it ended the connection")
        data += some
    return bytes(data)


def _words(failure: bytes) -> str:
    """Return what a failure says: a map of texts, its message among them."""
    texts = []
    place = 1  # behind the mark of the map
    while place < len(failure):
        mark = failure[place]
        head = 1
        if mark in (0xD0, 0xD1, 0xD2):
            head += 1 << (mark - 0xD0)
            size = int.from_bytes(failure[place + 1 : place + head])
        elif 0x80 <= mark <= 0x8F:
            size = mark - 0x80
        else:
            break
        texts.append(failure[place + head : place + head + size].decode("utf-8", "replace"))
        place += head + size
    said = dict(zip(texts[::2], texts[1::2], strict=False))
    return said.get("message") or said.get("code") or "it refuses the login or the query"
