"""The name of a process's writer, and whether it is still there."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import psutil

STALE_SECONDS = 60.0
"""A writer on another host without a sign of life for so long is taken for dead."""


def this_writer() -> str:
    """Return who is writing: host, which machine that is, process and when that process began."""
    started = psutil.Process().create_time()
    return f"{_host()}/{os.getpid()}/{started:.0f}"


def is_alive(owner: object, beat: object, patience: float = math.inf) -> bool:
    """Return whether a writer, by its name and its last sign of life, is still at work.

    A name or time that cannot be read counts as that of a dead writer.

    Args:
        owner: The name.
        beat: When the last sign of life was.
        patience: Seconds of silence after which a program of this machine is not at work any more,
            though it lives.
    """
    if not isinstance(owner, str) or not isinstance(beat, str):
        return False
    age, parts = seconds_since(beat), owner.rsplit("/", 2)
    if age is None or len(parts) < 3 or not parts[1].isdecimal() or not _is_number(parts[2]):
        return False
    host, pid, started = parts
    if not _is_here(host):  # nothing but its signs of life can be seen from here
        return age <= STALE_SECONDS
    if age > patience:
        return False
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) < 2
    except (psutil.Error, OverflowError):
        return False


def seconds_since(beat: str) -> float | None:
    """Return how long ago a sign of life was; None when it is no time."""
    try:
        time = datetime.fromisoformat(beat)
    except ValueError:
        return None
    return (datetime.now(UTC) - time).total_seconds() if time.tzinfo else None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _is_here(host: str) -> bool:
    """Return whether a writer's process number means a process of this machine."""
    name, _, machine = host.partition("#")
    # No machine: the system gives nothing to distinguish machines by.
    return name == socket.gethostname() and machine in {"", _machine()}


def _host() -> str:
    machine = _machine()
    return f"{socket.gethostname()}#{machine}" if machine else socket.gethostname()


@functools.cache
def _machine() -> str:
    """Distinguishes machines and containers of one name; empty where nothing does."""
    try:
        booted = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # Containers of one machine share that, and number their processes apart.
        processes = os.readlink("/proc/self/ns/pid")  # noqa: PTH115
    except OSError:
        return ""
    return hashlib.sha256(f"{booted} {processes}".encode()).hexdigest()[:12]
