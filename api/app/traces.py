"""Traces that instrumented programs send, span by span: when one is whole, it becomes a process.

A trace is whole when its root span has come, and the parent of every other span. One whose root
never comes is taken as it is once no span came for a while. Spans that come after that are added:
the process is made anew from all spans as long as nothing hangs on it, else what is new is
appended.

Of the services that share a home, one stores traces; when it ends, another one goes on.

Source: OpenTelemetry Protocol 1.10, OTLP/HTTP.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.app.ingesting import IngestOptions, no_progress
from veritrail_graph.api.app.part import Part, ProcessInUse
from veritrail_graph.api.app.span_files import SpanFiles, Waiting
from veritrail_graph.graph.errors import (
    BeingWritten,
    EngineError,
    EngineUnavailable,
    InputError,
    NotFound,
    ProcessConflict,
    StoreFull,
    VeriTrailError,
)

if TYPE_CHECKING:
    from filelock import FileLock

    from veritrail_graph.api.app.application import Application
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.importers.draft import Draft
    from veritrail_graph.graph.importers.traces.received import ExportedSpans, Shape, TraceSpans

EMPTY, REFUSED = "empty", "refused"
"""What became of a trace without a text that a model wrote, and of one that breaks rules."""

AT_ONCE = 4
"""Traces that are stored at a time."""

LOOK_SECONDS = 1.0
"""How often is looked for spans that other services of the same home received."""

TIDY_SECONDS = 60.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds until what could not be stored because of the engine is tried again."""

_PATIENCE = 10.0

_log = logging.getLogger("veritrail.traces")


@dataclass(frozen=True, slots=True)
class Received:
    """The outcome of a request that sends spans.

    Attributes:
        spans: How many were taken.
        traces: Of how many traces they are.
        rejected: How many were not.
        message: Why not; empty: all were taken.
    """

    spans: int = 0
    traces: int = 0
    rejected: int = 0
    message: str = ""


@dataclass(slots=True)
class TraceFigures:
    """Counts of the spans and traces that this process has received since it began.

    Attributes:
        received: Spans that were taken.
        rejected: Spans that were not.
        stored: Traces by what became of them.
        waiting: Traces with spans that wait now.
    """

    received: int = 0
    rejected: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    waiting: int = 0


class Traces(Part):
    """Traces of which spans were received.

    Args:
        app: The application.

    Attributes:
        figures: What was done so far.
    """

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self.figures = TraceFigures()
        self._files = SpanFiles(app.settings.home)
        self._shapes: dict[str, Shape] = {}
        self._known: set[str] = set()
        self._bytes = 0
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._storing: dict[str, asyncio.Task[None]] = {}
        self._later: dict[str, tuple[float, float]] = {}
        self._is_down = False
        self._tidied = 0.0
        self._wake = asyncio.Event()
        self._lock: FileLock | None = None
        self._working: asyncio.Task[None] | None = None

    async def receive(self, exported: ExportedSpans, by: Caller | None = None) -> Received:
        """Take the spans of an export request; they are on disk when this returns.

        Args:
            exported: They, as they were read.
            by: Who sends it, for the audit log.

        Raises:
            StoreFull: Too many spans wait already, or there is no room for them.
        """
        taken = exported.traces
        self.figures.rejected += exported.rejected
        if taken:
            self._check_room(taken)
            try:
                await asyncio.to_thread(self._write, taken, by)
            except OSError as error:
                raise StoreFull(f"Spans cannot be kept on disk: {error.strerror}.") from None
        spans = sum(one.count for one in taken.values())
        self.figures.received += spans
        if any(one.has_root for one in taken.values()):
            self._wake.set()
        return Received(spans, len(taken), exported.rejected, "; ".join(exported.reasons))

    def _check_room(self, taken: Iterable[str]) -> None:
        settings = self._app.settings
        new = sum(one not in self._known for one in taken)
        if self._bytes >= settings.otlp_bytes or (
            new and len(self._known) + new > settings.otlp_traces
        ):
            raise StoreFull(
                f"Spans of {len(self._known):,} traces ({self._bytes:,} bytes) wait until the "
                "graph takes them, and no more can wait now."
            )

    def _write(self, taken: dict[str, TraceSpans], by: Caller | None) -> None:
        for trace_id, spans in taken.items():
            self._bytes += self._files.add(trace_id, spans, by)
            self._known.add(trace_id)

    async def forget(self, process_id: str) -> None:
        """Remove what is kept of the spans of a process, if it was made of a trace."""
        from veritrail_graph.graph.importers.traces.received import TRACE_ID

        if TRACE_ID.fullmatch(process_id) and self._files.is_there:
            await asyncio.to_thread(self._files.forget, process_id)

    # Storing.

    def start(self) -> None:
        """Store traces from now on, beginning with those whose spans wait."""
        self._working = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Store no more traces; what waits is taken up by the next start."""
        tasks = {*self._storing.values(), *([self._working] if self._working else [])}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._working = None
        if self._lock is not None and self._lock.is_locked:
            self._lock.release()

    async def _work(self) -> None:
        look = min(LOOK_SECONDS, max(0.05, self._app.settings.otlp_quiet / 2))
        while True:
            try:
                await self._begin_due()
                await self._tidy()
            except Exception as error:  # noqa: BLE001  # it is tried again
                fields = {"error": getattr(error, "strerror", None) or type(error).__name__}
                _log.warning("received spans cannot be taken up", extra={"fields": fields})
            with suppress(TimeoutError):
                async with asyncio.timeout(look):
                    await self._wake.wait()
            self._wake.clear()

    async def store_due(self) -> int:
        """Store the traces that are whole or have been quiet; gives how many it tried.

        Raises:
            OSError: The folder of received spans cannot be read.
        """
        begun = await self._begin_due()
        await asyncio.gather(*begun)
        await self._tidy()
        return len(begun)

    async def _begin_due(self) -> list[asyncio.Task[None]]:
        """Begin to store what is due; a large trace does not keep those behind it waiting."""
        if not self._files.is_there:
            return []
        waiting = await asyncio.to_thread(self._files.waiting)
        self._known = {one.trace_id for one in waiting}
        self._bytes = sum(one.size for one in waiting)
        self.figures.waiting = len(waiting)
        if not self._is_ours():
            return []
        due = await asyncio.to_thread(self._due, waiting)
        self._is_down = False
        begun = []
        for one in due:
            if one.trace_id not in self._storing:
                task = asyncio.create_task(self._store_in_turn(one))
                self._storing[one.trace_id] = task
                begun.append(task)
        return begun

    def _is_ours(self) -> bool:
        """Return whether this service is the one of its home that stores traces."""
        from filelock import FileLock, Timeout

        if self._lock is None:
            self._lock = FileLock(self._files.lock, mode=0o600, thread_local=False)
        if not self._lock.is_locked:
            with suppress(Timeout, OSError):
                self._lock.acquire(timeout=0)
        return self._lock.is_locked

    def _due(self, waiting: list[Waiting]) -> list[Waiting]:
        names = {name for one in waiting for name in one.files}
        self._shapes = {name: one for name, one in self._shapes.items() if name in names}
        traces = {one.trace_id for one in waiting}
        self._later = {name: one for name, one in self._later.items() if name in traces}
        return [one for one in waiting if self._is_due(one)]

    def _is_due(self, one: Waiting) -> bool:
        if one.trace_id in self._later and time.monotonic() < self._later[one.trace_id][0]:
            return False
        # A clock that was set back must not hold anything back for longer.
        is_quiet = not -1.0 < time.time() - one.at < self._app.settings.otlp_quiet
        return is_quiet or (not one.is_late and self._is_whole(one))

    def _is_whole(self, one: Waiting) -> bool:
        """Return whether the root of a trace and the parents of all its spans have come."""
        for name in one.files:
            if name not in self._shapes and (shape := self._files.shape(name)) is not None:
                self._shapes[name] = shape
        shapes = [self._shapes[name] for name in one.files if name in self._shapes]
        if not any(shape.has_root for shape in shapes):
            return False
        spans = frozenset[str]().union(*(shape.spans for shape in shapes))
        return all(shape.parents <= spans for shape in shapes)

    async def _store_in_turn(self, one: Waiting) -> None:
        try:
            async with self._slots:
                if not self._is_down:
                    await self._store_trace(one)
                    self._later.pop(one.trace_id, None)
        except Exception as error:  # noqa: BLE001  # its spans wait on
            await self._put_off(one, error)
        finally:
            self._storing.pop(one.trace_id, None)

    async def _put_off(self, one: Waiting, error: Exception) -> None:
        pause = self._later.get(one.trace_id, (0.0, FIRST_PAUSE / 2))[1]
        pause = min(2 * pause, LONGEST_PAUSE)
        self._later[one.trace_id] = (time.monotonic() + pause, pause)
        # The text of what is no error of ours may repeat what a span holds.
        reason = str(error) if isinstance(error, VeriTrailError) else type(error).__name__
        fields = {"trace_id": one.trace_id, "error": reason, "again_in_seconds": pause}
        _log.warning("a trace could not be stored yet", extra={"fields": fields})
        if isinstance(error, EngineUnavailable):
            self._is_down = True
            await self._app.graph.lost()

    async def _store_trace(self, one: Waiting) -> None:
        """Make a process of all spans of a trace that are known, and keep them."""
        if not await asyncio.to_thread(self._files.are_there, one):
            return
        content_hash = await asyncio.to_thread(self._files.kept_hash, one.trace_id)
        by = await asyncio.to_thread(self._files.sender, one.files[-1])
        try:
            source = await _process(one, self._files.paths(one))
            status = EMPTY
            if source is not None:
                status = await self._ingest(one.trace_id, source, content_hash, by)
                content_hash = None if status == "appended" else await self._hash(one.trace_id)
        except (ProcessConflict, EngineError, OSError):  # it may succeed later
            raise
        except NotFound:  # it was deleted meanwhile, and its texts with it
            await self.forget(one.trace_id)
            return
        except InputError as error:
            status = REFUSED
            kinds = sorted({each.kind for each in error.violations} or {error.code})
            fields = {"trace_id": one.trace_id, "kinds": kinds}
            _log.warning("a trace breaks rules and is not stored", extra={"fields": fields})
        except Exception as error:  # noqa: BLE001  # one trace must not keep the others waiting
            status = REFUSED
            fields = {"trace_id": one.trace_id, "error": type(error).__name__}
            _log.error("a trace could not be read", extra={"fields": fields})
        spans = await asyncio.to_thread(self._files.keep, one, content_hash)
        self._known.discard(one.trace_id)
        self._bytes -= one.size
        self.figures.waiting = len(self._known)
        self.figures.stored[status] += 1
        about = {"trace_id": one.trace_id, "status": status, "spans": spans}
        _log.info("trace", extra={"fields": about})
        self._app.summaries.forget()

    async def _ingest(
        self, trace_id: str, source: Draft, own: str | None, by: Caller | None
    ) -> str:
        """Store a process, or what is new of it; gives its status."""
        processes = self._app.processes
        try:
            new = IngestOptions(patience=_PATIENCE)
            return (await processes.ingest_source(source, new, by=by)).status
        except BeingWritten:
            raise
        except ProcessConflict:
            stored = await processes.overview(trace_id)
        # Only what we made from these very spans is made anew, and not under anybody's feet.
        is_free = not (stored.claims or stored.verifications)
        if own is not None and stored.content_hash == own and is_free:
            anew = IngestOptions(replace=True, patience=_PATIENCE)
            with suppress(ProcessInUse):
                return (await processes.ingest_source(source, anew, by=by)).status
        more = IngestOptions(append=True)
        fitting = await self._fitting(trace_id, source)
        return (await processes.ingest_source(fitting, more, by=by)).status

    async def _fitting(self, trace_id: str, source: Draft) -> Draft:
        """A process without ids that the stored one has for something else.

        What a text is follows from the spans that are known: with more of them, the id that a text
        had may be that of another one, such as the question. A node of which no more is new than
        the words that its call was given besides stays what it was.
        """
        from veritrail_graph.graph.content_hash import node_digest
        from veritrail_graph.graph.importers.traces.unkept import without_beside
        from veritrail_graph.graph.ingest.appending import read_stored

        stored = await read_stored(await self._store(), trace_id, no_progress)
        topology, degrees = stored.topology, stored.topology.in_degrees()
        names: dict[str, str] = {}
        for node in source.nodes.values():
            number, digest = topology.numbers.get(node.node_id), node_digest(node)
            if number is None:
                continue
            is_same = topology.origin(number, degrees[number]) is node.origin
            was = without_beside(node)
            if is_same and stored.digests[number] == node_digest(was):
                source.nodes[node.node_id] = was
            elif not is_same or stored.digests[number] != digest:
                own = hashlib.sha256(f"{node.origin} {digest.hex()}".encode()).hexdigest()[:8]
                names[node.node_id] = f"{node.node_id}~{own}"
        return source.renamed(names) if names else source

    async def _hash(self, trace_id: str) -> str:
        return (await self._app.processes.get(trace_id)).content_hash

    async def _tidy(self) -> None:
        if self._tidied and time.monotonic() - self._tidied < TIDY_SECONDS:
            return
        self._tidied = time.monotonic()
        settings = self._app.settings
        dropped = await asyncio.to_thread(
            self._files.tidy, settings.otlp_keep, settings.otlp_traces, settings.otlp_bytes
        )
        if dropped:
            _log.warning(
                "spans of stored traces are dropped before their time: there are too many",
                extra={"fields": {"traces": dropped}},
            )


async def _process(one: Waiting, paths: list[Path]) -> Draft | None:
    """The process of a trace; None: no text in it was written by a model.

    Raises:
        InputError: It breaks rules, or reading it takes more than it may.
    """
    from veritrail_graph.graph.importers.apart import SMALL, reader_for
    from veritrail_graph.graph.importers.traces.received import process_of_files

    size = await asyncio.to_thread(_size_of, paths)
    if size <= SMALL:
        source = await asyncio.to_thread(process_of_files, one.trace_id, paths)
    else:
        async with reader_for(size) as reader:
            source = await asyncio.to_thread(reader.ask, "trace", one.trace_id, paths)
    return source if source.nodes else None


def _size_of(paths: Iterable[Path]) -> int:
    size = 0
    for path in paths:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size
