"""Storing processes: read, check, write; append to a stored process; restore its trails.

An input is read twice. The first reading checks every rule and stores nothing. A small process
that is new is then stored in one transaction, with others like it. Of any other the second
reading sends nodes in bounded batches, then edges grouped by their target, then claims. A kill
half-way leaves a process that no reader sees. The next ingest of the same input continues it;
the ingest of another input under the same id, or `clean`, removes it.

Source: VeriTrail 2.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import replace as changed

from veritrail_graph.graph.errors import BeingWritten, InputError, ProcessConflict
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.ingest.appending import (
    ProcessChanged,
    append_process,
    read_stored,
    with_warnings,
)
from veritrail_graph.graph.ingest.check import MAX_NODE_TEXT, Survey
from veritrail_graph.graph.ingest.cleaning import CleanedUp, clean
from veritrail_graph.graph.ingest.restoring import restore, survey_whole
from veritrail_graph.graph.ingest.together import is_small, store_new
from veritrail_graph.graph.ingest.topology import StoredShape
from veritrail_graph.graph.ingest.write import (
    IngestReport,
    Loading,
    Progress,
    link_copies,
    no_progress,
    plan_key,
    uninterrupted,
)
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.states import LOADING, READY, StoredState

__all__ = [
    "CleanedUp",
    "IngestReport",
    "Progress",
    "append",
    "clean",
    "ingest",
    "is_small",
    "link_copies",
    "no_progress",
    "read_and_check",
    "restore",
    "store_new",
    "store_process",
    "survey_whole",
]

_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts to append to a process that others append to at the same time."""


async def ingest(
    store: Store,
    source: ProcessInput,
    *,
    process_id: str | None = None,
    replace: bool = False,
    max_node_text: int = MAX_NODE_TEXT,
    strict: bool = False,
    progress: Progress = no_progress,
) -> IngestReport:
    """Check an input and store it.

    Args:
        store: The graph.
        source: The input.
        process_id: Used in place of the input's own.
        replace: Whether a different content under the same id is replaced.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        strict: Whether generated text without recorded inputs is refused.
        progress: Called with what is done so far.

    Raises:
        InvalidProcess: The input breaks rules; nothing was stored.
        ProcessConflict: A different content is stored under the id, or another writer is
            storing it.
        EngineError: The engine failed; what was stored of the process is not visible.
    """
    found = await read_and_check(
        source,
        process_id=process_id,
        max_node_text=max_node_text,
        strict=strict,
        progress=progress,
    )
    report = await store_process(store, source, found, replace=replace, progress=progress)
    return await restore(store, source, report)


async def read_and_check(
    source: ProcessInput,
    *,
    process_id: str | None = None,
    max_node_text: int = MAX_NODE_TEXT,
    strict: bool = False,
    onto: StoredShape | None = None,
    progress: Progress = no_progress,
) -> Survey:
    """The first reading alone; it needs no graph.

    Args:
        source: The input.
        process_id: Used in place of the input's own.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        strict: Whether generated text without recorded inputs is refused.
        onto: The stored process that the input is to be appended to.
        progress: Called with what is done so far.

    Raises:
        InvalidProcess: The input breaks rules; all violations are listed.
    """
    return await asyncio.to_thread(
        survey_whole,
        source,
        process_id=process_id,
        max_node_text=max_node_text,
        strict=strict,
        onto=onto,
        on_record=lambda count: progress("checking", count, 0),
    )


async def store_process(
    store: Store,
    source: ProcessInput,
    found: Survey,
    *,
    replace: bool = False,
    progress: Progress = no_progress,
) -> IngestReport:
    """The second reading: store a process that was checked.

    Raises:
        ProcessConflict: A different content is stored under the id, or another writer is
            storing it.
        EngineError: The engine failed; what was stored of the process is not visible.
    """
    processes, name = store.processes, found.process_id
    states = await processes.states([processes.staged_id(name), name])
    if not states and (stored := (await store_new(store, [found])).get(name)) is not None:
        return stored
    plan = await asyncio.to_thread(plan_key, found)
    left = await _settle(store, found, plan, states, replace=replace)
    state = await processes.state(name)
    if state is not None and state.status != READY and left != state:
        raise BeingWritten(
            f"Process {name!r} is being written now "
            f"({state.owner}, last sign of life {state.beat}). Wait for it to end."
        )
    is_stored = state is not None and state.status == READY
    if state is not None and is_stored and state.content_hash == found.hash:
        added = await store.claims.add(name, found.claims)
        return IngestReport(found, "unchanged", (await processes.get(name)).claims, added)
    if is_stored and not replace:
        raise ProcessConflict(
            f"Process {name!r} is stored with another content.",
            code="other_content",
            process_id=name,
        )
    report = IngestReport(
        found, "created", len(found.claims), len(found.claims), resumed=left is not None
    )
    if is_stored:
        report = changed(
            report,
            status="replaced",
            removed_verifications=await processes.count_verifications(name),
            removed_reviews=await store.reviews.count(name),
        )
    stored_id = left.process_id if left else processes.staged_id(name) if is_stored else name
    try:
        if left is None:
            await uninterrupted(processes.begin(found, stored_id=stored_id, plan=plan))
        else:
            await uninterrupted(processes.take_over(left))
    except asyncio.CancelledError:
        await processes.release(stored_id)
        raise
    await Loading(store, stored_id, source, found, progress, resumed=left is not None).run()
    if is_stored:
        await uninterrupted(processes.promote(stored_id, name))
    else:
        await uninterrupted(processes.finish(stored_id, found.hash))
    return report


async def append(
    store: Store,
    source: ProcessInput,
    *,
    process_id: str | None = None,
    max_node_text: int = MAX_NODE_TEXT,
    strict: bool = False,
    progress: Progress = no_progress,
) -> IngestReport:
    """Add what is new of an input to a stored process; what is stored is kept.

    Args:
        store: The graph.
        source: The input.
        process_id: The stored process, when it is not the input's own.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        strict: Whether generated text without recorded inputs is refused.
        progress: Called with what is done so far.

    Raises:
        InputError: The input names no process, or is too large for one transaction.
        InvalidProcess: Stored process and input together break rules; nothing was stored.
        NotFound: There is no such process.
        ProcessConflict: Other writers changed the process at every attempt.
        EngineError: The engine failed; the process is as it was.
    """
    name = process_id or source.header.process_id
    if name is None:
        raise InputError(
            "The input does not say which process it is to be appended to.",
            code="append_without_id",
        )

    async def once() -> IngestReport:
        await _settle_left(store, name)
        onto = await read_stored(store, name, progress)
        found = await read_and_check(
            source,
            process_id=name,
            max_node_text=max_node_text,
            strict=strict,
            onto=onto,
            progress=progress,
        )
        return await append_process(store, source, with_warnings(found), progress)

    for pause in _PAUSES:
        try:
            report = await once()
            break
        except ProcessChanged:
            await asyncio.sleep(pause * random.uniform(0.2, 1.0))  # noqa: S311
    else:
        report = await once()
    report = changed(report, claims=(await store.processes.get(name)).claims)
    return await restore(store, source, report)


async def _settle_left(store: Store, process_id: str) -> None:
    """Complete a replacement or a deletion that a dead writer left unfinished."""
    for name in (store.processes.staged_id(process_id), process_id):
        state = await store.processes.state(name)
        if state is not None and state.is_abandoned and state.status != LOADING:
            await store.processes.settle(state)


async def _settle(
    store: Store,
    found: Survey,
    plan: str,
    states: Mapping[str, StoredState],
    *,
    replace: bool,
) -> StoredState | None:
    """Settle what dead writers left under this id; return the part that can be continued."""
    continued = None
    staged_id = store.processes.staged_id(found.process_id)
    stored = states.get(found.process_id)
    differs = stored is not None and stored.status == READY and stored.content_hash != found.hash
    target = staged_id if replace and differs else found.process_id
    for name in (staged_id, found.process_id):
        state = states.get(name)
        if state is None or not state.is_abandoned:
            continue
        if name == target and state.can_go_on(plan):
            continued = state
        else:
            await store.processes.settle(state)
            states = await store.processes.states([staged_id, found.process_id])
    return continued
