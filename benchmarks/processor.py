"""Processor time and memory of a server on this machine: what a busy machine cannot hide."""

from __future__ import annotations

from pathlib import Path
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


def peak_mb(server: psutil.Process | None) -> float:
    """The largest resident memory that it had, or where the system does not say so, has now."""
    if server is None:
        return 0.0
    try:
        status = Path(f"/proc/{server.pid}/status").read_text()
    except OSError:
        return server.memory_info().rss / 1e6
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024 / 1e6
