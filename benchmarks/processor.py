"""How much processor time a server on this machine has spent: what a busy machine cannot hide."""

from __future__ import annotations

from urllib.parse import urlsplit

import psutil


def server_process(uri: str) -> psutil.Process | None:
    """The process that listens there, where it can be seen."""
    address = urlsplit(uri)
    if address.hostname not in {"127.0.0.1", "localhost"}:
        return None
    try:
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN
            port = getattr(connection.laddr, "port", None)
            if listens and port == address.port and connection.pid:
                return psutil.Process(connection.pid)
    except psutil.AccessDenied:
        return None
    return None


def processor(server: psutil.Process | None) -> float:
    """Seconds of processor time that it has spent so far, user and system."""
    return sum(server.cpu_times()[:2]) if server else 0.0
