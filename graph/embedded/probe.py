"""A first word over Bolt: does the engine answer, take the password, and hold the database?

A few bytes by hand instead of the driver, which would cost the supervisor 40 MB of memory for one
question at the start.
"""

from __future__ import annotations

import socket
import struct

_HANDSHAKE = bytes.fromhex("6060b01700000404000003040000000400000000")
_HELLO, _RUN, _SUCCESS = 0x01, 0x10, 0x70


def bolt_refusal(port: int, username: str, password: str, database: str) -> str | None:
    """Return why the engine refuses a login and a query, or None when it accepts both.

    Raises:
        OSError: Nothing answers on the port, or it stops answering.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(_HANDSHAKE)
        if _read(connection, 4) == bytes(4):
            return "no common version of the Bolt protocol"
        login = {
            "user_agent": "veritrail-supervisor/1",
            "scheme": "basic",
            "principal": username,
            "credentials": password,
        }
        hello = bytes((0xB1, _HELLO)) + _map(login)
        run = bytes((0xB3, _RUN)) + _text("RETURN 1") + _map({}) + _map({"db": database})
        for message in (hello, run):
            connection.sendall(struct.pack(">H", len(message)) + message + bytes(2))
            answer = _message(connection)
            if answer[1] != _SUCCESS:
                return answer[2:].decode("utf-8", "replace")
    return None


def _text(value: str) -> bytes:
    encoded = value.encode("utf-8")
    return b"\xd0" + bytes((len(encoded),)) + encoded


def _map(entries: dict[str, str]) -> bytes:
    pairs = b"".join(_text(key) + _text(value) for key, value in entries.items())
    return bytes((0xA0 + len(entries),)) + pairs


def _message(connection: socket.socket) -> bytes:
    message = b""
    while (size := struct.unpack(">H", _read(connection, 2))[0]) or not message:
        message += _read(connection, size)
    return message


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        if not (part := connection.recv(size - len(data))):
            raise ConnectionResetError("the engine closed the connection")
        data += part
    return data
