"""Joins spans to the nodes of another application that they were copied from.

Those nodes keep their labels and properties. A deletion of the process takes the spans and with
them the relationships, and nothing else.
"""

from __future__ import annotations

import asyncio
from itertools import islice

from veritrail_graph.graph.importers.records import CopiedInput
from veritrail_graph.graph.store import Store

_BATCH = 1_000


async def link_copies(store: Store, process_id: str, source: CopiedInput) -> int:
    """Join the spans of a stored process to what they are copies of, if that is in the same graph.

    It may be repeated: what is joined stays joined once.

    Returns:
        How many spans are joined.

    Raises:
        EngineError: One of the graphs does not answer.
    """
    rows = await store.database.read("source_graph/stored_at", process_id=process_id)
    here = rows[0][0] if rows else None
    if here is None or here != await asyncio.to_thread(source.stored_at, process_id):
        return 0
    linked, copies = 0, source.copies()
    while batch := list(islice(copies, _BATCH)):
        known = {"process_id": process_id, "rows": [list(one) for one in batch]}
        ((count,),) = await store.database.write("source_graph/link", **known)
        linked += count
    return linked
