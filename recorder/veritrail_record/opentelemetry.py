"""Record traces of the OpenTelemetry SDK: `add_span_processor(RecordingSpanProcessor())`.

Every trace becomes a process file of its own, as an ingest of its exported spans would make it.
Nothing is sent anywhere: what programs export to a service is received by `POST /v1/otlp`.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from veritrail_record import storing
from veritrail_record.calls import missing
from veritrail_record.faults import Faults

try:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
    from opentelemetry.trace import format_span_id, format_trace_id
except ImportError as error:
    raise missing("opentelemetry", "opentelemetry-sdk") from error
if not storing.has_graph():  # its importer reads the traces
    raise missing("opentelemetry", "veritrail-graph")

QUIET_SECONDS = 5.0
"""After this time without a span a trace is written as far as it came."""

MOST_SPANS = 50_000
"""Spans that are kept in memory, so that later ones can be added to their traces."""

_PAUSE_RATIO = 10
"""A trace is written again after ten times as long as writing it took."""


@dataclass(slots=True)
class _Trace:
    """The spans of a trace.

    Attributes:
        process_id: The process that it becomes.
        spans: Those that ended, in their order.
        open: How many have begun and not ended.
        written: How many are in the file.
        last: When a span ended last.
        earliest: When it may be written next.
    """

    process_id: str
    spans: list[ReadableSpan] = field(default_factory=list)
    open: int = 0
    written: int = 0
    last: float = 0.0
    earliest: float = 0.0

    def is_due(self, now: float, *, flushes: bool) -> bool:
        """Return whether it is to be written."""
        if len(self.spans) == self.written:
            return False
        is_whole = self.open <= 0 or now - self.last >= QUIET_SECONDS
        return flushes or (is_whole and now >= self.earliest)


class RecordingSpanProcessor(SpanProcessor):
    """Writes a process file for every trace of a program, instrumented in either convention.

    A trace is written when all of its spans have ended, and again when more come; one whose spans
    do not end, after five quiet seconds, and at the end. A thread of its own reads and
    writes, so that the program waits only in `force_flush` and `shutdown`. Nothing is raised:
    faults are logged once a kind by the logger `veritrail.recorder`.

    Args:
        path: The folder of the files, `<trace_id>.jsonl`; default: `traces`, or a temporary
            folder with `store`.
        store: Whether the processes are stored in the graph by `shutdown`, which the program has
            to call before it ends. Without `path` the files of what was stored are removed.
        quiet: Whether the line on stderr that says how to go on is left out.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        store: bool = False,
        quiet: bool = False,
    ) -> None:
        self._stores = store
        self._is_temporary = store and path is None
        self._folder = Path("traces" if path is None else path).expanduser().absolute()
        self._is_quiet = quiet
        self._faults = Faults("traces")
        self._written: dict[Path, None] = {}
        self._reset()
        if hasattr(os, "register_at_fork"):
            again = weakref.WeakMethod(self._reset)
            os.register_at_fork(after_in_child=lambda: (again() or bool)())

    def _reset(self) -> None:
        """Begin anew: a forked process has neither the thread nor the traces of its parent."""
        self._changed = threading.Condition()
        self._traces: dict[int, _Trace] = {}
        self._kept = 0
        self._worker: threading.Thread | None = None
        self._is_busy = False
        self._flushes = False
        self._is_over = False
        self._written.clear()

    # What the SDK calls while the program runs

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Know that a span of its trace goes on."""
        try:
            with self._changed:
                self._trace_of(span).open += 1
        except Exception:  # noqa: BLE001
            self._faults.log("span", "a span was not recorded", trace=True)

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span until its trace is written."""
        try:
            context = span.context
            if self._is_over or context is None:
                return
            with self._changed:
                trace = self._trace_of(span)
                trace.open = max(0, trace.open - 1)
                if context.trace_flags.sampled:
                    trace.spans.append(span)
                    trace.last = time.monotonic()
                    self._kept += 1
                self._begin()
                self._changed.notify_all()
        except Exception:  # noqa: BLE001
            self._faults.log("span", "a span was not recorded", trace=True)

    def _trace_of(self, span: ReadableSpan) -> _Trace:
        context = span.context
        assert context is not None  # noqa: S101
        found = self._traces.get(context.trace_id)
        if found is None:
            found = _Trace(format_trace_id(context.trace_id))
            if self._place(found.process_id) in self._written:  # its spans are forgotten
                found.process_id += f"-{format_span_id(context.span_id)}"
            self._traces[context.trace_id] = found
        return found

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what has come; whether that was done in time."""
        end = time.monotonic() + timeout_millis / 1_000
        try:
            with self._changed:
                self._flushes = True
                is_running = self._begin()
                self._changed.notify_all()
                while is_running and (self._is_busy or self._due()):
                    if not self._changed.wait(end - time.monotonic()):
                        return False
            while not is_running and self._work_once():  # at the end of the interpreter
                if time.monotonic() > end:
                    return False
        except Exception:  # noqa: BLE001
            self._faults.log("flush", "traces could not be written", trace=True)
            return False
        finally:
            self._flushes = False
        return True

    def shutdown(self) -> None:
        """Write what has come, end the thread, and store the traces where that was asked for."""
        if self._is_over:
            return
        self.force_flush()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._worker is not None:
            self._worker.join(30)
        left = dict(self._written)
        if self._stores:
            self._store(left)
        self._say_how(left)

    # The thread

    def _begin(self) -> bool:
        """Begin to work; whether the thread runs."""
        if self._worker is None or not self._worker.is_alive():
            worker = threading.Thread(target=self._work, name="veritrail-traces", daemon=True)
            try:
                worker.start()
            except RuntimeError:  # the interpreter ends
                return False
            self._worker = worker
        return True

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._due():
                    if self._is_over:
                        return
                    waits = any(len(one.spans) > one.written for one in self._traces.values())
                    self._changed.wait(0.1 if waits else None)
                self._is_busy = True
            try:
                self._work_once()
            finally:
                with self._changed:
                    self._is_busy = False
                    self._changed.notify_all()

    def _due(self) -> list[int]:
        now, flushes = time.monotonic(), self._flushes or self._is_over
        return [name for name, one in self._traces.items() if one.is_due(now, flushes=flushes)]

    def _work_once(self) -> bool:
        """Write the traces that are due; whether there were any."""
        with self._changed:
            due = [(self._traces[name], list(self._traces[name].spans)) for name in self._due()]
        for trace, spans in due:
            begin = time.monotonic()
            try:
                self._write(trace.process_id, spans)
            except OSError as error:
                message = "a trace was not written: %s cannot be written: %s"
                self._faults.log("write", message, self._folder, error)
            except Exception:  # noqa: BLE001
                self._faults.log("trace", "a trace was not recorded", trace=True)
            now = time.monotonic()
            with self._changed:
                trace.written = len(spans)
                trace.earliest = now + _PAUSE_RATIO * (now - begin)
                self._forget()
        return bool(due)

    def _forget(self) -> None:
        """Keep no more spans than fit: the oldest traces that are written go first."""
        for name, one in list(self._traces.items()):
            if self._kept <= MOST_SPANS:
                return
            if one.open <= 0 and one.written == len(one.spans):
                self._kept -= len(one.spans)
                del self._traces[name]

    def _write(self, process_id: str, spans: Sequence[ReadableSpan]) -> None:
        """Write the process of a trace in the place of an earlier file of it."""
        from veritrail_graph.graph.importers.draft import draft_lines
        from veritrail_graph.graph.importers.registry import ImportOptions
        from veritrail_graph.graph.importers.traces.otlp import trace_process

        trace_id = process_id[:32]
        process = trace_process(trace_id, [_span(one) for one in spans], ImportOptions())
        if not process.nodes:  # no text of it was written by a model
            return
        process.header = replace(process.header, process_id=process_id)
        if self._is_temporary and not self._written:
            self._folder = Path(tempfile.mkdtemp(prefix="veritrail-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        place = self._place(process_id)
        draft = place.with_name(f".{place.name}.{os.getpid()}.part")
        try:
            with draft.open("w", encoding="utf-8", errors="replace") as file:
                file.writelines(draft_lines(process))
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
        self._written[place] = None

    def _place(self, process_id: str) -> Path:
        return self._folder / f"{process_id}.jsonl"

    # Its end

    def _store(self, left: dict[Path, None]) -> None:
        """Store each file by itself; what cannot be stored stays where it is."""
        if not left:
            return
        if not threading.main_thread().is_alive():  # nothing can be stored at the very end
            message = "call shutdown() before the program ends, to store traces; they are in %s"
            self._faults.log("store", message, self._folder)
            return
        try:
            with storing.graph() as graph:
                for path in list(left):
                    try:
                        storing.store(graph, path)
                    except Exception as error:  # noqa: BLE001
                        message = "a trace could not be stored; it is in %s: %s"
                        self._faults.log(f"store {path}", message, path, error)
                        continue
                    del left[path]
                    if self._is_temporary:
                        path.unlink(missing_ok=True)
        except Exception as error:  # noqa: BLE001
            message = "traces could not be stored; they are in %s: %s"
            self._faults.log("store", message, self._folder, error)
        with suppress(OSError):
            if self._is_temporary:
                self._folder.rmdir()

    def _say_how(self, left: Mapping[Path, None]) -> None:
        count = len(self._written)
        if self._is_quiet or not count or sys.stderr is None:
            return
        line = f"veritrail: recorded {count:,} trace{'s' * (count != 1)}; to check them: "
        name = next(iter(self._written)).stem if count == 1 else "PROCESS_ID"
        line += f"veritrail check {shlex.quote(str(self._folder)) if left else name}"
        with suppress(OSError, ValueError):  # it is closed
            sys.stderr.write(line + "\n")


def _span(span: ReadableSpan) -> dict[str, Any]:
    """A span as the importer of exported ones has it."""
    context, parent = span.context, span.parent
    assert context is not None  # noqa: S101
    start = span.start_time or 0
    return {
        "trace_id": format_trace_id(context.trace_id),
        "span_id": format_span_id(context.span_id),
        "parent_id": None if parent is None else format_span_id(parent.span_id),
        "name": str(span.name),
        "start": start,
        "end": span.end_time or start,
        "attributes": _attributes(span.attributes),
        "events": [
            {"name": one.name, "attributes": _attributes(one.attributes)} for one in span.events
        ],
    }


def _attributes(given: Mapping[str, Any] | None) -> dict[str, Any]:
    return {str(name): _value(one) for name, one in (given or {}).items()}


def _value(value: Any) -> Any:
    """An attribute as JSON has it; what OTLP writes in base64 is left out."""
    if isinstance(value, Mapping):
        return _attributes(value)
    if isinstance(value, list | tuple):
        return [_value(one) for one in value]
    return None if isinstance(value, bytes) else value
