"""Everything that stands in a graph, so that two states of it can be compared."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from veritrail_graph.graph.store import Store

_MOST = 1_000_000
_NODES = "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties"
_EDGES = (
    "MATCH (a)-[r]->(b) RETURN type(r) AS type, properties(r) AS properties, "
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
    ids = {processes} if isinstance(processes, str) else set(processes)
    nodes = (await store.database.run_text(_NODES, {}, _MOST)).rows
    edges = (await store.database.run_text(_EDGES, {}, _MOST)).rows
    lines = [
        _line(row, without)
        for row, carriers in [
            *((node, (node[1],)) for node in nodes),
            *((edge, (edge[3], edge[5])) for edge in edges),
        ]
        if any(one.get("process_id") in ids for one in carriers)
    ]
    return sorted(lines)


def _line(row: tuple[Any, ...], without: tuple[str, ...]) -> str:
    kept = [
        {key: value for key, value in part.items() if key not in without}
        if isinstance(part, dict)
        else part
        for part in row
    ]
    return json.dumps(kept, sort_keys=True, default=str)
