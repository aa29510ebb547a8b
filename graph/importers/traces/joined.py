"""Traces of files that belong together: what several files hold of one trace is joined.

A collector writes spans and log records into files of their own, and begins new files in the middle
of a trace. A trace of one file is read from it; only those of several are kept until the last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.traces import logs
from veritrail_graph.graph.importers.traces.calls import FoundTrace, Trace
from veritrail_graph.graph.importers.traces.reading import left_out, nothing_left

NO_TRACE = ""
KEPT_BYTES = 32_000_000
"""Files of no more bytes are read once; others twice, so that one is in memory at a time."""

Item = dict[str, Any]
"""A span or a log record."""
ReadItem = tuple[str, Item | InputError]
"""Where something stands, and what it is, or why it cannot be read."""


class UnreadSpan(InputError):
    """The reason why a span cannot be read; the others of its trace can.

    Args:
        message: What is wrong.
        trace_id: Its trace, as far as it says so; else `NO_TRACE`.
    """

    def __init__(self, message: str, trace_id: str = NO_TRACE) -> None:
        super().__init__(message)
        self.trace_id = trace_id


@dataclass(frozen=True, slots=True)
class TraceReading:
    """The way that a file of traces is read.

    Attributes:
        items: Yields what a file holds, each with where it stands; a fault in place of what cannot
            be read, an `UnreadSpan` where that is one span. Raises InputError where it is the file.
        make: Makes a trace of its id, what there is of it, and warnings.
    """

    items: Callable[[Path], Iterator[ReadItem]]
    make: Callable[[str | None, Sequence[Item], Sequence[str]], Trace]


@dataclass(slots=True)
class _Items:
    """The spans and log records of some traces, as they were read.

    Attributes:
        traces: Spans and records by trace.
        faults: What cannot be read, by trace.
        other: Records that note nothing of a model.
        places: The file of each trace, by the first span of it.
        broken: Where something cannot be read of which no trace is known, and why.
        known: What was asked for by `has`, by trace and span, with its file.
    """

    traces: dict[str, list[Item]] = field(default_factory=dict)
    faults: dict[str, list[InputError]] = field(default_factory=dict)
    other: list[logs.Record] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    broken: list[tuple[str, InputError]] = field(default_factory=list)
    known: dict[tuple[str, str], list[tuple[str, Item]]] = field(default_factory=dict)

    def has(self, item: Item, place: str) -> bool:
        """Return whether another file holds the same: a copy of the file, or an older one.

        Args:
            item: What was read.
            place: The file.
        """
        same = self.known.setdefault((item["trace_id"], item["span_id"]), [])
        if any(other != place and one == item for other, one in same):
            return True
        same.append((place, item))
        return False

    def add(self, item: Item | UnreadSpan, place: str) -> None:
        """Take something in."""
        if isinstance(item, UnreadSpan):
            self.faults.setdefault(item.trace_id, []).append(item)
        elif logs.is_record(item) and item["event"] is None:
            self.other.append(item)
        else:
            self.traces.setdefault(item["trace_id"], []).append(item)
            if not logs.is_record(item):
                self.places.setdefault(item["trace_id"], place)


def traces(paths: Sequence[Path], reading: TraceReading) -> Iterator[FoundTrace]:
    """Yield the traces of files, in the order of their first spans; those of several files last.

    Args:
        paths: The files.
        reading: How each is read.

    Raises:
        InputError: There is one file, and it cannot be read. Of several it is a trace that fails.
    """
    if len(paths) == 1:
        yield from _traces_of(str(paths[0]), _read(paths[0], reading, _Items()), reading)
        return
    held = _Items()
    if sum(one.stat().st_size for one in paths if one.is_file()) <= KEPT_BYTES:
        reading = replace(reading, items=_kept(reading.items))
    several = _of_several(paths, reading)
    for path in paths:
        try:
            own = _read(path, reading, held, several)
            if several and not own.traces:  # a trace that is joined reports them
                held.other, own.other = [*held.other, *own.other], []
            yield from _traces_of(str(path), own, reading)
        except InputError as error:
            yield FoundTrace.failing(str(path), error)
    held.traces = {one: _in_order(items) for one, items in held.traces.items()}
    yield from _traces_of(str(paths[0]), held, reading)


def _kept(items: Callable[[Path], Iterator[ReadItem]]) -> Callable[[Path], Iterator[ReadItem]]:
    """Read each file once, and give the same the second time; then it is forgotten."""
    read: dict[Path, tuple[list[ReadItem], InputError | None]] = {}

    def first(path: Path) -> Iterator[ReadItem]:
        found, _ = read.setdefault(path, ([], None))
        try:
            for one in items(path):
                found.append(one)
                yield one
        except InputError as error:
            read[path] = found, error
            raise

    def both(path: Path) -> Iterator[ReadItem]:
        if path not in read:
            yield from first(path)
            return
        found, fault = read.pop(path)
        yield from found
        if fault is not None:
            raise fault

    return both


def _of_several(paths: Sequence[Path], reading: TraceReading) -> set[str]:
    """Return the traces of which more than one file holds something."""
    seen: dict[str, Path] = {}
    several = set()
    for path in paths:
        try:
            for _, item in reading.items(path):
                if isinstance(item, InputError):
                    trace_id = getattr(item, "trace_id", NO_TRACE)
                else:
                    trace_id = item["trace_id"]
                if seen.setdefault(trace_id, path) != path:
                    several.add(trace_id)
        except InputError:
            continue  # who reads it says so
    return several - {NO_TRACE}


def _read(path: Path, reading: TraceReading, held: _Items, several: Collection[str] = ()) -> _Items:
    """Return what a file holds but of traces of several files, which go to those that are held."""
    own, place = _Items(), str(path)
    for where, item in reading.items(path):
        if isinstance(item, InputError) and not isinstance(item, UnreadSpan):
            own.broken.append((where, item))
        elif (item.trace_id if isinstance(item, UnreadSpan) else item["trace_id"]) not in several:
            own.add(item, place)
        elif isinstance(item, UnreadSpan) or not held.has(item, place):
            held.add(item, place)
    return own


def _in_order(items: Sequence[Item]) -> list[Item]:
    """Return what several files hold of a trace in the order of time, whatever their names are."""
    return sorted(items, key=lambda one: (one.get("start") or one.get("time") or 0, one["span_id"]))


def _traces_of(path: str, read: _Items, reading: TraceReading) -> Iterator[FoundTrace]:
    """Yield the traces of what was read.

    Raises:
        InputError: There are records that note nothing of a model, and nothing else.
    """
    traces, faults, other = read.traces, read.faults, read.other
    for where, error in read.broken:
        yield FoundTrace.failing(where, error)
    # The first trace reports spans of which no trace is known.
    if traces and NO_TRACE in faults:
        lost = faults.pop(NO_TRACE)
        faults.setdefault(next(iter(traces)), []).extend(lost)
    if other and not traces and not faults:
        raise InputError(f"{path} holds no trace: {logs.left_out(other)[0]}")
    prepared = {one for one, spans in traces.items() if all(map(_prepares, spans))}
    untraced = logs.without_trace(traces.pop(NO_TRACE, ()))
    for trace_id, spans in traces.items():
        if trace_id in prepared and len(prepared) < len(traces):
            continue  # nothing ran in it
        warnings = [*left_out(faults.get(trace_id, ())), *logs.left_out(other)]
        other = []
        where = f"{read.places.get(trace_id, path)}#{trace_id}"
        yield FoundTrace(where, partial(reading.make, trace_id, spans, warnings))
    for number, records in enumerate(untraced, start=1):
        warnings, other = logs.left_out(other), []
        yield FoundTrace(f"{path}#log{number}", partial(reading.make, None, records, warnings))
    for trace_id, wrong in faults.items():
        if trace_id not in traces:
            where = f"{path}#{trace_id}" if trace_id != NO_TRACE else path
            yield FoundTrace.failing(where, nothing_left(wrong, where))


def _prepares(span: Item) -> bool:
    """Return whether a span only says that a program made an agent, which then runs elsewhere."""
    made = span.get("attributes", {}).get("gen_ai.operation.name")
    return bool(made == "create_agent")
