"""Constraints and indexes, made on first use and recorded with a version."""

from __future__ import annotations

import cypher
from graph.errors import EngineError
from graph.store.database import Database

SCHEMA_VERSION = 1


async def ensure_schema(database: Database) -> None:
    """Make the constraints and indexes of this version, once a graph.

    Raises:
        EngineError: The graph was written by a newer version of this program.
    """
    rows = await database.read("meta/schema_version")
    found = rows[0][0] if rows else 0
    if found == SCHEMA_VERSION:
        return
    if found > SCHEMA_VERSION:
        raise EngineError(
            f"The graph at {database.address.uri} has schema version {found}; this program knows "
            f"version {SCHEMA_VERSION}. Update veritrail-graph to work with it."
        )
    for name in cypher.names("schema"):
        await database.write(name)
    await database.write("meta/set_schema_version", version=SCHEMA_VERSION)
