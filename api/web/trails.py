"""What pages read of a trail: its outline, and the texts of its nodes."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.outline import TrailOutline
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.outlines import read_outline

MOST_TEXT = 20_000_000
"""UTF-16 units of texts that are read to show sentences in their surroundings."""


async def outline_of(
    store: Store, process_id: str, claim_id: str, name: str | None
) -> TrailOutline | None:
    """A verification of this claim; None where it is gone, or is one of another claim."""
    if name is None:
        return None
    try:
        found = await read_outline(store.database, name)
    except NotFound:
        return None
    one = found.verification
    return found if (one.process_id, one.claim.claim_id) == (process_id, claim_id) else None


async def texts_of(store: Store, process_id: str, names: Sequence[str]) -> dict[str, str]:
    """Texts of nodes by node_id; those for which there is no room any more are left out."""
    nodes = await store.nodes.get(process_id, names)
    fitting, left = [], MOST_TEXT
    for node in nodes:
        if node.length <= left:
            fitting.append(node.node_id)
            left -= node.length
    return await store.reading.texts(process_id, fitting)
