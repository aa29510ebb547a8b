"""The second reading of an input: storing a process that keeps every rule.

Spans go in bounded batches, then edges grouped by their target, then claims. A fault
half-way leaves a process that nobody sees; the next ingest of it, or `db clean`, removes
it. Texts are streamed: they are read, sent and let go.

Source: VeriTrail 2.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graph.batches import Rows, edge_batches, span_batches
from graph.errors import EngineError, ProcessConflict
from graph.importers.records import ProcessInput
from graph.store import Store
from graph.store.processes import BEAT_SECONDS, READY, StoredState
from graph.survey import MAX_NODE_TEXT, Survey, survey

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is (0: unknown)."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did.

    Attributes:
        survey: The process that was read.
        status: `created`, `unchanged` or `replaced`.
        claims: Claims that the process has now.
        claims_added: Claims that were not stored before.
        removed_verifications: Verifications that a replacement removed.
    """

    survey: Survey
    status: str
    claims: int
    claims_added: int
    removed_verifications: int = 0


def _no_progress(_what: str, _done: int, _total: int) -> None:
    return


async def ingest(
    store: Store,
    source: ProcessInput,
    *,
    process_id: str | None = None,
    replace: bool = False,
    max_node_text: int = MAX_NODE_TEXT,
    progress: Progress = _no_progress,
) -> IngestReport:
    """Check an input and store it.

    Args:
        store: The graph.
        source: The input.
        process_id: Takes the place of the input's own.
        replace: Whether another content under the same id is replaced.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        progress: Told how far it is.

    Raises:
        InvalidProcess: The input breaks rules; nothing was stored.
        ProcessConflict: Another content is stored under the id, or somebody is writing it.
        EngineError: The engine failed; what was stored of the process is not visible.
    """
    found = await read_and_check(
        source, process_id=process_id, max_node_text=max_node_text, progress=progress
    )
    return await store_process(store, source, found, replace=replace, progress=progress)


async def read_and_check(
    source: ProcessInput,
    *,
    process_id: str | None = None,
    max_node_text: int = MAX_NODE_TEXT,
    progress: Progress = _no_progress,
) -> Survey:
    """The first reading alone; it needs no graph.

    Raises:
        InvalidProcess: The input breaks rules; all violations are listed.
    """
    return await asyncio.to_thread(
        survey,
        source,
        process_id=process_id,
        max_node_text=max_node_text,
        on_record=lambda count: progress("checking", count, 0),
    )


async def store_process(
    store: Store,
    source: ProcessInput,
    found: Survey,
    *,
    replace: bool = False,
    progress: Progress = _no_progress,
) -> IngestReport:
    """The second reading: store a process that was checked.

    Raises:
        ProcessConflict: Another content is stored under the id, or somebody is writing it.
        EngineError: The engine failed; what was stored of the process is not visible.
    """
    processes = store.processes
    await _settle(store, found.process_id)
    state = await processes.state(found.process_id)
    if state is not None and state.status != READY:
        raise ProcessConflict(
            f"Process {found.process_id!r} is being written by another command "
            f"({state.owner}, last sign of life {state.beat}). Wait for it to end."
        )
    if state is not None and state.content_hash == found.hash:
        added = await processes.add_claims(found.process_id, found.claims)
        stored = await processes.get(found.process_id)
        return IngestReport(found, "unchanged", stored.claims, added)
    if state is None:
        stored_id = await processes.begin(found)
        await _load(store, stored_id, source, found, progress)
        await processes.finish(stored_id)
        return IngestReport(found, "created", len(found.claims), len(found.claims))
    if not replace:
        raise ProcessConflict(
            f"Process {found.process_id!r} is stored with another content. Use --replace to "
            "replace it, which removes its verifications, or --process-id for another id."
        )
    removed = await processes.count_verifications(found.process_id)
    staged_id = await processes.begin(found, replaces=found.process_id)
    await _load(store, staged_id, source, found, progress)
    await processes.promote(staged_id, found.process_id)
    return IngestReport(found, "replaced", len(found.claims), len(found.claims), removed)


async def _settle(store: Store, process_id: str) -> None:
    """Take up what a dead writer left under this id."""
    for name in (store.processes.staged_id(process_id), process_id):
        state = await store.processes.state(name)
        if state is not None and state.is_abandoned:
            await store.processes.settle(state)


async def clean(store: Store) -> list[StoredState]:
    """Take up everything that dead writers left; give what there was."""
    left = [state for state in await store.processes.unfinished() if state.is_abandoned]
    staged_first = sorted(left, key=lambda state: state.replaces is None)
    for state in staged_first:
        # A replacement that was finished has just given its id to what must stay.
        current = await store.processes.state(state.process_id)
        if current is not None and current.is_abandoned:
            await store.processes.settle(current)
    return left


async def _load(
    store: Store, stored_id: str, source: ProcessInput, found: Survey, progress: Progress
) -> None:
    """Send spans, edges and claims; on a fault take back what can be taken back."""
    try:
        await _send_spans(store, stored_id, source, found, progress)
        await _send_edges(store, stored_id, found, progress)
        await store.processes.add_claims(stored_id, found.claims)
    except BaseException:
        # Nobody sees a process that is loading; removing it now is only tidy, so a second
        # fault here must not hide the first.
        with suppress(EngineError):
            await store.processes.delete(stored_id)
        raise


async def _send_spans(
    store: Store, stored_id: str, source: ProcessInput, found: Survey, progress: Progress
) -> None:
    total = len(found.topology.ids)

    async def send(rows: Rows) -> None:
        await store.database.write("ingest/spans", process_id=stored_id, rows=rows)

    counting = _counting(progress, "nodes", total)
    batches = span_batches(source, found)
    await _pipeline(store, stored_id, batches, send, counting)


async def _send_edges(store: Store, stored_id: str, found: Survey, progress: Progress) -> None:
    total = len(found.topology.edge_sources)

    async def send(rows: Rows) -> None:
        stored = await store.database.write("ingest/edges", process_id=stored_id, rows=rows)
        # An engine that does not find a node stores no edge and says nothing of it.
        if (stored[0][0] if stored else 0) != sum(len(sources) for _, sources in rows):
            raise EngineError("The graph engine did not store every edge; nothing is visible.")

    counting = _counting(progress, "edges", total, weight=lambda row: len(row[1]))
    await _pipeline(store, stored_id, edge_batches(found), send, counting)


def _counting(
    progress: Progress, what: str, total: int, weight: Callable[[Any], int] = lambda _row: 1
) -> Callable[[Rows], None]:
    done = 0

    def count(rows: Rows) -> None:
        nonlocal done
        done += sum(weight(row) for row in rows)
        progress(what, done, total)

    return count


async def _pipeline(
    store: Store,
    stored_id: str,
    batches: Iterator[Rows],
    send: Callable[[Rows], Awaitable[None]],
    sent: Callable[[Rows], None],
) -> None:
    """Prepare the next batch while the engine stores those before; show signs of life."""
    preparing, sending = asyncio.Lock(), asyncio.Semaphore(store.database.writers)
    last_beat = time.monotonic()

    async def work() -> None:
        nonlocal last_beat
        while True:
            async with preparing:
                rows = await asyncio.to_thread(next, batches, None)
            if rows is None:
                return
            async with sending:
                await _to_the_end(send(rows))
            sent(rows)
            if time.monotonic() - last_beat > BEAT_SECONDS:
                last_beat = time.monotonic()
                await store.processes.beat(stored_id)

    workers = [asyncio.ensure_future(work()) for _ in range(store.database.writers + 1)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.wait(workers)


async def _to_the_end(sending: Awaitable[None]) -> None:
    """Wait even when cancelled: what is being stored must not come in after it was removed."""
    task = asyncio.ensure_future(sending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, or asyncio reports it when it is collected
        raise
