"""Settings and status of the embedded engine."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from veritrail_graph.graph.errors import InputError

MEBIBYTE = 1024 * 1024
USERNAME = "root"
DATABASE = "veritrail"

STATEMENT_SECONDS = 300.0
"""The engine ends a statement after this time, unless a query may take longer."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
_SECONDS = {None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_HEAP = re.compile(r"(\d+)([mg])")
_SMALLEST_HEAP = 128 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Status of the embedded engine; nothing is started to find it out.

    Attributes:
        clients: Commands that hold a lease now.
        idle_seconds_left: Time until the engine stops; None while it is in use or pinned.
        pid: Process id of the engine; `supervisor_pid` that of the process that owns it.
    """

    running: bool
    home: Path
    password_file: Path
    data_bytes: int
    version: str | None = None
    uri: str | None = None
    username: str = USERNAME
    database: str = DATABASE
    pid: int | None = None
    supervisor_pid: int | None = None
    pinned: bool = False
    clients: int = 0
    idle_seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings by which the embedded engine is started and stopped.

    Attributes:
        home: VERITRAIL_HOME; the engine lives in its folder `engine`.
        idle_seconds: The engine stops after this time without a client.
        heap: Upper bound of the engine's heap, such as `1g` or `512m`.
        start_timeout: Longest wait for a start, in seconds.
        statement_seconds: The engine ends a single statement after this time.
        stop_timeout: After this time a clean stop becomes a kill.
        min_free_memory: Bytes that must be available to start; None: half the heap and 128 MiB.
        min_free_disk: Bytes that must be free on the disk of `home` to start.
    """

    home: Path
    idle_seconds: float = 600.0
    heap: str = "1g"
    statement_seconds: float = STATEMENT_SECONDS
    start_timeout: float = 60.0
    stop_timeout: float = 20.0
    min_free_memory: int | None = None
    min_free_disk: int = 200 * MEBIBYTE

    def __post_init__(self) -> None:
        parse_heap(self.heap)
        if not (math.isfinite(self.idle_seconds) and self.idle_seconds > 0):
            raise InputError(
                f"VERITRAIL_DB_IDLE: {self.idle_seconds} seconds is not a time to wait; "
                "give a positive one such as 600, 30s or 10m"
            )

    @property
    def needed_memory(self) -> int:
        """Bytes of memory that must be available before a start."""
        if self.min_free_memory is not None:
            return self.min_free_memory
        return parse_heap(self.heap) // 2 + 128 * MEBIBYTE


def parse_duration(text: str, name: str = "duration") -> float:
    """Return the seconds of a duration such as `600`, `30s`, `10m` or `1h`."""
    match = _DURATION.fullmatch(text.strip().lower())
    if not match:
        raise InputError(f"{name}: {text!r} is not a time; write 600, 30s, 10m or 1h")
    return float(match[1]) * _SECONDS[match[2]]


def parse_heap(text: str) -> int:
    """Return the bytes of a heap size such as `1g` or `512m`."""
    match = _HEAP.fullmatch(text)
    size = int(match[1]) * MEBIBYTE * (1024 if match[2] == "g" else 1) if match else 0
    if size < _SMALLEST_HEAP:
        raise InputError(
            f"VERITRAIL_DB_HEAP: {text!r} is not a heap size; write 512m, 1g or 2g, at least 128m"
        )
    return size
