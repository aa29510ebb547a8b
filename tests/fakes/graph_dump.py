"""The whole content of a graph, so that two states of it can be compared."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from veritrail_graph.graph.store import Store

_MOST = 1_000_000
_NODES = (
    "MATCH (n) WHERE n.process_id IN $ids RETURN labels(n) AS labels, properties(n) AS properties"
)
_EDGES = (
    "MATCH (a)-[r]->(b) WHERE a.process_id IN $ids OR b.process_id IN $ids "
    "RETURN type(r) AS type, properties(r) AS properties, "
    "labels(a) AS from_labels, properties(a) AS source, labels(b) AS to_labels, "
    "properties(b) AS target"
)


async def dump(store: Store, processes: str | Collection[str], *without: str) -> list[str]:
    """Every node and every relationship as a line of JSON, sorted.

    Args:
        store: The graph.
        processes: Only what carries one of these process_ids; relationships of which either end
            does. Another worker may write to the same graph.
        *without: Properties that are left out.
    """
    ids = [processes] if isinstance(processes, str) else list(processes)
    nodes = (await store.database.run_text(_NODES, {"ids": ids}, _MOST)).rows
    edges = (await store.database.run_text(_EDGES, {"ids": ids}, _MOST)).rows
    return sorted(_line(row, without) for row in (*nodes, *edges))


def _line(row: tuple[Any, ...], without: tuple[str, ...]) -> str:
    kept = [
        {key: value for key, value in part.items() if key not in without}
        if isinstance(part, dict)
        else part
        for part in row
    ]
    return json.dumps(kept, sort_keys=True, default=str)
