"""Statements of ours that may look at a whole process: they get the time of a query."""

from __future__ import annotations

from typing import Any

from veritrail_graph import cypher
from veritrail_graph.graph.store.database import Database, Row


async def look(database: Database, name: str, most: int, /, **parameters: Any) -> list[Row]:
    """Run a reading statement by its name.

    Args:
        database: Runs it.
        name: The statement.
        most: At most this many rows come back; its `limit`, where it has one and gets no other.
        parameters: Its parameters.

    Raises:
        QueryTimeout: It took longer than a query may.
    """
    statement = cypher.load(name)
    if any(one.name == "limit" for one in statement.parameters):
        parameters.setdefault("limit", most)
    return (await database.run_text(statement.text, parameters, most)).rows
