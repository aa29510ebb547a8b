"""Putting a staged process in the place of a stored one, whose id is never free meanwhile.

One transaction hides both. Then what belongs to the old one is removed, and what belongs to the
new one gets the id. The node of the old one keeps it to the end, so that the constraint refuses
every other writer. The last transaction swaps the two nodes.
"""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.removing import DELETE_BATCH, EMPTIED, purge
from veritrail_graph.graph.store.states import (
    REPLACING,
    being_written,
    held,
    hidden,
    hold,
    marked,
    taken_from_us,
)
from veritrail_graph.graph.writers import this_writer


async def put_in_place(database: Database, staged_id: str, process_id: str) -> None:
    """Remove what belongs to the old process, and give its id to the new one.

    It may be called again by the writer that holds the staged process.

    Raises:
        ProcessConflict: One of the two was removed or taken over by another writer.
    """
    ids: dict[str, Any] = {"staged_id": staged_id, "process_id": process_id}

    def hide(tx: Transaction) -> bool:
        hold(tx, staged_id)
        tx.run("process/inherit", **ids)
        old = tx.run("process/hide_replaced", **held(process_id))
        if not old:
            if tx.run("process/state", process_ids=[process_id]):
                raise being_written(process_id)  # what it was to replace is gone
            # A node that keeps the id. Where another writer has it already, this is refused.
            tx.run("process/begin", properties={**held(process_id), "status": REPLACING})
        # Also where the old one was removed: after a kill the staged one must be kept.
        tx.run("process/mark", **marked(staged_id, REPLACING))
        # Once nothing but the id is left of the old one, what has the id is of the new one.
        return old == [(False,)]

    def move(tx: Transaction) -> int:
        hold(tx, staged_id)
        return sum(
            tx.run(name, limit=DELETE_BATCH, **ids)[0][0]
            for name in ("process/rename_spans", "process/rename_claims")
        )

    def swap(tx: Transaction) -> bool:
        # Moved once more: one look may miss what another transaction is just changing.
        return not move(tx) and bool(tx.run("process/rename", owner=this_writer(), **ids))

    def hold_replaced(tx: Transaction) -> bool:
        if not tx.run("process/hold_hidden", **hidden(process_id, REPLACING)):
            raise taken_from_us(process_id)
        return True

    async def beat() -> None:
        for name in (process_id, staged_id):
            await database.write("process/beat", **held(name))

    if await database.write_with(hide, repeatable=True):
        await purge(database, process_id, hold_replaced, beat, EMPTIED)
    is_done = False
    while not is_done:
        while await database.write_with(move, repeatable=True):
            pass
        is_done = await database.write_with(swap, repeatable=True)
