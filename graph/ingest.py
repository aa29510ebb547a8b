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

from graph.content_hash import canonical, node_digest
from graph.errors import EngineError, InputError, ProcessConflict
from graph.importers.records import NodeRecord, ProcessInput
from graph.store import Store
from graph.store.processes import BEAT_SECONDS, READY, StoredState
from graph.survey import MAX_NODE_TEXT, Survey, survey

BATCH_ROWS = 2_000
BATCH_BYTES = 4_000_000
EDGE_BATCH = 5_000

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

    async def send(rows: list[list[Any]]) -> None:
        await store.database.write("ingest/spans", process_id=stored_id, rows=rows)

    await _pipeline(
        store, stored_id, _span_batches(source, found), send, _counting(progress, "nodes", total)
    )


async def _send_edges(store: Store, stored_id: str, found: Survey, progress: Progress) -> None:
    total = len(found.topology.edge_sources)

    async def send(rows: list[list[Any]]) -> None:
        stored = await store.database.write("ingest/edges", process_id=stored_id, rows=rows)
        # An engine that does not find a node stores no edge and says nothing of it.
        if (stored[0][0] if stored else 0) != sum(len(sources) for _, sources in rows):
            raise EngineError("The graph engine did not store every edge; nothing is visible.")

    counting = _counting(progress, "edges", total, weight=lambda row: len(row[1]))
    await _pipeline(store, stored_id, _edge_batches(found), send, counting)


def _counting(
    progress: Progress, what: str, total: int, weight: Callable[[Any], int] = lambda _row: 1
) -> Callable[[list[Any]], None]:
    done = 0

    def count(rows: list[Any]) -> None:
        nonlocal done
        done += sum(weight(row) for row in rows)
        progress(what, done, total)

    return count


async def _pipeline(
    store: Store,
    stored_id: str,
    batches: Iterator[list[list[Any]]],
    send: Callable[[list[list[Any]]], Awaitable[None]],
    sent: Callable[[list[Any]], None],
) -> None:
    """Prepare the next batch while the engine stores the one before; show signs of life."""
    last_beat = time.monotonic()
    rows = await asyncio.to_thread(next, batches, None)
    while rows is not None:
        sending = asyncio.ensure_future(send(rows))
        preparing = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
        try:
            await sending
        finally:
            following = await preparing
        sent(rows)
        rows = following
        if time.monotonic() - last_beat > BEAT_SECONDS:
            await store.processes.beat(stored_id)
            last_beat = time.monotonic()


def _span_batches(source: ProcessInput, found: Survey) -> Iterator[list[list[Any]]]:
    """Rows of `ingest/spans` in batches bounded by rows and by bytes.

    Raises:
        InputError: The input is not what it was when it was checked.
    """
    numbers = found.topology.numbers
    sent = bytearray(len(found.digests))
    rows: list[list[Any]] = []
    size = 0
    for record in source.records():
        if not isinstance(record, NodeRecord):
            continue
        number = numbers.get(record.node_id)
        if number is None or node_digest(record) != found.digests[number]:
            raise InputError(f"{record.where}: the input changed while it was being read")
        if sent[number]:
            continue
        sent[number] = 1
        rows.append(_span_row(record, number, found))
        size += len(record.text) * 2 + 200
        if len(rows) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield rows
            rows, size = [], 0
    if not all(sent):
        raise InputError("the input changed while it was being read: nodes are missing")
    if rows:
        yield rows


def _span_row(record: NodeRecord, number: int, found: Survey) -> list[Any]:
    metadata = dict(record.metadata)
    own = {
        key: metadata.pop(key) for key in ("model", "prompt") if isinstance(metadata.get(key), str)
    }
    return [
        record.node_id,
        record.text,
        found.topology.stages[number],
        number,
        found.roles[number].value,
        record.kind,
        record.step,
        own.get("model"),
        own.get("prompt"),
        canonical(metadata).decode() if metadata else None,
    ]


def _edge_batches(found: Survey) -> Iterator[list[list[Any]]]:
    """Rows of `ingest/edges`: edges grouped by target, as they are sorted, in bounded batches."""
    topology = found.topology
    ids = topology.ids
    rows: list[list[Any]] = []
    for edge, (source, target) in enumerate(topology.edges):
        if edge % EDGE_BATCH == 0 and rows:
            yield rows
            rows = []
        if not rows or rows[-1][0] != ids[target]:
            rows.append([ids[target], []])
        rows[-1][1].append([ids[source], topology.cited.get(edge)])
    if rows:
        yield rows
