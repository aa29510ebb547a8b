"""The schema's version: read once a connection, brought up to this program's when it is older.

Source: ours (docs/adr/0012-migrations.md).
"""

from __future__ import annotations

import logging
import time

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.migrations import Told, migrate, recorded_version

_log = logging.getLogger("veritrail.store")
_TELL_AFTER, _TELL_AGAIN = 1.0, 10.0

SCHEMA_VERSION = 4


async def ensure_schema(database: Database, told: Told | None = None) -> None:
    """Apply the migrations that a graph lacks; one read where it lacks none.

    Args:
        database: The graph.
        told: Told what is being done, and how much of it is; by default a warning is logged now
            and then when it takes long.

    Raises:
        EngineError: The graph was written by a newer version of this program, its record of the
            version cannot be read, or a migration failed; the next call goes on with that.
    """
    while not await _is_made(database):
        told = told or _told_by_the_log(database)
        await migrate(database, SCHEMA_VERSION, told)


async def _is_made(database: Database) -> bool:
    rows = await database.read("meta/schema_version")
    found = recorded_version(rows[0][0], database.address) if rows else 0
    if found > SCHEMA_VERSION:
        raise EngineError(
            f"The graph at {database.address.uri} has schema version {found}; this program knows "
            f"version {SCHEMA_VERSION}. Update veritrail-graph to work with it."
        )
    return found == SCHEMA_VERSION


def _told_by_the_log(database: Database) -> Told:
    """Say what takes more than a moment, and again every few seconds."""
    next_time = time.monotonic() + _TELL_AFTER

    def tell(what: str, done: int) -> None:
        nonlocal next_time
        if time.monotonic() < next_time:
            return
        next_time = time.monotonic() + _TELL_AGAIN
        _log.warning(
            "Bringing the graph at %s up to schema version %d, once: %s%s",
            database.address.uri,
            SCHEMA_VERSION,
            what,
            f" {done:,} so far." if done else "",
        )

    return tell
