"""Constraints and indexes, made on first use and recorded with a version."""

from __future__ import annotations

import asyncio

import cypher
from graph.errors import EngineError, EngineUnavailable, ProcessConflict
from graph.store.database import Database

SCHEMA_VERSION = 2
_ATTEMPTS = 6


async def ensure_schema(database: Database) -> None:
    """Make the constraints and indexes of this version, once a graph.

    Raises:
        EngineError: The graph was written by a newer version of this program.
    """
    for attempt in range(_ATTEMPTS):
        if await _is_made(database):
            return
        try:
            await _make(database)
        except EngineUnavailable:
            raise
        except (EngineError, ProcessConflict):
            # Two first commands at once make the same things; engines let one of them fail.
            if attempt == _ATTEMPTS - 1:
                raise
            await asyncio.sleep(0.1 * 2**attempt)


async def _is_made(database: Database) -> bool:
    rows = await database.read("meta/schema_version")
    found = rows[0][0] if rows else 0
    if found > SCHEMA_VERSION:
        raise EngineError(
            f"The graph at {database.address.uri} has schema version {found}; this program knows "
            f"version {SCHEMA_VERSION}. Update veritrail-graph to work with it."
        )
    return bool(found == SCHEMA_VERSION)


async def _make(database: Database) -> None:
    for name in cypher.names("schema"):
        await database.write(name)
    await database.write("meta/set_schema_version", version=SCHEMA_VERSION)
