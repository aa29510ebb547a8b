"""Who is writing a process, and whether they are still there."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime

import psutil

STALE_SECONDS = 60.0
"""A writer on another host without a sign of life for so long is taken for dead."""


def this_writer() -> str:
    """Who is writing: host, process and when that process began."""
    started = psutil.Process().create_time()
    return f"{socket.gethostname()}/{os.getpid()}/{started:.0f}"


def is_alive(owner: str | None, beat: str | None) -> bool:
    """Whether a writer, by its name and its last sign of life, is still at work."""
    if not owner or not beat:
        return False
    host, pid, started = owner.rsplit("/", 2)
    if host != socket.gethostname():  # nothing but its signs of life can be seen from here
        age = datetime.now(UTC) - datetime.fromisoformat(beat)
        return age.total_seconds() <= STALE_SECONDS
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) < 2
    except psutil.NoSuchProcess:
        return False
