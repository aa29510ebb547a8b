"""The schema of a graph: made on first use, and brought up to this program's version.

A graph records one version. A graph of this program's version costs one read. In any other,
the migrations of later versions run first, in the order of their names, and then the
statements of `cypher/schema.cypher`. Every statement can run again, and the version is
recorded last, so the next program repeats what a killed one left half done.

One program at a time does this. It writes its name and a sign of life on the node that
records the version; other programs wait for it, and replace it when it is dead.

Source: ours (docs/adr/0012-migrations.md).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from veritrail_graph import cypher
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import EngineError, EngineUnavailable, ProcessConflict
from veritrail_graph.graph.store.database import Database, DatabaseAddress, Row
from veritrail_graph.graph.writers import STALE_SECONDS, is_alive, seconds_since, this_writer

SCHEMA_VERSION = 11
"""A migration `cypher/migrations/v0006_….cypher` raises it, or a new rule of `schema.cypher`."""

Report = Callable[[str, int], None]
"""Called with what is being done and the number of nodes that were changed so far."""

WAITING = "Another program is bringing the graph up to date"
BEAT_SECONDS = 5.0
_RECORD_KEY = "schema/schema_key"  # made without the lock: the lock is a property of the record
_FIRST_ROWS, _MOST_ROWS = 1_000, 20_000
_BATCH_SECONDS = 1.0
_ATTEMPTS = 6
_WAIT_SECONDS = 0.5
_REPORT_AFTER, _REPORT_AGAIN = 1.0, 10.0

_log = logging.getLogger("veritrail.store")


async def ensure_schema(
    database: Database, report: Report | None = None, record: Sequence[Row] | None = None
) -> None:
    """Bring a graph to this program's version of the schema; one read where it has it.

    Args:
        database: The graph.
        report: Called while this takes long; by default a warning is logged now and then.
        record: The record of the schema, where it was read already (`Database.connect`).

    Raises:
        EngineError: The graph was written by a newer version of this program, its record of the
            version cannot be read, or a statement failed; the next call repeats it.
    """
    while (found := await _version(database, record)) != SCHEMA_VERSION:
        record = None
        if found > SCHEMA_VERSION:
            raise EngineError(
                f"The graph at {database.address.uri} has schema version {found}; this program "
                f"knows version {SCHEMA_VERSION}. Update veritrail-graph to work with it."
            )
        report = report or _warn_now_and_then(database)
        owner = this_writer()
        if await _take(database, owner):
            await _change(database, owner, report)
        else:
            await _wait(database, report)


async def _version(database: Database, record: Sequence[Row] | None = None) -> int:
    rows = await database.read("meta/schema_state") if record is None else record
    return _recorded(rows[0][0], database.address) if rows else 0


def _recorded(found: Any, address: DatabaseAddress) -> int:
    if type(found) is int:
        return found
    raise EngineError(
        f"The record of the schema in the graph at {address.uri} cannot be read: the version of "
        f"its node `VeriTrailSchema` is {str(found)[:40]!r} and not a number, so another program "
        "changed it. Restore the graph from a back-up; or, when nothing else was changed, set "
        "`version` to 0 with any Bolt client: the next command makes what is lacking."
    )


async def _take(database: Database, owner: str) -> bool:
    """Take the right to change the schema; False when a writer that is alive has it."""
    for attempt in range(_ATTEMPTS):
        state = await database.read("meta/schema_state")
        _, holder, beat = state[0] if state else (0, None, None)
        if holder and not _is_dead(holder, beat):
            return False
        try:
            if not state:
                await database.write(_RECORD_KEY)
            taken = await database.write(
                "meta/take_schema", owner=owner, beat=now(), dead_owner=holder, dead_beat=beat
            )
            return bool(taken)
        except EngineUnavailable:
            raise
        except (EngineError, ProcessConflict):
            # Two first programs at once make the same things; engines let one of them fail.
            if attempt == _ATTEMPTS - 1:
                raise
            await asyncio.sleep(0.1 * 2**attempt)
    return False


def _is_dead(owner: str, beat: str | None) -> bool:
    """Return whether a writer has ended, or gave no sign of life for too long, on any machine."""
    if not beat or not is_alive(owner, beat):
        return True
    age = seconds_since(beat)
    return age is None or age > STALE_SECONDS


async def _wait(database: Database, report: Report) -> None:
    """Wait until no writer that is alive changes the schema."""
    while True:
        state = await database.read("meta/schema_state")
        _, holder, beat = state[0] if state else (0, None, None)
        if not holder or _is_dead(holder, beat):
            return
        report(f"{WAITING} ({holder})", 0)
        await asyncio.sleep(_WAIT_SECONDS)


async def _change(database: Database, owner: str, report: Report) -> None:
    """Run what the graph lacks, record the version, and give back the right to change it."""
    reached: int | None = None
    try:
        async with _signs_of_life(database, owner):
            # Another program may have been here since the version was read.
            for name in _lacking(await _version(database)):
                await _run(database, name, report)
        reached = SCHEMA_VERSION
    finally:
        # A second fault must not hide the first; a writer that has ended is taken for dead. One
        # that was replaced records nothing: its replacement repeats what it did.
        with suppress(EngineError):
            await asyncio.shield(
                database.write("meta/release_schema", owner=owner, version=reached)
            )


def _lacking(version: int) -> list[str]:
    """Statements that bring a graph of one version to this program's, in their order."""
    if version >= SCHEMA_VERSION:
        return []
    migrations = [
        name
        for name in cypher.names("migrations")
        if version < int(name.removeprefix("migrations/v").partition("_")[0]) <= SCHEMA_VERSION
    ]
    return [*migrations, *(statement.name for statement in cypher.schema())]


async def _run(database: Database, name: str, report: Report) -> None:
    """Run one statement; one that changes data runs in batches until it changes nothing."""
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
        report(statement.purpose, total)
        # An engine holds in memory what a batch touches: large texts keep the batches small.
        if time.monotonic() - started < _BATCH_SECONDS:
            limit = min(limit * 2, _MOST_ROWS)


@asynccontextmanager
async def _signs_of_life(database: Database, owner: str) -> AsyncIterator[None]:
    """Leave a sign of life every few seconds until the end of the block."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await database.write("meta/keep_schema", owner=owner, beat=now())
            except EngineError as error:  # the statement that runs meets the same fault
                _log.debug("no sign of life: %s", error)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


def _warn_now_and_then(database: Database) -> Report:
    """Log what takes more than a moment, and again every few seconds."""
    next_time = time.monotonic() + _REPORT_AFTER

    def report(what: str, done: int) -> None:
        nonlocal next_time
        if time.monotonic() < next_time:
            return
        next_time = time.monotonic() + _REPORT_AGAIN
        _log.warning(
            "Bringing the graph at %s up to schema version %d, once: %s%s",
            database.address.uri,
            SCHEMA_VERSION,
            what,
            f" {done:,} so far." if done else "",
        )

    return report
