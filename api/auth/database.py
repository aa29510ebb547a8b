"""The database of the service: SQLite in the home folder, or PostgreSQL for several machines.

Each part of the service declares its tables on `metadata` and hands functions over a connection
to `ServiceDatabase`; every such function is one transaction.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import EngineError, EngineUnavailable, InputError
from veritrail_graph.graph.private import PRIVATE_FILE, make_private_folders

if TYPE_CHECKING:
    from veritrail_graph.graph.model.version import Version

T = TypeVar("T")

FILE = "service.sqlite3"
JOBS_FILE = "jobs.sqlite3"
"""The file of the engine of jobs."""
RETRY_SECONDS = 10.0
"""How long a transaction that lost to others is tried again."""
CONNECTIONS = 10
ENDING_SECONDS = 5.0
"""How long transactions under way may take when the database is closed."""
_BUSY_SECONDS = 10
_CONNECT_SECONDS = 3
_LOCK = 0x7665726974  # of the connection that makes the tables
_READS = "veritrail_reads"
_CONFLICTS = ("40001", "40P01")  # serialization failure, deadlock

SCHEMA_VERSION = 4
"""The version of the tables; raise it with every change of a table that exists."""

_ABOUT_A_PROCESS = ("share_links", "claim_comments", "review_rounds", "studies")
_NEW_COLUMNS = {
    1: [("job_claims", "batch_calls", "INTEGER NOT NULL DEFAULT 0")],
    2: [("share_links", "key_id", "VARCHAR(64)")],
    3: [(table, "made_for", "VARCHAR(32)") for table in _ABOUT_A_PROCESS],
}
"""The columns that lead from a version to the next one, where their tables are there: version 1
knew no calls in batches, version 2 did not know which key made a link, version 3 took a process for
any other that was stored under its id later."""

metadata = sa.MetaData()
"""Every table of the service."""

_schema = sa.Table("veritrail_schema", metadata, sa.Column("version", sa.Integer, nullable=False))
_WITHOUT_VERSION = frozenset({"api_keys", "audit", "jobs"})
"""Tables that show that a database without a version was made by this program."""


def made_for() -> sa.Column[Any]:
    """The column of a row about a process: when the first version of the process was stored.

    So a row is about no process that is stored under the id later. Earlier versions of this
    program left it empty.
    """
    return sa.Column("made_for", sa.String(32))


def is_about(table: sa.Table, version: Version) -> sa.ColumnElement[bool]:
    """Return whether a row was made for a process, and not for one that had its id before."""
    since = version.first_stored_at
    known = table.c.made_for == since
    before = sa.and_(table.c.made_for.is_(None), table.c.created_at >= since)
    return sa.and_(table.c.process_id == version.process_id, sa.or_(known, before))


def service_url(settings: Settings) -> str:
    """Return where the service keeps its own: VERITRAIL_JOBS_URL, or a file in the home folder."""
    return settings.jobs_url or f"sqlite:///{settings.home / FILE}"


class ServiceUnavailable(EngineUnavailable):
    """The database of the service cannot be reached, or does not take what it is given."""

    code = "service_unavailable"


class NotWritable(ServiceUnavailable):
    """The file of the database cannot be made or written where it is."""


class DatabaseFull(ServiceUnavailable):
    """There is no room left for the database of the service."""

    code = "service_full"


class OtherVersion(EngineError):
    """Another version of this program made the tables; nothing was read or changed.

    The code is `service_file_version` for a SQLite file, with its path as the fact `file`.
    """

    code = "service_version"


def check_sqlite(path: Path, advice: str) -> None:
    """See that a file that is there is a SQLite database; no other one is waited for.

    Raises:
        InputError: It is none, or is damaged.
    """
    if not path.exists():
        return
    why = None if path.is_file() else "it is no file"
    try:
        if why is None:
            address = f"{path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, timeout=_BUSY_SECONDS, uri=True)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE_DAMAGED:
            why = str(error)
    if why is not None:
        raise InputError(f"{path} is no database: {why}. Move it away{advice}.")


class ServiceDatabase:
    """Opens the database when it is first needed, and runs transactions in threads of its own.

    Tables that are not there are made then. A database that is down fails what is asked of it now,
    and is tried again with what is asked next.

    Args:
        url: `sqlite:///PATH` or `postgresql://USER:PASSWORD@HOST/NAME`.

    Raises:
        InputError: The address is none that is understood; it is not shown, as it may hold a
            password.
    """

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        # Its own threads: a database that hangs must not hold up what others do in theirs.
        self._threads = ThreadPoolExecutor(CONNECTIONS, "service")
        self._making = threading.Lock()
        self._made = 0
        self._temporary: TemporaryDirectory[str] | None = None

    @property
    def is_temporary(self) -> bool:
        """Return whether everything is lost when the database is closed."""
        return self._temporary is not None

    def use_temporary(self) -> None:
        """Take a file of our own in the folder for temporary files; nothing was written yet.

        Raises:
            OSError: There is no folder for temporary files that could be written.
        """
        self._temporary = TemporaryDirectory(prefix="veritrail-jobs-", ignore_cleanup_errors=True)
        self._engine.dispose()
        self._engine = _engine(f"sqlite:///{self._temporary.name}/{FILE}")
        self._made = 0

    def check_files(self, *more: Path) -> None:
        """See that the file of the database, and files of others beside it, are databases.

        Args:
            *more: Files whose content is made anew where they are missing.

        Raises:
            InputError: One is there and is none.
        """
        if self.is_shared or self._engine.url.database is None:
            return
        backup = " and put a copy from a backup there; else the service begins with an empty one"
        check_sqlite(Path(self._engine.url.database), backup)
        for path in more:
            check_sqlite(path, ": what it holds is made anew")

    @property
    def is_shared(self) -> bool:
        """Return whether other machines may work on it too."""
        return self._engine.dialect.name != "sqlite"

    def create(self) -> None:
        """Make missing tables, and record the version of the schema in a new database.

        Raises:
            EngineUnavailable: The database cannot be reached or written.
            OtherVersion: Another version of this program made the tables.
        """
        with _translated(), self._engine.begin() as connection:
            if self.is_shared:  # PostgreSQL refuses one of two that make tables at once
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            self._migrate(connection)
            self._check_version(connection)
            metadata.create_all(connection)
            if not connection.execute(sa.select(_schema)).first():
                connection.execute(_schema.insert().values(version=SCHEMA_VERSION))

    def _migrate(self, connection: Connection) -> None:
        """Bring the tables of former versions to this one."""
        inspector = sa.inspect(connection)
        tables = set(inspector.get_table_names())
        if _schema.name not in tables:
            return
        found = first = connection.execute(sa.select(_schema)).scalar()
        while found in _NEW_COLUMNS:
            for table, column, kind in _NEW_COLUMNS[found]:
                known = inspector.get_columns(table) if table in tables else None
                if known is not None and column not in {one["name"] for one in known}:
                    connection.execute(sa.text(f"ALTER TABLE {table} ADD COLUMN {column} {kind}"))
            found += 1
        if found != first:
            connection.execute(sa.update(_schema).values(version=found))

    def _check_version(self, connection: Connection) -> None:
        """Refuse tables of another version; they hold keys, the audit log and paid work.

        Raises:
            OtherVersion: Another version of this program made the tables.
        """
        tables = set(sa.inspect(connection).get_table_names())
        if _schema.name in tables:
            found = connection.execute(sa.select(_schema.c.version)).scalar()
            known = f"has schema version {found}"
        elif tables & _WITHOUT_VERSION:
            found, known = 0, "was made before schema versions were recorded"
        else:
            return
        if found not in (None, SCHEMA_VERSION):
            file = None if self.is_shared else self._engine.url.database
            raise OtherVersion(
                f"The database of the service (jobs, keys, audit log) {known}; this program needs "
                f"version {SCHEMA_VERSION}. Nothing in it was changed.",
                code="service_file_version" if file else None,
                file=file,
            )

    def _make(self) -> None:
        """Make tables, again where a part that was loaded since has more of them."""
        known = len(metadata.tables)
        if self._made == known:
            return
        with self._making:
            if self._made != known:
                self.create()
                self._made = known

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction of its own, again when it lost to another one.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        return await self._in_thread(partial(self.run_now, work))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a function that only reads; it waits for no writer.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        return await self._in_thread(partial(self.read_now, work))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def read_now(self, work: Callable[[Connection], T]) -> T:
        """Return the same, in this thread.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        self._make()
        with (
            _translated(),
            self._engine.connect().execution_options(**{_READS: True}) as connection,
            connection.begin(),
        ):
            return work(connection)

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction, in this thread.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        self._make()
        until = time.monotonic() + RETRY_SECONDS
        while True:
            with _translated():
                try:
                    with self._engine.begin() as connection:
                        return work(connection)
                except DBAPIError as error:
                    if not _lost_to_another(error) or time.monotonic() > until:
                        raise
            time.sleep(random.uniform(0.005, 0.05))  # noqa: S311  # no secret

    def close(self) -> None:
        """Close every connection; what is still under way gets some seconds to end.

        A connection that is returned to a closed pool would stay open.
        """
        ending = threading.Thread(target=self._threads.shutdown, daemon=True)
        ending.start()
        ending.join(ENDING_SECONDS)
        self._engine.dispose()
        if self._temporary is not None:
            self._temporary.cleanup()


@contextmanager
def _translated() -> Iterator[None]:
    """Turns what the database says into an error of ours, without its address and its login."""
    try:
        yield
    except IntegrityError:  # the caller that inserts handles it
        raise
    except (DBAPIError, PoolTimeout) as error:
        kind = ServiceUnavailable
        if _is_full(error):
            kind = DatabaseFull
        elif _is_unwritable(error):
            kind = NotWritable
        raise kind(
            f"The database of the service does not answer: {_reason(error)}. VERITRAIL_JOBS_URL "
            "says where it is; without it a file in the home folder is used."
        ) from None


_SQLITE_FULL = 13
_PG_FULL = "53100"
_SQLITE_DAMAGED = (11, 26)
"""SQLITE_CORRUPT and SQLITE_NOTADB."""
_SQLITE_UNWRITABLE = (8, 14)
"""SQLITE_READONLY and SQLITE_CANTOPEN; the lowest byte of a code says which of them it is."""


def _is_unwritable(error: DBAPIError | PoolTimeout) -> bool:
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0)
    return code & 0xFF in _SQLITE_UNWRITABLE


def _is_full(error: DBAPIError | PoolTimeout) -> bool:
    original = getattr(error, "orig", None)
    code = getattr(original, "sqlite_errorcode", 0)
    return code & 0xFF == _SQLITE_FULL or getattr(original, "sqlstate", None) == _PG_FULL


_REASONS = {
    "28": "it refuses the login",
    "3D": "it does not exist on that server",
    "53": "it has no room left",
    "57": "it is shutting down, or ended the connection",
    "25": "it takes no writes",
    "42": "it refuses what is asked; its tables or its rights are not as they must be",
}


def _reason(error: DBAPIError | PoolTimeout) -> str:
    """Say why, in our own words where it is a server: its own would name its address and user."""
    if isinstance(error, PoolTimeout):
        return "all connections are in use"
    if type(error.orig).__module__.startswith("sqlite3"):
        return str(error.orig)
    state = getattr(error.orig, "sqlstate", None)
    return _REASONS.get(state[:2], f"state {state}") if state else "it cannot be reached"


def _engine(url: str) -> Engine:
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        raise InputError(_UNKNOWN) from None
    if parsed.get_backend_name() == "postgresql":
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=_BUSY_SECONDS,
            hide_parameters=True,  # texts of jobs are private
            connect_args={"connect_timeout": _CONNECT_SECONDS, **_ALIVE},
        )
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        raise InputError(_UNKNOWN)
    engine = sa.create_engine(parsed, hide_parameters=True, connect_args={"timeout": _BUSY_SECONDS})
    sa.event.listen(engine, "do_connect", partial(_before_sqlite, Path(parsed.database)))
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


_UNKNOWN = (
    "VERITRAIL_JOBS_URL is no address of a database that is understood; it must begin with "
    "sqlite:/// or postgresql://"
)


_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""So that a server whose machine has failed is noticed within half a minute."""


def _before_sqlite(path: Path, *_connecting: Any) -> None:
    """Make the file for its owner alone; what SQLite puts beside it takes its rights over."""
    if path.exists():
        return
    try:
        make_private_folders(path.parent)
        os.close(os.open(path, os.O_CREAT, PRIVATE_FILE))  # another process may be first
    except OSError as error:
        reason = error.strerror or "its folder is no folder"
        raise NotWritable(
            f"The database of the service cannot be made in VERITRAIL_HOME: {reason}"
        ) from None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    # A reader that wants to write later would lose to a writer that wrote meanwhile.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _lost_to_another(error: DBAPIError) -> bool:
    if isinstance(error, OperationalError) and "locked" in str(error.orig):
        return True
    return getattr(error.orig, "sqlstate", None) in _CONFLICTS
