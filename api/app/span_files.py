"""Received spans on disk, so that a restart loses none of them.

- `otlp/waiting/TRACE.TIME.RANDOM.json` in the home folder: spans of one trace in one request: a
  line with who sent them, one with their shape, a line a span.
- `otlp/kept/TRACE.jsonl`: all spans that a stored process was made from: a line with the hash of
  its content, a line a span.
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
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.graph.private import make_private_folders, open_private

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.traces.received import Shape, TraceSpans

_NAME = re.compile(r"([0-9a-f]{32})\.(\d{20})\.[0-9a-f]{8}\.json")
_UNFINISHED_SECONDS = 3_600.0

_log = logging.getLogger("veritrail.traces")


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
        """Return whether anything was ever received."""
        return self._waiting.is_dir()

    def add(self, trace_id: str, spans: TraceSpans, by: Caller | None) -> int:
        """Write spans; gives their bytes.

        Args:
            trace_id: Their trace.
            spans: They.
            by: Who sent them; None: it is not known.

        Raises:
            OSError: They cannot be written.
        """
        sender = by and {
            "key_id": by.key_id,
            "name": by.name,
            "scopes": sorted(by.scopes),
            "request_id": by.request_id,
        }
        name = f"{trace_id}.{time.time_ns():020d}.{uuid.uuid4().hex[:8]}.json"
        make_private_folders(self._home, self._root, self._waiting)
        head = json.dumps({"by": sender}).encode() + b"\n"
        _write(self._waiting / name, (head, spans.content))
        return len(head) + len(spans.content)

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

    def shape(self, name: str) -> Shape | None:
        """The shape of the spans of a waiting file; None: it is removed, damaged files now."""
        from veritrail_graph.graph.importers.traces.received import shape_in

        path = self._waiting / name
        try:
            return shape_in(path)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, AttributeError, KeyError):
            _log.warning("received spans cannot be read again", extra={"fields": {"file": name}})
            path.unlink(missing_ok=True)
            return None

    def sender(self, name: str) -> Caller | None:
        """Return who sent the spans of a waiting file; None: it is not known."""
        try:
            with (self._waiting / name).open("rb") as file:
                by = json.loads(file.readline())["by"]
            return by and Caller(
                by["key_id"],
                by["name"],
                frozenset(Scope(one) for one in by["scopes"]),
                request_id=by["request_id"],
            )
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def are_there(self, one: Waiting) -> bool:
        """Return whether files of a trace wait still."""
        return any((self._waiting / name).exists() for name in one.files)

    def paths(self, one: Waiting) -> list[Path]:
        """The files of a trace, those of its kept spans first."""
        return [self._kept_file(one.trace_id), *(self._waiting / name for name in one.files)]

    def kept_hash(self, trace_id: str) -> str | None:
        """The hash of the process that was made of the kept spans of a trace alone; else None."""
        try:
            with self._kept_file(trace_id).open("rb") as file:
                content_hash: str | None = json.loads(file.readline())["content_hash"]
                return content_hash
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def keep(self, one: Waiting, content_hash: str | None) -> int:
        """Keep the spans of a trace that was stored; the files that they came in are removed.

        Args:
            one: The trace.
            content_hash: That of the process that was made of its spans alone; None: it holds more
                than them, or was not made by us.

        Returns:
            How many spans are kept.

        Raises:
            OSError: They cannot be written.
        """
        from veritrail_graph.graph.importers.traces.received import joined

        lines = joined(self.paths(one))
        make_private_folders(self._home, self._root, self._kept)
        head = json.dumps({"content_hash": content_hash}).encode() + b"\n"
        _write(self._kept_file(one.trace_id), (head, *lines))
        for name in one.files:
            (self._waiting / name).unlink(missing_ok=True)
        return len(lines)

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


def _write(path: Path, content: Iterable[bytes]) -> None:
    """Write a file that appears whole or not at all."""
    unfinished = path.with_name(f".{uuid.uuid4().hex}")
    try:
        with open_private(unfinished) as file:
            file.writelines(content)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
