"""Migrations: numbered statements that bring a graph to a version of the schema, each once.

One program at a time applies them. It writes its name and a sign of life on the node that
records the version; whoever comes meanwhile waits, and takes over from a dead one. Every
statement may run again, so what a dead one left half-done is simply done again.

Source: ours (docs/adr/0012-migrations.md).
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from veritrail_graph import cypher
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import EngineError, EngineUnavailable, ProcessConflict
from veritrail_graph.graph.store.address import DatabaseAddress
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.writers import STALE_SECONDS, is_alive, seconds_since, this_writer

Told = Callable[[str, int], None]
"""Told what is being done and how much of it is done."""

BEAT_SECONDS = 5.0
WAITING = "Another command is bringing the graph up to date"
# The key of the record goes first and without the lock: the lock is a property of the record.
_RECORD_KEY = "migrations/v0001_schema_key"
_FIRST_ROWS, _MOST_ROWS = 1_000, 20_000
_BATCH_SECONDS = 1.0
_ATTEMPTS = 6
_WAIT_SECONDS = 0.5

_log = logging.getLogger(__name__)


class _TakenOverError(Exception):
    """Somebody took this program for dead and goes on in its place."""


def tell_nobody(_what: str, _done: int) -> None:
    """Say nothing of migrations."""


def recorded_version(found: Any, address: DatabaseAddress) -> int:
    """The version that a graph's record holds.

    Raises:
        EngineError: It holds something else: somebody else wrote or changed the record.
    """
    if type(found) is int:
        return found
    raise EngineError(
        f"The record of the schema in the graph at {address.uri} cannot be read: the version of "
        f"its node `VeriTrailSchema` is {str(found)[:40]!r} and not a number, so another program "
        "changed it. Restore the graph from a back-up; or, when nothing else was changed, set "
        "`version` to 0 with any Bolt client: the next command makes what is lacking."
    )


def version_of(migration: str) -> int:
    """The version that a migration belongs to, from the name of its file."""
    return int(migration.removeprefix("migrations/v").partition("_")[0])


async def migrate(database: Database, version: int, told: Told = tell_nobody) -> None:
    """Apply what a graph lacks, or wait until whoever is at it has ended.

    The caller looks at the version afterwards: it may have to call again.

    Args:
        database: The graph.
        version: The version to reach.
        told: Told what takes long.

    Raises:
        EngineError: A migration failed; the next call goes on with it.
    """
    owner = this_writer()
    if not await _take(database, owner):
        await _wait(database, told)
        return
    reached: int | None = None
    try:
        async with _signs_of_life(database, owner):
            await _apply_missing(database, owner, version, told)
        reached = version
    except _TakenOverError:
        return
    finally:
        # A second fault here must not hide the first; an owner that is gone is taken for dead.
        with suppress(EngineError):
            await asyncio.shield(database.write("meta/end_update", owner=owner, version=reached))


async def _take(database: Database, owner: str) -> bool:
    """Become the one who applies migrations; False when somebody is at it."""
    for attempt in range(_ATTEMPTS):
        state = await database.read("meta/update_state")
        _, _, holder, beat = state[0] if state else (0, [], None, None)
        if holder and not _is_dead(holder, beat):
            return False
        try:
            if not state:
                await database.write(_RECORD_KEY)
            taken = await database.write(
                "meta/take_update", owner=owner, beat=now(), dead_owner=holder, dead_beat=beat
            )
            return bool(taken)
        except EngineUnavailable:
            raise
        except (EngineError, ProcessConflict):
            # Two first commands at once make the same things; engines let one of them fail.
            if attempt == _ATTEMPTS - 1:
                raise
            await asyncio.sleep(0.1 * 2**attempt)
    return False


def _is_dead(owner: str, beat: str | None) -> bool:
    """Whether a writer is gone, or stands still on this machine or another one."""
    if not beat or not is_alive(owner, beat):
        return True
    age = seconds_since(beat)
    return age is None or age > STALE_SECONDS


async def _wait(database: Database, told: Told) -> None:
    """Wait until nobody who is alive applies migrations."""
    while True:
        state = await database.read("meta/update_state")
        _, _, holder, beat = state[0] if state else (0, [], None, None)
        if not holder or _is_dead(holder, beat):
            return
        told(f"{WAITING} ({holder})", 0)
        await asyncio.sleep(_WAIT_SECONDS)


async def _apply_missing(database: Database, owner: str, version: int, told: Told) -> None:
    """Apply, in the order of their names, the migrations that are not recorded."""
    found, applied, *_ = (await database.read("meta/update_state"))[0]
    # Somebody else may have been here between our two looks.
    if recorded_version(found, database.address) >= version:
        return
    for name in missing(applied, version):
        await _apply(database, name, told)
        recorded = await database.write(
            "meta/record_migration",
            owner=owner,
            migration=_short(name),
            at=now(),
            by=_program_version(),
        )
        if not recorded:
            raise _TakenOverError


def missing(applied: Sequence[str], version: int) -> list[str]:
    """Migrations up to a version that are not among those applied, in their order."""
    return [
        name
        for name in cypher.names("migrations")
        if version_of(name) <= version and _short(name) not in applied
    ]


async def _apply(database: Database, name: str, told: Told) -> None:
    """Apply one migration; one that changes data goes in batches until nothing is left."""
    statement = cypher.load(name)
    if not statement.parameters:
        await database.write(name)
        return
    limit, total = _FIRST_ROWS, 0
    while True:
        started = time.monotonic()
        ((done,),) = await database.write(name, limit=limit)
        if not done:
            return
        total += done
        told(statement.purpose, total)
        # An engine holds what a batch touches: large texts keep the batches small.
        if time.monotonic() - started < _BATCH_SECONDS:
            limit = min(limit * 2, _MOST_ROWS)


@asynccontextmanager
async def _signs_of_life(database: Database, owner: str) -> AsyncIterator[None]:
    """Leave a sign of life every few seconds until the end of the block."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await database.write("meta/keep_update", owner=owner, beat=now())
            except EngineError as error:  # what is being applied meets the same fault
                _log.debug("no sign of life: %s", error)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def _program_version() -> str:
    try:
        return importlib.metadata.version("veritrail-graph")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
