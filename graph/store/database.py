"""The one place that speaks to the driver: runs statements, retries, and keeps time.

The synchronous driver runs in threads behind an async face: it answers the small queries
of a walk several times faster than the asynchronous one (docs/adr/0004-driver.md).
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import ConfigurationError, DriverError, IncompleteCommit, Neo4jError

from veritrail_graph.graph.errors import EngineUnavailable, InputError
from veritrail_graph.graph.model.listed import QueryRows
from veritrail_graph.graph.store import faults
from veritrail_graph.graph.store.address import DatabaseAddress
from veritrail_graph.graph.store.transaction import (
    GivenUp,
    RetriedTransaction,
    Row,
    Step,
    Transaction,
    is_repeatable,
)

# The driver logs what it retries and raises; our own errors inform the user.
logging.getLogger("neo4j").setLevel(logging.CRITICAL)
_log = logging.getLogger("veritrail.store")

__all__ = ["CONNECTIONS", "Database", "DatabaseAddress", "Row", "Step", "Transaction"]

T = TypeVar("T")

CONNECTIONS = 8
"""Threads, and connections, of one store."""

QUERY_SECONDS = 60.0
"""How long a query of the library or of the shell may take."""

ANSWER_SECONDS = 600.0
"""How long any other transaction may take, with all its attempts, before it is given up."""

_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
_LATE = 5.0  # more than its own limit that an engine gets to end a query by itself
_IDLE_CHECK = 60.0
_WARN_AFTER = 1.0
_CLOSING_SECONDS = 0.5  # that a statement under way gets to end before its connection is cut


class Database:
    """A connection to a graph engine that runs the statements of `cypher/`.

    What one call has written, the next call reads, also in a cluster: all sessions share one
    keeper of bookmarks.

    Args:
        address: Where the engine listens.
        connect_timeout: Seconds to wait for a connection.
        retry_seconds: How long a transaction is tried again after a passing fault.
        query_seconds: How long a query of the library or of the shell may take.
        answer_seconds: How long any other transaction may take with all its attempts.
    """

    def __init__(
        self,
        address: DatabaseAddress,
        *,
        connect_timeout: float = 10.0,
        retry_seconds: float = 15.0,
        query_seconds: float = QUERY_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.address = address
        self.query_seconds = query_seconds
        self.answer_seconds = answer_seconds
        self._driver = _driver(address, connect_timeout, retry_seconds)
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="veritrail-store")
        self._counting = threading.Condition()
        self._under_way = 0
        self.calls = 0
        self.is_closing = False
        self.agent = ""  # what the engine calls itself, once it has answered
        # How many transactions of one ingest are best written at a time; see `connect`.
        self.writers = 1
        # Whether the engine ends a transaction after the time that it was given for it.
        self._keeps_time = True

    async def connect(self, wait_seconds: float = 0.0) -> None:
        """Make sure that the engine answers, and see which one it is.

        Args:
            wait_seconds: How long to wait for a server that is starting.

        Raises:
            EngineUnavailable: It does not answer, does not let us in, or is too old.
        """
        server = await self._server(wait_seconds)
        self.agent = server.agent
        # Neo4j locks what two writers share and lets one wait; ArcadeDB lets one start again.
        is_arcade = "ArcadeDB" in server.agent
        self.writers = 1 if is_arcade else 4
        self._keeps_time = not is_arcade

    async def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a reading statement; rows hold the values in the order of its columns."""
        return await self._run(neo4j.READ_ACCESS, [(name, parameters)])

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one statement in a transaction of its own."""
        return await self._run(neo4j.WRITE_ACCESS, [(name, parameters)])

    async def write_all(self, steps: Sequence[Step]) -> list[Row]:
        """Run several statements in one transaction; return the rows of the last one."""
        return await self._run(neo4j.WRITE_ACCESS, steps)

    async def write_with(self, work: Callable[[Transaction], T], *, repeatable: bool = False) -> T:
        """Run `work` in one transaction; it may be called again after a passing fault.

        Args:
            work: What to do.
            repeatable: Whether it may be called again when an earlier attempt may be stored
                (`Transaction.in_doubt` is true then). If not, the caller gets the error.

        Raises:
            CommitInDoubt: The connection was lost while the engine was storing.
        """
        transaction = RetriedTransaction(self, neo4j.WRITE_ACCESS, work, repeatable=repeatable)
        return await self._do(transaction, self.answer_seconds)

    async def run_text(
        self, text: str, parameters: Mapping[str, Any], limit: int, *, write: bool = False
    ) -> QueryRows:
        """Run a statement given as text; at most `limit` rows come back.

        Raises:
            QueryTimeout: It took longer than `query_seconds`.
        """

        def work(tx: Transaction) -> QueryRows:
            result = tx.run_text(text, parameters)
            rows = [tuple(record.values()) for record in result.fetch(limit + 1)]
            columns, counters = tuple(result.keys()), vars(result.consume().counters)
            changes = {name: n for name, n in sorted(counters.items()) if type(n) is int and n}
            return QueryRows(columns, rows[:limit], len(rows) > limit, changes)

        access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
        seconds = self.query_seconds
        transaction = RetriedTransaction(self, access, work, repeatable=False, seconds=seconds)
        patience = seconds + (_LATE if self._keeps_time else 0.0)
        return await self._do(transaction, patience, is_query=True)

    async def close(self) -> None:
        """Close all connections, also those that an answer is still awaited on."""
        self.is_closing = True
        await asyncio.to_thread(self._close)
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def bookmarks(self) -> list[str]:
        """What the next session waits for before it reads: the latest writes of this program."""
        return sorted(self._bookmarks.get_bookmarks())

    def _close(self) -> None:
        with self._counting:
            self._counting.wait_for(lambda: not self._under_way, _CLOSING_SECONDS)
        with suppress(BufferError):  # a thread was writing to the connection at that moment
            self._driver.close()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Say that a thread uses a connection."""
        with self._counting:
            self._under_way += 1
        try:
            yield
        finally:
            with self._counting:
                self._under_way -= 1
                self._counting.notify_all()

    def session(self, access: str) -> neo4j.Session:
        """A session of the driver; it sees what earlier ones wrote."""
        return self._driver.session(
            database=self.address.database,
            default_access_mode=access,
            bookmark_manager=self._bookmarks,
        )

    async def _run(self, access: str, steps: Sequence[Step]) -> list[Row]:
        def work(transaction: Transaction) -> list[Row]:
            rows: list[Row] = []
            for name, parameters in steps:
                rows = transaction.run(name, **parameters)
            return rows

        transaction = RetriedTransaction(self, access, work, repeatable=is_repeatable(steps))
        return await self._do(transaction, self.answer_seconds)

    async def _do(
        self, transaction: RetriedTransaction[T], patience: float, *, is_query: bool = False
    ) -> T:
        """Run a transaction in a thread; give it up when it takes too long."""
        try:
            async with asyncio.timeout(patience) as limit:
                return await self._persist(transaction)
        except asyncio.CancelledError:
            # A query that its caller stopped ends; other writing is completed.
            transaction.given_up = is_query
            raise
        except TimeoutError as error:
            if not limit.expired():
                raise faults.named(error, self.address) from error
            # Its thread is free again when the engine answers, or the connection is closed.
            transaction.given_up = True
            if is_query:
                raise faults.too_long(self.query_seconds) from None
            raise faults.silent(self.address, patience) from None
        except GivenUp:
            raise faults.closed(self.address) from None
        except UnicodeEncodeError as error:
            raise InputError(f"{error.object[:80]!a} holds a lone surrogate") from None
        except OverflowError as error:
            raise InputError(f"A number is too large to be stored: {error}") from None
        except (DriverError, Neo4jError, OSError) as error:
            if transaction.may_have_stored:
                raise faults.in_doubt(self.address) from error
            if self.is_closing:
                raise faults.closed(self.address) from error
            raise faults.named(error, self.address) from error

    async def _persist(self, transaction: RetriedTransaction[T]) -> T:
        """Try again what the driver does not: collisions, and what may be stored already."""
        loop = asyncio.get_running_loop()
        for pause in _PAUSES:
            try:
                return await loop.run_in_executor(self._threads, transaction)
            except IncompleteCommit:
                transaction.in_doubt = True
                if not transaction.repeatable:
                    raise
            except Neo4jError as error:
                if not faults.is_passing(error):
                    raise
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
        return await loop.run_in_executor(self._threads, transaction)

    async def _server(self, wait_seconds: float) -> neo4j.ServerInfo:
        began = time.monotonic()
        warned = False
        while True:
            try:
                return await asyncio.to_thread(self._driver.get_server_info)
            except (DriverError, Neo4jError, OSError) as error:
                waited = time.monotonic() - began
                if waited >= wait_seconds or not faults.is_starting(error):
                    raise faults.named(error, self.address) from error
                if waited > _WARN_AFTER and not warned:
                    warned = True
                    _log.warning(
                        "Waiting for the graph engine at %s (%s), at most %g seconds.",
                        self.address.uri,
                        faults.reason_of(error),
                        wait_seconds,
                    )
            await asyncio.sleep(min(0.5, wait_seconds))


def _driver(address: DatabaseAddress, connect_timeout: float, retry_seconds: float) -> neo4j.Driver:
    auth = (address.username, address.password or "") if address.username else None
    try:
        return neo4j.GraphDatabase.driver(
            address.uri,
            auth=auth,
            connection_timeout=connect_timeout,
            connection_acquisition_timeout=connect_timeout * 3,
            max_transaction_retry_time=retry_seconds,
            max_connection_pool_size=CONNECTIONS,
            liveness_check_timeout=_IDLE_CHECK,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )
    except (ConfigurationError, ValueError) as error:
        raise EngineUnavailable(
            f"The address {address.uri!r} of the graph engine cannot be used: {error}"
        ) from None
