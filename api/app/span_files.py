"""Received spans on disk, so that a restart loses none of them.

- `otlp/waiting/TRACE.TIME.RANDOM.json` in the home folder: spans of one trace in one request.
- `otlp/kept/TRACE.jsonl`: all spans that a stored process was made from.
- `otlp/lock`: held by the service that stores traces.

A file appears whole, under a name of its own: services that share the home receive without a lock.
Only the owner of the home can read the files.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.graph.private import make_private_folders, open_private

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.traces.otlp import Span

TRACE_ID = re.compile(r"[0-9a-f]{32}")
"""An id of a trace: it becomes part of the name of a file."""

_NAME = re.compile(r"([0-9a-f]{32})\.(\d{20})\.[0-9a-f]{8}\.json")
_UNFINISHED_SECONDS = 3_600.0

_log = logging.getLogger("veritrail.traces")


@dataclass(frozen=True, slots=True)
class Batch:
    """The spans of one trace that one request brought.

    Attributes:
        spans: They.
        by: The caller who sent them; None: unknown.
    """

    spans: list[Span]
    by: Caller | None


@dataclass(frozen=True, slots=True)
class Kept:
    """The spans of a trace that was stored.

    Attributes:
        spans: They.
        content_hash: That of the process that was made of them alone; None: it holds more than
            them, or was not made by us.
    """

    spans: list[Span]
    content_hash: str | None


@dataclass(slots=True)
class Waiting:
    """The spans of a trace that wait, as far as names of files tell.

    Attributes:
        trace_id: The trace.
        files: Names of their files, in the order in which they came.
        size: Their bytes.
        at: When the last of them came, in seconds since 1970.
        is_late: Whether the trace was stored before.
    """

    trace_id: str
    files: list[str] = field(default_factory=list)
    size: int = 0
    at: float = 0.0
    is_late: bool = False


class SpanFiles:
    """The folder of received spans.

    Args:
        home: VERITRAIL_HOME.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._root = home / "otlp"
        self._waiting, self._kept = self._root / "waiting", self._root / "kept"

    @property
    def lock(self) -> Path:
        """The file that the service which stores traces holds."""
        return self._root / "lock"

    @property
    def is_there(self) -> bool:
        """Whether anything was ever received."""
        return self._waiting.is_dir()

    def add(self, trace_id: str, batch: Batch) -> int:
        """Write spans; gives their bytes.

        Raises:
            OSError: They cannot be written.
        """
        by = batch.by and {
            "key_id": batch.by.key_id,
            "name": batch.by.name,
            "scopes": sorted(batch.by.scopes),
            "request_id": batch.by.request_id,
        }
        name = f"{trace_id}.{time.time_ns():020d}.{uuid.uuid4().hex[:8]}.json"
        make_private_folders(self._home, self._root, self._waiting)
        content = json.dumps({"by": by, "spans": batch.spans}).encode()
        _write(self._waiting / name, content)
        return len(content)

    def waiting(self) -> list[Waiting]:
        """The traces with spans that wait, those first whose spans came first."""
        found: dict[str, Waiting] = {}
        with suppress(FileNotFoundError), os.scandir(self._waiting) as entries:
            for entry in entries:
                match = _NAME.fullmatch(entry.name)
                if match is None:
                    continue
                with suppress(FileNotFoundError):
                    size = entry.stat().st_size
                    one = found.setdefault(match[1], Waiting(match[1]))
                    one.files.append(entry.name)
                    one.size += size
                    one.at = max(one.at, int(match[2]) / 1e9)
        for one in found.values():
            one.files.sort()
            one.is_late = self._kept_file(one.trace_id).exists()
        return sorted(found.values(), key=lambda one: one.files[0][33:])

    def batch(self, name: str) -> Batch | None:
        """What a waiting file holds; None: it was removed, or is damaged and is removed now."""
        path = self._waiting / name
        try:
            found = json.loads(path.read_bytes())
            by = found["by"]
            caller = by and Caller(
                by["key_id"],
                by["name"],
                frozenset(Scope(one) for one in by["scopes"]),
                request_id=by["request_id"],
            )
            return Batch(found["spans"], caller)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):
            _log.warning("received spans cannot be read again", extra={"fields": {"file": name}})
            path.unlink(missing_ok=True)
            return None

    def kept(self, trace_id: str) -> Kept:
        """The spans of a trace that was stored; none where it was not, or not lately."""
        try:
            with self._kept_file(trace_id).open("rb") as file:
                content_hash = json.loads(file.readline())["content_hash"]
                return Kept([json.loads(line) for line in file], content_hash)
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return Kept([], None)

    def keep(self, trace_id: str, kept: Kept, files: Sequence[str]) -> None:
        """Keep the spans of a stored trace; the files that they came in are removed.

        Raises:
            OSError: They cannot be written.
        """
        make_private_folders(self._home, self._root, self._kept)
        lines = [{"content_hash": kept.content_hash}, *kept.spans]
        content = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
        _write(self._kept_file(trace_id), content)
        for name in files:
            (self._waiting / name).unlink(missing_ok=True)

    def forget(self, trace_id: str) -> None:
        """Remove all spans of a trace."""
        self._kept_file(trace_id).unlink(missing_ok=True)
        for path in self._waiting.glob(f"{trace_id}.*"):
            path.unlink(missing_ok=True)

    def tidy(self, seconds: float, most: int, most_bytes: int) -> int:
        """Remove kept spans that are old, and the oldest beyond the bounds.

        Args:
            seconds: How long they are kept.
            most: The most traces.
            most_bytes: The most bytes.

        Returns:
            Of how many traces they were removed because of the bounds.
        """
        now = time.time()
        for path in (*self._waiting.glob(".*"), *self._kept.glob(".*")):
            with suppress(FileNotFoundError):  # a killed service left it half-written
                if now - path.stat().st_mtime > _UNFINISHED_SECONDS:
                    path.unlink()
        found = sorted(self._all_kept())
        size, dropped = sum(one[1] for one in found), 0
        for number, (at, own, path) in enumerate(found):
            is_beyond = len(found) - number > most or size > most_bytes
            if not is_beyond and now - at <= seconds:
                break
            dropped += is_beyond
            size -= own
            path.unlink(missing_ok=True)
        return dropped

    def _all_kept(self) -> Iterator[tuple[float, int, Path]]:
        for path in self._kept.glob("*.jsonl"):
            with suppress(FileNotFoundError):
                about = path.stat()
                yield about.st_mtime, about.st_size, path

    def _kept_file(self, trace_id: str) -> Path:
        return self._kept / f"{trace_id}.jsonl"


def _write(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    unfinished = path.with_name(f".{uuid.uuid4().hex}")
    try:
        with open_private(unfinished) as file:
            file.write(content)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
