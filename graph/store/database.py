"""The only module that uses the driver: it runs statements, retries, and limits their time.

The driver runs a transaction again after a passing fault, as long as it is certain that the
former attempt was rolled back. It is not certain when the connection was lost while the engine
stored: then only a transaction that is marked `repeatable` runs again.

The synchronous driver runs in threads behind an async face: it answers the small queries
of a walk several times faster than the asynchronous one (docs/adr/0004-driver.md).
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from veritrail_graph.graph.lean_imports import without_numbers

with without_numbers():
    import neo4j
from neo4j.exceptions import (
    ConfigurationError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from veritrail_graph import cypher
from veritrail_graph.graph.errors import EngineError, EngineUnavailable, InputError
from veritrail_graph.graph.model.queried import QueryRows
from veritrail_graph.graph.store import faults

# The driver logs what it retries and raises; our own errors inform the user.
logging.getLogger("neo4j").setLevel(logging.CRITICAL)
_log = logging.getLogger("veritrail.store")

Row = tuple[Any, ...]
Step = tuple[str, Mapping[str, Any]]
T = TypeVar("T")

CONNECTIONS = 8
"""Threads, and connections, of one store."""

QUERY_SECONDS = 60.0
"""How long a query of the library or of the shell may take."""

ANSWER_SECONDS = 600.0
"""How long any other transaction may take, with all its attempts, before it is given up."""

# Two writers collide in milliseconds: the driver's own first pause, a second, would be a call.
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
_JITTER = 0.5
_LATE = 5.0  # more than its own limit that an engine gets to end a query
_IDLE_CHECK = 60.0
_WARN_AFTER = 1.0
_CLOSING_SECONDS = 0.5  # that a statement under way gets to end before its connection is cut


# A second MERGE, SET or DELETE finds what the first one did; a second CREATE doubles it.
_DOUBLING = re.compile(r"(?<!ON )\bCREATE\b(?!\s+(?:CONSTRAINT|INDEX|RANGE|TEXT|POINT)\b)")


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """The address of a graph engine, with the login and the database.

    Attributes:
        uri: Where it listens.
        username: Who we are to it; None: no login.
        password: The password.
        database: The database; None: the server's default.
        settings: What the names of the settings begin with that hold the login.
        named_by: Where the database was named.
    """

    uri: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    settings: str = field(default="NEO4J_", compare=False, repr=False)
    named_by: str = field(default="NEO4J_DATABASE", compare=False, repr=False)


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
        self.finishing: dict[str, asyncio.Future[None]] = {}  # by process_id: replacements
        self.is_closing = False
        self.agent = ""  # what the engine calls itself, once it has answered
        # How many transactions of one ingest are best written at a time; see `connect`.
        self.writers = 1
        # Whether the engine ends a transaction after the time that it was given for it.
        self._keeps_time = True

    async def connect(self, wait_seconds: float = 0.0) -> list[Row]:
        """Make sure that the engine answers, and see which one it is.

        Args:
            wait_seconds: How long to wait for a server that is starting.

        Returns:
            The row of `meta/schema_state`, if the graph has a schema.

        Raises:
            EngineUnavailable: It does not answer, does not let us in, or is too old.
        """
        self.agent, record = await self._greeting(wait_seconds)
        # Neo4j locks what two writers share and lets one wait; ArcadeDB lets one start again.
        is_arcade = "ArcadeDB" in self.agent
        self.writers = 1 if is_arcade else 4
        self._keeps_time = not is_arcade
        return record

    async def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a reading statement; rows hold the values in the order of its columns."""
        return await self._do(RetriedRead(self, name, parameters), self.answer_seconds)

    async def query(self, name: str, most: int, /, **parameters: Any) -> list[Row]:
        """Run a reading statement that may look at a whole process, within the time of a query.

        Args:
            name: The statement.
            most: At most this many rows come back; its `limit`, where it has one and gets no other.
            parameters: Its parameters.

        Raises:
            QueryTimeout: It took longer than `query_seconds`.
        """
        statement = cypher.load(name)
        if any(one.name == "limit" for one in statement.parameters):
            parameters.setdefault("limit", most)
        found = await self.run_text(statement.text, parameters, most)
        return [tuple(row) for row in found.rows]

    async def read_with(self, work: Callable[[Transaction], T]) -> T:
        """Run `work`, which only reads, in one transaction; it may be called again."""
        transaction = RetriedTransaction(self, neo4j.READ_ACCESS, work, repeatable=True)
        return await self._do(transaction, self.answer_seconds)

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
            InputError: It was to read, and changed something; nothing of that is stored.
        """

        def work(tx: Transaction) -> QueryRows:
            result = tx.run_text(text, parameters)
            rows = [tuple(record.values()) for record in result.fetch(limit + 1)]
            columns, counters = list(result.keys()), vars(result.consume().counters)
            changes = {name: n for name, n in sorted(counters.items()) if type(n) is int and n}
            if changes and not write:  # the embedded engine lets a reader write
                raise InputError("the statement changes the graph, and only reading is allowed")
            return QueryRows.model_construct(
                columns=columns, rows=rows[:limit], truncated=len(rows) > limit, changes=changes
            )

        access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
        seconds = self.query_seconds
        transaction = RetriedTransaction(self, access, work, repeatable=False, seconds=seconds)
        patience = seconds + (_LATE if self._keeps_time else 0.0)
        return await self._do(transaction, patience, is_query=True)

    def read_here(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a reading statement in the thread of the caller, which has no event loop."""
        try:
            return RetriedRead(self, name, parameters)()
        except (DriverError, Neo4jError, OSError) as error:
            raise faults.named(error, self.address) from error

    def stream_here(self, name: str, /) -> Iterator[Row]:
        """The rows of a reading statement without parameters, as they arrive; see `read_here`."""
        self.calls += 1
        try:
            with (
                self.busy(),
                self.session(neo4j.READ_ACCESS) as session,
                session.begin_transaction() as tx,
            ):
                for record in tx.run(cypher.load(name).text):
                    yield tuple(record.values())
        except (DriverError, Neo4jError, OSError) as error:
            raise faults.named(error, self.address) from error

    def close_here(self) -> None:
        """Close all connections, in the thread of the caller."""
        self.is_closing = True
        self._close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def close(self) -> None:
        """Close all connections, also those that an answer is still awaited on."""
        self.is_closing = True
        await asyncio.to_thread(self._close)
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def bookmarks(self) -> list[str]:
        """Return the bookmarks that the next session waits for: this program's latest writes."""
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
            await asyncio.sleep(pause * random.uniform(1 - _JITTER, 1 + _JITTER))  # noqa: S311
        return await loop.run_in_executor(self._threads, transaction)

    async def _greeting(self, wait_seconds: float) -> tuple[str, list[Row]]:
        """Return what the engine calls itself, and its record of our schema, in one round trip."""
        began = time.monotonic()
        warned = False
        while True:
            try:
                return await asyncio.to_thread(self._ask)
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

    def _ask(self) -> tuple[str, list[Row]]:
        self.calls += 1
        with self.session(neo4j.READ_ACCESS) as session:
            result = session.run(cypher.load("meta/schema_state").text)
            rows = [tuple(record.values()) for record in result]
            return result.consume().server.agent, rows


def is_repeatable(steps: Sequence[Step]) -> bool:
    """Return whether statements, run a second time, leave the graph as the first time did."""
    return not any(_DOUBLING.search(cypher.load(name).text) for name, _ in steps)


class Transaction:
    """A transaction that runs statements of `cypher/` by name.

    Attributes:
        attempt: 1 the first time, 2 and more when it is tried again.
        in_doubt: Whether what an earlier attempt wrote may be stored: the connection was lost
            before the engine answered. Use MERGE then where the first attempt uses CREATE.
    """

    def __init__(
        self,
        tx: neo4j.ManagedTransaction,
        database: Database,
        attempt: int = 1,
        *,
        in_doubt: bool = False,
    ) -> None:
        self._tx = tx
        self._database = database
        self.attempt = attempt
        self.in_doubt = in_doubt

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a statement and read all its rows."""
        self._database.calls += 1
        result = self._tx.run(cypher.load(name).text, parameters)
        return [tuple(record.values()) for record in result]

    def run_text(self, text: str, parameters: Mapping[str, Any]) -> neo4j.Result:
        """Run a statement that is given as text; its rows are still to be read."""
        self._database.calls += 1
        return self._tx.run(text, dict(parameters))


class GivenUp(Exception):  # ends a transaction whose caller waits no longer
    """The caller waits no longer; what the transaction did must not be stored."""


class RetriedTransaction(Generic[T]):
    """A transaction with all its attempts; called in a thread.

    Attributes:
        in_doubt: Whether an attempt may be stored although the engine did not confirm it.
        given_up: Set when the caller waits no longer: nothing is stored from then on.
    """

    def __init__(
        self,
        database: Database,
        access: str,
        work: Callable[[Transaction], T],
        *,
        repeatable: bool,
        seconds: float | None = None,
    ) -> None:
        self._database = database
        self._is_read = access == neo4j.READ_ACCESS
        self._access = access
        self._work = work
        self._seconds = seconds
        self._attempt = 0
        self.repeatable = repeatable or self._is_read
        self.in_doubt = False
        self.given_up = False

    @property
    def may_have_stored(self) -> bool:
        """Return whether it may have stored something without a confirmation."""
        return self.in_doubt and not self._is_read

    def __call__(self) -> T:
        """Run it once; the driver tries again what is certain to have been rolled back."""
        attempt = neo4j.unit_of_work(timeout=self._seconds)(self._once)
        with self._database.busy(), self._database.session(self._access) as session:
            run = session.execute_read if self._is_read else session.execute_write
            found: T = run(attempt)
            return found

    def _once(self, tx: neo4j.ManagedTransaction) -> T:
        self._attempt += 1
        if self._is_over:
            raise GivenUp
        transaction = Transaction(tx, self._database, self._attempt, in_doubt=self.in_doubt)
        try:
            found = self._work(transaction)
        except Exception as error:
            # The session has let go of the connection, and another thread may have it. The driver
            # would roll back on it once more, and raise what comes of that in place of the fault.
            if isinstance(error, Neo4jError | ServiceUnavailable | SessionExpired):
                tx._closed_flag = True
            # The driver would try again, on a connection that is never closed.
            if self._is_over:
                raise GivenUp from None
            raise
        if self.given_up:
            raise GivenUp
        return found

    @property
    def _is_over(self) -> bool:
        return self.given_up or self._database.is_closing


class RetriedRead(RetriedTransaction[list[Row]]):
    """One reading statement, in one round trip where all goes well; called in a thread.

    A transaction of the driver takes three: it is begun, read in, and committed. So the statement
    is first sent without one; what the driver would try again is tried again in one.
    """

    def __init__(self, database: Database, name: str, parameters: Mapping[str, Any]) -> None:
        super().__init__(
            database,
            neo4j.READ_ACCESS,
            lambda transaction: transaction.run(name, **parameters),
            repeatable=True,
        )
        self._statement = cypher.load(name).text, dict(parameters)

    def __call__(self) -> list[Row]:
        """Run it; see `RetriedTransaction`."""
        if self._attempt == 0:
            try:
                return self._alone()
            except (DriverError, Neo4jError) as error:
                if self._is_over:
                    raise GivenUp from None
                if not error.is_retryable():
                    raise
        return super().__call__()

    def _alone(self) -> list[Row]:
        self._attempt += 1
        if self._is_over:
            raise GivenUp
        self._database.calls += 1
        with self._database.busy(), self._database.session(self._access) as session:
            found = [tuple(record.values()) for record in session.run(*self._statement)]
        if self.given_up:
            raise GivenUp
        return found


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The facts that a graph engine tells of itself; nothing is written to learn them.

    Attributes:
        answers: Whether it answers and lets us in.
        agent: What it calls itself, with its version.
        edition: Its edition, such as `community`.
        schema_version: Version of our schema in its graph; None where there is none yet.
        error: Why it does not answer.
    """

    answers: bool
    agent: str | None = None
    edition: str | None = None
    schema_version: int | None = None
    error: str | None = None


async def server_facts(address: DatabaseAddress) -> ServerFacts:
    """Ask a graph engine what it is; a fault is part of the answer and is not raised."""
    try:
        # A bad URI is known at once, all else when it is asked.
        database = Database(address, retry_seconds=3, connect_timeout=5)
    except EngineError as error:
        return ServerFacts(answers=False, error=str(error))
    try:
        versions = await database.connect()
        editions = [edition for _, _, edition in await database.read("meta/components")]
    except EngineError as error:
        return ServerFacts(answers=False, error=str(error))
    finally:
        await database.close()
    return ServerFacts(
        answers=True,
        agent=database.agent,
        edition=next(iter(editions), None),
        schema_version=versions[0][0] if versions else None,
    )


def _driver(address: DatabaseAddress, connect_timeout: float, retry_seconds: float) -> neo4j.Driver:
    auth = (address.username, address.password or "") if address.username else None
    try:
        return neo4j.GraphDatabase.driver(
            address.uri,
            auth=auth,
            connection_timeout=connect_timeout,
            connection_acquisition_timeout=connect_timeout * 3,
            max_transaction_retry_time=retry_seconds,
            initial_retry_delay=_PAUSES[0],
            retry_delay_jitter_factor=_JITTER,
            max_connection_pool_size=CONNECTIONS,
            liveness_check_timeout=_IDLE_CHECK,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )
    except (ConfigurationError, ValueError) as error:
        raise EngineUnavailable(
            f"The address {address.uri!r} of the graph engine cannot be used: {error}"
        ) from None
