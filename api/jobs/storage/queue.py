"""The queue of claims between workers: dbos, through its public interface.

One workflow a claim. A workflow holds no state of its own and records no step: it may run twice,
since answers come again from our cache and trails are written under the same id. So the engine
answers for two things alone: that everything that was enqueued is begun, in the order of its
priority, and that what a dead worker had begun is begun again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import (
    DBOS,
    DBOSClient,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    PortableWorkflowError,
    pydantic_args_validator,
)

from veritrail_graph.api.auth.database import JOBS_FILE
from veritrail_graph.api.jobs.model import Work
from veritrail_graph.api.jobs.storage.json_rows import REFUSAL, NotJson, refuse_pickles
from veritrail_graph.graph.private import PRIVATE_FILE, make_private_folders

# Here, and not where it is launched: that is in a thread, and it brings sqlalchemy.orm, which must
# not appear under requests that are using SQLAlchemy at that moment.


QUEUE = "claims"
NAME = "veritrail"
VERSION = "1"
"""Constant: by default it is a hash of the code, and an upgrade would strand what is queued."""
WORKFLOW = "work"
POLL_SECONDS, POLL_SECONDS_SHARED = 0.1, 0.25
"""How often workers ask the queue while jobs are open: a file, and a server that many ask."""
IDLE_SECONDS, IDLE_SECONDS_SHARED = 0.5, 1.0
"""The same while no job is open: an idle service must not use a tenth of a core."""

LOOKED_AT_TOGETHER = 100
"""Jobs in one query, which SQLite takes only up to a length."""

_log = logging.getLogger("veritrail.jobs")


Doing = Callable[[Work], Awaitable[None]]

_doing: Doing | None = None
_is_registered = False


async def _work(job_id: str, verification_id: str, attempt: int) -> None:
    """The workflow: the engine calls it in the event loop in which it was launched.

    Raises:
        NotJson: Its arguments are those of another row.
    """
    work = Work(job_id, verification_id, attempt)
    if work.workflow_id != DBOS.workflow_id:
        raise NotJson("a row in the database of jobs names the work of another row")
    if _doing is None:  # this worker is ending: the work stays begun, and another one takes it
        await asyncio.Event().wait()
    else:
        await _doing(work)


def engine_of(url: str, home: Path) -> sa.Engine:
    """Say where the engine keeps its tables: beside ours in PostgreSQL, else in a file of its own.

    Its content can be made again from our tables, so SQLite need not wait for the disk: what
    a killed process wrote is there all the same.
    """
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "postgresql":
        address = parsed.set(drivername="postgresql+psycopg")
        return sa.create_engine(address, pool_pre_ping=True, pool_size=20, max_overflow=10)
    file = home / JOBS_FILE
    make_private_folders(home)
    if not file.exists():  # what SQLite puts beside it has the same rights
        file.touch(mode=PRIVATE_FILE)
    engine = sa.create_engine(f"sqlite:///{file}", connect_args={"timeout": 30})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = "IMMEDIATE"
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA foreign_keys=ON")


class WorkQueue:
    """The engine in this process; there is one at a time.

    Args:
        url: The database of the service.
        home: The home folder.
        worker_id: Who works here: an id that no other process has or had.

    Attributes:
        is_busy: Whether workers ask it often, as jobs are open.
    """

    def __init__(self, url: str, home: Path, worker_id: str) -> None:
        self._engine = engine_of(url, home)
        self._worker_id = worker_id
        self._client: DBOSClient | None = None
        self._at_a_time = 1
        self.is_busy = True

    async def launch(self, doing: Doing, at_a_time: int) -> None:
        """Begin to work in the running event loop, to which the engine gives what it begins.

        Args:
            doing: Does it.
            at_a_time: The most that is done at a time in each process; see `take`.
        """
        global _doing, _is_registered
        _quiet()
        refuse_pickles()
        _doing = doing
        if not _is_registered:
            DBOS.workflow(
                name=WORKFLOW, max_recovery_attempts=None, validate_args=pydantic_args_validator
            )(_work)
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
        await asyncio.to_thread(self.take, at_a_time)

    def take(self, at_a_time: int) -> None:
        """Set how much every worker takes at a time; all of them go by it from then on."""
        self._register(at_a_time, self.is_busy)

    def expect(self, *, is_busy: bool) -> None:
        """Set how often every worker asks the queue: often while jobs are open.

        Workers that share a database see the same jobs, so they set the same.
        """
        self._register(self._at_a_time, is_busy)

    def _register(self, at_a_time: int, is_busy: bool) -> None:
        is_sqlite = self._engine.dialect.name == "sqlite"
        busy, idle = (
            (POLL_SECONDS, IDLE_SECONDS)
            if is_sqlite
            else (POLL_SECONDS_SHARED, IDLE_SECONDS_SHARED)
        )
        DBOS.register_queue(
            QUEUE,
            worker_concurrency=at_a_time,
            polling_interval_sec=busy if is_busy else idle,
            on_conflict="always_update",
        )
        self._at_a_time, self.is_busy = at_a_time, is_busy

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

    def enqueue(self, works: Sequence[Work]) -> None:
        """Have things done, in one transaction; what is enqueued already is not changed."""
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

    def known(self, job_id: str) -> set[str]:
        """The ids of all workflows that the engine has of a job, whatever their state."""
        found = DBOS.list_workflows(
            workflow_id_prefix=f"{job_id}/", load_input=False, load_output=False
        )
        return {one.workflow_id for one in found}

    def refused(self, job_ids: Sequence[str]) -> dict[str, str]:
        """Return what the engine gave up of some jobs, without having done it.

        Returns:
            The ids of workflows, each with the reason.
        """
        found: dict[str, str] = {}
        if not job_ids or not DBOS.list_workflows(
            status="ERROR", load_input=False, load_output=False, limit=1
        ):
            return found
        for start in range(0, len(job_ids), LOOKED_AT_TOGETHER):
            some = job_ids[start : start + LOOKED_AT_TOGETHER]
            given_up = DBOS.list_workflows(
                workflow_id_prefix=[f"{job_id}/" for job_id in some],
                status="ERROR",
                load_input=False,
            )
            found.update({one.workflow_id: _reason(one.error) for one in given_up})
        return found

    def recover(self, worker_ids: Sequence[str]) -> int:
        """Give back to the queue what dead workers had begun; returns how many tasks that were.

        `resume_workflows` begins again whatever is not finished, so only one worker may call this
        for a dead one: the one that took it over in the table of workers.
        """
        begun = DBOS.list_workflows(
            status="PENDING", executor_id=list(worker_ids), load_input=False, load_output=False
        )
        if begun:
            DBOS.resume_workflows([one.workflow_id for one in begun], queue_name=QUEUE)
        return len(begun)

    def forget(self, workflow_ids: Iterable[str]) -> None:
        """Remove what is done."""
        DBOS.delete_workflows(list(workflow_ids))

    def pause(self) -> None:
        """Begin nothing more that the engine gives; it stays begun for another worker."""
        global _doing
        _doing = None

    def destroy(self) -> None:
        """Stop working; what is being done is given up and stays begun. Call it in a thread."""
        self.pause()
        if self._client is not None:
            self._client.destroy()
            self._client = None
        DBOS.destroy()
        self._engine.dispose()


def _reason(error: Any) -> str:
    """Return why the engine gave something up; a reason that is not JSON is not read either."""
    if not isinstance(error, PortableWorkflowError):
        return REFUSAL
    if error.name == NotJson.__name__:
        return error.message
    return f"internal error ({error.name}), see the log of the worker"


def _quiet() -> None:
    """Let what the engine says go to our log, and only when something is wrong."""
    log = logging.getLogger("dbos")
    log.handlers.clear()
    log.setLevel(logging.ERROR)
    log.propagate = True
