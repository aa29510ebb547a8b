"""Removing a hidden process from the graph, in batches, with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.store.database import Database, Transaction

DELETE_BATCH = 5_000
MOST_LINKS = 10_000
"""Links of an iteration to what it checked that are deleted together with it."""

TRAIL_BATCH = 100  # iterations; each may have checked thousands of spans


@dataclass(frozen=True, slots=True)
class _Deletion:
    """A statement that deletes what belongs to a process; `most` of it go in a transaction."""

    name: str
    most: int = DELETE_BATCH
    parameters: Mapping[str, Any] = field(default_factory=dict)


_LINKS = (
    _Deletion("process/delete_checked", parameters={"most": MOST_LINKS}),
    _Deletion("process/delete_compared"),
)
_PARTS = (
    _Deletion("process/delete_trail_nodes"),
    _Deletion("process/delete_trails", TRAIL_BATCH),
    _Deletion("process/delete_reviews"),
    _Deletion("process/delete_verifications"),
    _Deletion("process/delete_turn_verifications"),
    _Deletion("process/delete_revisions"),
    _Deletion("process/delete_sentences"),
    _Deletion("process/delete_claims"),
    _Deletion("process/delete_extractions"),
)
"""What is deleted with a process, in this order, before its nodes."""
_EDGES = "process/delete_edges"
_SPANS = _Deletion("process/delete_spans")
REMOVED, EMPTIED = "process/remove", "process/empty"
"""What becomes of the node of the process at the end: it is removed, or keeps the id."""

Hold = Callable[[Transaction], bool]
"""Holds a process to the end of a transaction; false where it is not there to be removed."""
Beat = Callable[[], Awaitable[None]]
"""Leaves a sign of life."""


async def purge(
    database: Database, process_id: str, hold: Hold, beat: Beat, last: str = REMOVED
) -> None:
    """Remove everything that belongs to a process that is hidden.

    Another writer may be removing the process, too, and then put a new one under
    the id. So every batch holds it, and this ends when there is nothing to hold any more.

    Args:
        database: The graph.
        process_id: The process.
        hold: Holds it to the end of a transaction; false where it is not there to be removed.
        beat: Called after each transaction.
        last: Removes its node (`REMOVED`), or leaves one that keeps the id (`EMPTIED`).
    """
    await _delete(database, process_id, [*_LINKS, *_PARTS], hold, beat)
    # A span goes with its edges; one with too many of them for a transaction loses them first.
    hubs = await database.read("process/hubs", degree=DELETE_BATCH, process_id=process_id)
    edges = [_Deletion(_EDGES, parameters={"node_id": node_id}) for (node_id,) in hubs]
    await _delete(database, process_id, [*edges, _SPANS], hold, beat)
    # Once more: a trail that was being written when the process was hidden is stored after that,
    # and one look may miss what another transaction is just changing.
    await _delete(database, process_id, [*_PARTS, _SPANS, _Deletion(last)], hold, beat)


async def _delete(
    database: Database, process_id: str, deletions: Sequence[_Deletion], hold: Hold, beat: Beat
) -> None:
    """Delete one kind after another, as much in a transaction as one may hold."""
    left = list(deletions)

    def work(tx: Transaction) -> list[_Deletion]:
        if not hold(tx):
            return []
        room = DELETE_BATCH
        for place, kind in enumerate(left):
            limit = min(kind.most, room)
            whose: dict[str, Any] = {"process_id": process_id, **kind.parameters}
            ((done,),) = tx.run(kind.name, limit=limit, **whose)
            room -= done
            if done == limit:
                return left[place:]
        return []

    while left := await database.write_with(work, repeatable=True):
        await beat()
