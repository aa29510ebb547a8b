"""The second reading of an input: storing a process that keeps every rule.

Spans go in bounded batches, then edges grouped by their target, then claims. A kill
half-way leaves a process that nobody sees; the next ingest of the same input goes on with
it, that of another one, or `db clean`, removes it.

Source: VeriTrail 2.
"""

from __future__ import annotations

import asyncio
import dataclasses
import random
from dataclasses import dataclass

from veritrail_graph.graph.appending import (
    Appended,
    ProcessChanged,
    append_process,
    stored_shape,
    with_warnings,
)
from veritrail_graph.graph.batches import plan_key
from veritrail_graph.graph.errors import BeingWritten, InputError, ProcessConflict
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.loading import Loading, Progress, no_progress
from veritrail_graph.graph.restoring import restore
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.process_state import LOADING, READY, StoredState
from veritrail_graph.graph.stored_shape import StoredShape
from veritrail_graph.graph.survey import MAX_NODE_TEXT, Survey
from veritrail_graph.graph.trail_checks import survey_whole

_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts to append to a process that others append to at the same time."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did.

    Attributes:
        survey: The process that was read.
        status: `created`, `unchanged`, `replaced` or `appended`.
        claims: Claims that the process has now.
        claims_added: Claims that were not stored before.
        removed_verifications: Verifications that a replacement removed.
        verifications_added: Verifications of the input that were not stored before.
        resumed: Whether it went on with what an earlier one, killed under way, had stored.
        nodes_added: Nodes that an append added.
        edges_added: Edges that an append added.
        removed_reviews: Reviews that a replacement removed.
        reviews_added: Reviews of the input that were not stored before.
    """

    survey: Survey
    status: str
    claims: int
    claims_added: int
    removed_verifications: int = 0
    verifications_added: int = 0
    resumed: bool = False
    nodes_added: int = 0
    edges_added: int = 0
    removed_reviews: int = 0
    reviews_added: int = 0


async def ingest(
    store: Store,
    source: ProcessInput,
    *,
    process_id: str | None = None,
    replace: bool = False,
    max_node_text: int = MAX_NODE_TEXT,
    progress: Progress = no_progress,
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
    report = await store_process(store, source, found, replace=replace, progress=progress)
    return await restore(store, source, report)


async def read_and_check(
    source: ProcessInput,
    *,
    process_id: str | None = None,
    max_node_text: int = MAX_NODE_TEXT,
    onto: StoredShape | None = None,
    progress: Progress = no_progress,
) -> Survey:
    """The first reading alone; it needs no graph.

    Args:
        source: The input.
        process_id: Takes the place of the input's own.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        onto: The stored process that it is to be appended to.
        progress: Told how far it is.

    Raises:
        InvalidProcess: The input breaks rules; all violations are listed.
    """
    return await asyncio.to_thread(
        survey_whole,
        source,
        process_id=process_id,
        max_node_text=max_node_text,
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
        ProcessConflict: Another content is stored under the id, or somebody is writing it.
        EngineError: The engine failed; what was stored of the process is not visible.
    """
    processes = store.processes
    plan = await asyncio.to_thread(plan_key, found)
    left = await _settle(store, found, plan, replace=replace)
    state = await processes.state(found.process_id)
    if state is not None and state.status != READY and left != state:
        raise BeingWritten(
            f"Process {found.process_id!r} is being written by another command "
            f"({state.owner}, last sign of life {state.beat}). Wait for it to end."
        )
    is_stored = state is not None and state.status == READY
    if state is not None and is_stored and state.content_hash == found.hash:
        added = await processes.add_claims(found.process_id, found.claims)
        stored = await processes.get(found.process_id)
        return IngestReport(found, "unchanged", stored.claims, added)
    if is_stored and not replace:
        raise ProcessConflict(
            f"Process {found.process_id!r} is stored with another content. Use --replace to "
            "replace it, which removes its verifications, --append to add to it, or --process-id "
            "for another id."
        )
    new = IngestReport(found, "created", len(found.claims), len(found.claims))
    if is_stored:
        removed = await processes.count_verifications(found.process_id)
        new = dataclasses.replace(
            new,
            status="replaced",
            removed_verifications=removed,
            removed_reviews=await store.reviews.count(found.process_id),
        )
    await _load(store, source, found, plan, left, replaces=is_stored, progress=progress)
    return dataclasses.replace(new, resumed=left is not None)


async def _load(
    store: Store,
    source: ProcessInput,
    found: Survey,
    plan: str,
    left: StoredState | None,
    *,
    replaces: bool,
    progress: Progress,
) -> None:
    """Load a process, from its beginning or from where a dead writer left it; make it visible."""
    processes = store.processes
    replaced = found.process_id if replaces else None
    if left is None:
        stored_id = await processes.begin(found, replaces=replaced, plan=plan)
    else:
        stored_id = left.process_id
        await processes.take_over(left)
    await Loading(store, stored_id, source, found, progress, resumed=left is not None).run()
    if replaced is None:
        await processes.finish(stored_id, found.hash)
    else:
        await processes.promote(stored_id, replaced)


async def append(
    store: Store,
    source: ProcessInput,
    *,
    process_id: str | None = None,
    max_node_text: int = MAX_NODE_TEXT,
    progress: Progress = no_progress,
) -> IngestReport:
    """Add what is new of an input to a stored process; what is stored stays.

    Args:
        store: The graph.
        source: The input.
        process_id: The stored process, when it is not the input's own.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        progress: Told how far it is.

    Raises:
        InputError: The input names no process, or is too large for one transaction.
        InvalidProcess: Stored process and input together break rules; nothing was stored.
        NotFound: There is no such process.
        ProcessConflict: Others changed the process again and again meanwhile.
        EngineError: The engine failed; the process is as it was.
    """
    name = process_id or source.header.process_id
    if name is None:
        raise InputError(
            "The input does not say which process it is to be appended to; name it with "
            "--process-id."
        )
    for pause in _PAUSES:
        try:
            done = await _append_once(store, source, name, max_node_text, progress)
            break
        except ProcessChanged:
            await asyncio.sleep(pause * random.uniform(0.2, 1.0))  # noqa: S311
    else:
        done = await _append_once(store, source, name, max_node_text, progress)
    stored = await store.processes.get(name)
    report = IngestReport(
        done.survey,
        "unchanged" if done.is_unchanged else "appended",
        stored.claims,
        done.claims_added,
        nodes_added=done.nodes_added,
        edges_added=done.edges_added,
    )
    return await restore(store, source, report)


async def _append_once(
    store: Store, source: ProcessInput, name: str, max_node_text: int, progress: Progress
) -> Appended:
    """Read what is stored, check both together, and store what is new."""
    await _settle_left(store, name)
    onto = await stored_shape(store, name, progress)
    found = await read_and_check(
        source, process_id=name, max_node_text=max_node_text, onto=onto, progress=progress
    )
    return await append_process(store, source, with_warnings(found), progress)


async def _settle_left(store: Store, process_id: str) -> None:
    """Finish what a dead writer left of a replacement or a deletion."""
    for name in (store.processes.staged_id(process_id), process_id):
        state = await store.processes.state(name)
        if state is not None and state.is_abandoned and state.status != LOADING:
            await store.processes.settle(state)


async def _settle(store: Store, found: Survey, plan: str, *, replace: bool) -> StoredState | None:
    """Take up what a dead writer left under this id; give what can be gone on with."""
    going_on = None
    staged_id = store.processes.staged_id(found.process_id)
    stored = await store.processes.state(found.process_id)
    is_other = stored is not None and stored.status == READY and stored.content_hash != found.hash
    wanted = staged_id if replace and is_other else found.process_id
    for name in (staged_id, found.process_id):
        state = await store.processes.state(name)
        if state is None or not state.is_abandoned:
            continue
        if name == wanted and state.can_go_on(plan):
            going_on = state
        else:
            await store.processes.settle(state)
    return going_on


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
