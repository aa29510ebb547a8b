"""The database of the service: SQLite in the home folder, or PostgreSQL for several machines.

Each part of the service declares its tables on `metadata` and hands functions over a connection
to `ServiceDatabase`; every such function is one transaction.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError

from api.settings import Settings
from graph.errors import EngineUnavailable, InputError

T = TypeVar("T")

FILE = "service.sqlite3"
RETRY_SECONDS = 10.0
"""How long a transaction that lost to others is tried again."""
_BUSY_SECONDS = 10
_READS = "veritrail_reads"
_CONFLICTS = ("40001", "40P01")  # serialization failure, deadlock

metadata = sa.MetaData()
"""Every table of the service."""


def service_url(settings: Settings) -> str:
    """Where the service keeps its own: VERITRAIL_JOBS_URL, or a file in the home folder."""
    given = settings.values.get("VERITRAIL_JOBS_URL")
    return given or f"sqlite:///{settings.home / FILE}"


class ServiceDatabase:
    """Opens the database and runs transactions in threads.

    Args:
        url: `sqlite:///PATH` or `postgresql://USER:PASSWORD@HOST/NAME`.

    Raises:
        InputError: The address is none that is understood; it is not shown, as it may hold a
            password.
    """

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)

    @property
    def is_shared(self) -> bool:
        """Whether other machines may work on it too."""
        return self._engine.dialect.name != "sqlite"

    def create(self) -> None:
        """Make the tables that are not there.

        Raises:
            EngineUnavailable: The database cannot be reached or written.
        """
        with _told():
            metadata.create_all(self._engine)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction of its own, again when it lost to another one.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        return await asyncio.to_thread(self.run_now, work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a function that only reads; it waits for no writer.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        return await asyncio.to_thread(self.read_now, work)

    def read_now(self, work: Callable[[Connection], T]) -> T:
        """The same, in this thread.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        with (
            _told(),
            self._engine.connect().execution_options(**{_READS: True}) as connection,
            connection.begin(),
        ):
            return work(connection)

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction, in this thread.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        until = time.monotonic() + RETRY_SECONDS
        while True:
            with _told():
                try:
                    with self._engine.begin() as connection:
                        return work(connection)
                except DBAPIError as error:
                    if not _lost_to_another(error) or time.monotonic() > until:
                        raise
            time.sleep(random.uniform(0.005, 0.05))  # noqa: S311  # no secret

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


@contextmanager
def _told() -> Iterator[None]:
    """Turns what the database says into an error of ours, without its address."""
    try:
        yield
    except IntegrityError:  # whoever inserts knows what it means
        raise
    except DBAPIError as error:
        reason = (str(error.orig).strip().splitlines() or ["it was lost"])[0]
        raise EngineUnavailable(
            f"The database of the service does not answer ({reason}). VERITRAIL_JOBS_URL says "
            "where it is; without it a file in the home folder is used."
        ) from None


def _engine(url: str) -> Engine:
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        raise InputError(_UNKNOWN) from None
    if parsed.get_backend_name() == "postgresql":
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=10
        )
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        raise InputError(_UNKNOWN)
    Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(parsed, connect_args={"timeout": _BUSY_SECONDS})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


_UNKNOWN = (
    "VERITRAIL_JOBS_URL is no address of a database that is understood; it must begin with "
    "sqlite:/// or postgresql://"
)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    # A reader that wants to write later would lose to whoever wrote meanwhile.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _lost_to_another(error: DBAPIError) -> bool:
    if isinstance(error, OperationalError) and "locked" in str(error.orig):
        return True
    return getattr(error.orig, "sqlstate", None) in _CONFLICTS
