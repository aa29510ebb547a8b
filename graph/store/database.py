"""The one place that speaks to the driver: runs statements, retries, and names faults.

The synchronous driver runs in threads behind an async face: it answers the small queries
of a walk several times faster than the asynchronous one (docs/adr/0004-driver.md).
"""

from __future__ import annotations

import asyncio
import functools
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

import cypher
from graph.errors import (
    EngineError,
    EngineUnavailable,
    InputError,
    ProcessConflict,
    StoreFull,
)

# The driver logs what it retries and raises; the user is told by our own errors.
logging.getLogger("neo4j").setLevel(logging.CRITICAL)

Row = tuple[Any, ...]
Step = tuple[str, Mapping[str, Any]]
T = TypeVar("T")

CONNECTIONS = 8
"""Threads, and connections, of one store."""

# What engines say of a full disk; ArcadeDB only says that the commit failed.
_FULL = (
    "no space left",
    "file too large",
    "disk quota",
    "not enough disk",
    "transaction error on commit",
)


# What ArcadeDB says when two writers meet and it has not called that a transient error.
_COLLISIONS = ("retry the operation", "concurrent commit", "concurrent modification")
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a graph engine listens, and who we are to it."""

    uri: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None


class Database:
    """A connection to a graph engine that runs the statements of `cypher/`.

    Args:
        address: Where the engine listens.
        connect_timeout: Seconds to wait for a connection.
        retry_seconds: How long a transaction is tried again after a passing fault.
    """

    def __init__(
        self,
        address: DatabaseAddress,
        *,
        connect_timeout: float = 10.0,
        retry_seconds: float = 15.0,
    ) -> None:
        self.address = address
        auth = (address.username, address.password or "") if address.username else None
        try:
            self._driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=auth,
                connection_timeout=connect_timeout,
                connection_acquisition_timeout=connect_timeout * 3,
                max_transaction_retry_time=retry_seconds,
                max_connection_pool_size=CONNECTIONS,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
            )
        except (ConfigurationError, ValueError) as error:
            raise EngineUnavailable(f"NEO4J_URI {address.uri!r} cannot be used: {error}") from None
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="veritrail-store")
        self.calls = 0
        # How many transactions of one ingest are best written at a time; see `connect`.
        self.writers = 1

    async def connect(self) -> None:
        """Make sure that the engine answers, and see which one it is.

        Raises:
            EngineUnavailable: It does not, or does not let us in.
        """
        server = await self._in_thread(self._driver.get_server_info)
        # Neo4j locks what two writers share and lets one wait; ArcadeDB lets one start again.
        self.writers = 1 if "ArcadeDB" in server.agent else 2

    async def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a reading statement; rows hold the values in the order of its columns."""
        return await self._run(neo4j.READ_ACCESS, [(name, parameters)])

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one statement in a transaction of its own."""
        return await self._run(neo4j.WRITE_ACCESS, [(name, parameters)])

    async def write_all(self, steps: Sequence[Step]) -> list[Row]:
        """Run several statements in one transaction; gives the rows of the last one."""
        return await self._run(neo4j.WRITE_ACCESS, steps)

    async def write_with(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in one transaction; it may be called again after a passing fault."""

        def call() -> T:
            with self._session(neo4j.WRITE_ACCESS) as session:
                return session.execute_write(lambda tx: work(Transaction(tx, self)))

        return await self._in_thread(call)

    async def run_text(
        self, text: str, parameters: Mapping[str, Any], limit: int, *, write: bool = False
    ) -> QueryRows:
        """Run a statement given as text; at most `limit` rows come back."""

        def call() -> QueryRows:
            with self._session(neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS) as session:
                return (session.execute_write if write else session.execute_read)(work)

        def work(tx: neo4j.ManagedTransaction) -> QueryRows:
            result = tx.run(text, dict(parameters))
            rows = [tuple(record.values()) for record in result.fetch(limit + 1)]
            return QueryRows(tuple(result.keys()), rows[:limit], truncated=len(rows) > limit)

        self.calls += 1
        return await self._in_thread(call)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(self._driver.close)
        self._threads.shutdown(wait=False)

    async def _run(self, access: str, steps: Sequence[Step]) -> list[Row]:
        def work(tx: neo4j.ManagedTransaction) -> list[Row]:
            transaction = Transaction(tx, self)
            rows: list[Row] = []
            for name, parameters in steps:
                rows = transaction.run(name, **parameters)
            return rows

        def call() -> list[Row]:
            with self._session(access) as session:
                if access == neo4j.READ_ACCESS:
                    return session.execute_read(work)
                return session.execute_write(work)

        return await self._in_thread(call)

    def _session(self, access: str) -> neo4j.Session:
        return self._driver.session(database=self.address.database, default_access_mode=access)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            for pause in _PAUSES:
                try:
                    return await loop.run_in_executor(self._threads, functools.partial(call))
                except Neo4jError as error:
                    if not _is_passing(error):
                        raise
                    await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
            return await loop.run_in_executor(self._threads, functools.partial(call))
        except UnicodeEncodeError as error:
            raise InputError(f"{error.object[:80]!a} holds a lone surrogate") from None
        except OverflowError as error:
            raise InputError(f"A number is too large to be stored: {error}") from None
        except (DriverError, Neo4jError, OSError) as error:
            raise self._named(error) from error

    def _named(self, error: Exception) -> Exception:
        """The fault in our own words; the driver's words only where they help."""
        uri = self.address.uri
        text = (error.message if isinstance(error, Neo4jError) else None) or str(error)
        if any(words in text.lower() for words in _FULL):
            return StoreFull(
                f"The graph engine at {uri} could not store what it was given: most likely its "
                "disk has no room left. Nothing of this step was stored. Free disk space and run "
                "the command again."
            )
        if isinstance(error, ConstraintError):
            return ProcessConflict(
                "Somebody else has just written the same; run the command again."
            )
        if isinstance(error, AuthError):
            return EngineUnavailable(
                f"The graph engine at {uri} does not accept the user name or password; "
                "check NEO4J_USERNAME and NEO4J_PASSWORD."
            )
        if isinstance(error, ServiceUnavailable | SessionExpired | OSError):
            return EngineUnavailable(
                f"The graph engine at {uri} cannot be reached ({_reason(text)}). Is it running?"
            )
        if isinstance(error, ClientError) and "DatabaseNotFound" in (error.code or ""):
            return EngineUnavailable(
                f"The graph engine at {uri} has no database {self.address.database!r}; "
                "check NEO4J_DATABASE."
            )
        return EngineError(f"The graph engine at {uri} reports: {_first_line(text)}")


def _is_passing(error: Neo4jError) -> bool:
    """A collision with another writer that the engine does not call one, so that a retry helps."""
    text = (error.message or "").lower()
    return isinstance(error, ConstraintError) or any(words in text for words in _COLLISIONS)


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Columns and rows of a statement given as text; `truncated` when there were more rows."""

    columns: tuple[str, ...]
    rows: list[Row]
    truncated: bool


class Transaction:
    """A transaction that runs statements of `cypher/` by name."""

    def __init__(self, tx: neo4j.ManagedTransaction, database: Database) -> None:
        self._tx = tx
        self._database = database

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a statement and read all its rows."""
        statement = cypher.load(name)
        self._database.calls += 1
        result = self._tx.run(statement.text, parameters)
        return [tuple(record.values()) for record in result]


def _reason(text: str) -> str:
    """Why a connection failed, without the driver's list of resolved addresses."""
    return _first_line(text).split(" (resolved to", 1)[0]


def _first_line(text: str) -> str:
    return (text.splitlines() or ["no reason given"])[0][:300]
