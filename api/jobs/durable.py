"""The engine of durable jobs, dbos, behind what we need of it: nothing else speaks to it.

One workflow a claim. A workflow holds no state of its own and records no step: what it does may be
done twice, since answers come again from our cache and trails are written under the same id. So
the engine answers for two things alone: that everything that was enqueued is begun, in the order
of its priority, and that what a dead worker had begun is begun again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

# Here, and not where it is launched: that is in a thread, and it brings sqlalchemy.orm, which must
# not appear under requests that are using SQLAlchemy at that moment.
from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer

QUEUE = "claims"
NAME = "veritrail"
VERSION = "1"
"""Constant: by default it is a hash of the code, and an upgrade would strand what is queued."""
WORKFLOW = "work"
SQLITE_FILE = "jobs.sqlite3"
POLL_SECONDS, POLL_SECONDS_SHARED = 0.1, 0.25
"""How often the queue is looked at: in a file of this machine, and in a server that many ask."""

_log = logging.getLogger("veritrail.jobs")


@dataclass(frozen=True, slots=True)
class Work:
    """Something that is to be done: a claim of a job, or the extraction of its claims.

    Attributes:
        job_id: The job.
        verification_id: The claim's verification; "" for the extraction.
        attempt: How often it was taken up, from 1.
        priority: Its turn; lower ones come first.
    """

    job_id: str
    verification_id: str
    attempt: int
    priority: int = 1

    @property
    def workflow_id(self) -> str:
        """Its id in the engine: whatever is enqueued twice under it is done once."""
        return f"{self.job_id}/{self.verification_id}/{self.attempt}"


Doing = Callable[[Work], Awaitable[None]]

_doing: Doing | None = None
_is_registered = False


async def _work(job_id: str, verification_id: str, attempt: int) -> None:
    """What the engine calls; whoever works in this process does it."""
    if _doing is None:
        raise RuntimeError("nobody works in this process")
    await _doing(Work(job_id, verification_id, attempt))


def engine_of(url: str, home: Path) -> sa.Engine:
    """Where the engine keeps its tables: beside ours in PostgreSQL, else in a file of its own.

    What stands there can be made again from our tables, so SQLite need not wait for the disk: what
    a killed process wrote is there all the same.
    """
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "postgresql":
        address = parsed.set(drivername="postgresql+psycopg")
        return sa.create_engine(address, pool_pre_ping=True, pool_size=20, max_overflow=10)
    file = home / SQLITE_FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():  # for its owner alone; what SQLite puts beside it has the same rights
        file.touch(mode=0o600)
    engine = sa.create_engine(f"sqlite:///{file}", connect_args={"timeout": 30})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = "IMMEDIATE"
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA foreign_keys=ON")


class Durable:
    """The engine in this process; there is one at a time.

    Args:
        url: The database of the service.
        home: The home folder.
        worker_id: Who works here: an id that no other process has or had.
    """

    def __init__(self, url: str, home: Path, worker_id: str) -> None:
        self._engine = engine_of(url, home)
        self._worker_id = worker_id
        self._client: DBOSClient | None = None

    def launch(self, doing: Doing, at_a_time: int) -> None:
        """Begin to work; call it in a thread without a running event loop.

        Args:
            doing: Does it.
            at_a_time: The most that is done at a time in each process; see `take`.
        """
        global _doing, _is_registered
        _quiet()
        _doing = doing
        if not _is_registered:
            DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(_work)
            _is_registered = True
        serializer = DBOSPortableJSONSerializer()
        DBOS(config=self._config(serializer))
        DBOS.launch()
        _quiet()
        self._client = DBOSClient(
            system_database_engine=self._engine,
            serializer=serializer,
            application_name=NAME,
        )
        self.take(at_a_time)

    def take(self, at_a_time: int) -> None:
        """Set how much every worker takes at a time; all of them go by it from then on."""
        is_sqlite = self._engine.dialect.name == "sqlite"
        DBOS.register_queue(
            QUEUE,
            worker_concurrency=at_a_time,
            polling_interval_sec=POLL_SECONDS if is_sqlite else POLL_SECONDS_SHARED,
            on_conflict="always_update",
        )

    def _config(self, serializer: Any) -> DBOSConfig:
        is_sqlite = self._engine.dialect.name == "sqlite"
        address = self._engine.url.render_as_string(hide_password=False)
        return {
            "name": NAME,
            "system_database_url": address,
            "system_database_engine": self._engine,
            "application_version": VERSION,
            "executor_id": self._worker_id,
            "serializer": serializer,
            "use_listen_notify": not is_sqlite,
            "notification_listener_polling_interval_sec": 0.5,
            "max_executor_threads": 8,
            "enable_otlp": False,
            "log_level": "ERROR",
        }

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop in which everything is done."""
        from dbos._dbos import _get_dbos_instance

        loop = _get_dbos_instance()._background_event_loop.target_loop()
        if loop is None:
            raise RuntimeError("not launched")
        return loop

    def enqueue(self, works: Sequence[Work]) -> None:
        """Have things done, in one transaction; what is enqueued already stays as it is."""
        if self._client is None:
            raise RuntimeError("not launched")
        with self._engine.begin() as connection:
            for one in works:
                self._client.enqueue_in_transaction(
                    connection,
                    {
                        "queue_name": QUEUE,
                        "workflow_name": WORKFLOW,
                        "workflow_id": one.workflow_id,
                        "app_version": VERSION,
                        "priority": one.priority,
                    },
                    one.job_id,
                    one.verification_id,
                    one.attempt,
                )

    def recover(self, worker_ids: Sequence[str]) -> None:
        """Give back to the queue what dead workers had begun.

        The guard is the engine's: what another worker has taken meanwhile stays with it.
        """
        DBOS._recover_pending_workflows(list(worker_ids))  # the only one that is guarded

    def forget(self, workflow_ids: Iterable[str]) -> None:
        """Remove what is done."""
        DBOS.delete_workflows(list(workflow_ids))

    def destroy(self) -> None:
        """Stop working; what is being done is given up and stays begun. Call it in a thread."""
        global _doing
        if self._client is not None:
            self._client.destroy()
            self._client = None
        DBOS.destroy()
        _doing = None
        self._engine.dispose()


def _quiet() -> None:
    """Let what the engine says go to our log, and only when something is wrong."""
    log = logging.getLogger("dbos")
    log.handlers.clear()
    log.setLevel(logging.ERROR)
    log.propagate = True
