"""What a process has many of, read page by page in a fixed order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from veritrail_graph.graph.store.database import Database

Properties = Mapping[str, Any]

ROWS = 1_000
"""Rows of a page."""


def claim_pages(database: Database, process_id: str) -> AsyncIterator[list[Properties]]:
    """Claims, in the order of the input."""
    cursor = {"after": ("position", -1), "after_id": ("claim_id", "")}
    return pages(database, "trail/claims", cursor, process_id)


def extraction_pages(database: Database, process_id: str) -> AsyncIterator[list[Properties]]:
    """What claim extraction left of sentences, by node and place."""
    cursor = {"after": ("node_id", ""), "after_position": ("position", -1)}
    return pages(database, "process/extractions", cursor, process_id)


async def pages(
    database: Database, name: str, cursor: Mapping[str, tuple[str, Any]], process_id: str
) -> AsyncIterator[list[Properties]]:
    """The answer of a statement whose one column holds properties; no page is empty.

    Args:
        database: Runs it.
        name: The statement; it takes `process_id` and `limit`.
        cursor: By parameter: the property of the last row that says where the next page begins,
            and a value before all others.
        process_id: The process.
    """
    place = {parameter: first for parameter, (_, first) in cursor.items()}
    while True:
        rows = await database.read(name, process_id=process_id, limit=ROWS, **place)
        if rows:
            yield [properties for (properties,) in rows]
        if len(rows) < ROWS:
            return
        last = rows[-1][0]
        place = {parameter: last[key] for parameter, (key, _) in cursor.items()}
