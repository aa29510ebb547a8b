"""Servers that are no graph engine of ours: what somebody meets who got the address wrong."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def stranger(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server on a port of its own that calls `serve` with each connection."""
    listening = socket.create_server(("127.0.0.1", 0))
    open_ones: list[socket.socket] = []

    def one(connection: socket.socket) -> None:
        with suppress(OSError, ssl.SSLError):
            serve(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                open_ones.append(connection)
                threading.Thread(target=one, args=(connection,), daemon=True).start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        accepting.join(5)
        for connection in open_ones:
            connection.close()


def closes(connection: socket.socket) -> None:
    """As the proxy of a container does whose program is not there yet."""
    connection.close()


def web(connection: socket.socket) -> None:
    """As the browser's port does."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    connection.close()


def mail(connection: socket.socket) -> None:
    """As a server does that speaks first."""
    connection.sendall(b"220 mail.example ESMTP ready\r\n")
    connection.recv(4096)
    connection.close()


def old_bolt(connection: socket.socket) -> None:
    """As Neo4j 4.4 does, whose newest Bolt is 4.4."""
    connection.recv(20)
    connection.sendall(bytes((0, 0, 4, 4)))
    connection.recv(4096)
    connection.close()


def encrypted(folder: Path) -> Callable[[socket.socket], None] | None:
    """A server that speaks TLS alone, with a certificate that it made for itself."""
    if shutil.which("openssl") is None:
        return None
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def serve(connection: socket.socket) -> None:
        try:
            with context.wrap_socket(connection, server_side=True) as wrapped:
                wrapped.recv(4096)
        finally:
            connection.close()

    return serve
