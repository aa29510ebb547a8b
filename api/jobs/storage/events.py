"""The events of jobs as they are stored, and the log that writes them.

Every event of a job has a number: 1, 2, 3, … without a gap, whichever process writes it. A number
is taken and the event is stored in one transaction that holds the counter of the job, so that a
reader who has seen number 7 never finds another 6 or 7 later.

Progress (`claim.started`, `iteration.finished`) is handed over with `append`, which only puts it
into a buffer: a thread writes the buffer a few times a second. The ends of claims and jobs go with
`append_in` into the transaction that changes their state: they are never lost, and what is in
the buffer goes before them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase, metadata
from veritrail_graph.api.jobs.model import Event, EventKind
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import VeriTrailError

job_events = sa.Table(
    "job_events",
    metadata,
    sa.Column("job_id", sa.String(64), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("at", sa.String(32), nullable=False),
)
event_counts = sa.Table(
    "job_event_counts",
    metadata,
    sa.Column("job_id", sa.String(64), primary_key=True),
    sa.Column("last", sa.Integer, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Noted:
    """An event that has no number yet."""

    kind: str
    data: Mapping[str, Any]
    at: str = field(default_factory=now)


def forget_in(connection: Connection, job_ids: Collection[str]) -> None:
    """Remove the events of jobs, in a transaction of the caller's."""
    for table in (job_events, event_counts):
        connection.execute(sa.delete(table).where(table.c.job_id.in_(job_ids)))


def last_numbers(connection: Connection, job_ids: Collection[str]) -> dict[str, int]:
    """The number of the last event of every one of these jobs that has any."""
    found = connection.execute(
        sa.select(event_counts.c.job_id, event_counts.c.last).where(
            event_counts.c.job_id.in_(job_ids)
        )
    )
    return {row.job_id: row.last for row in found}


def events_after(connection: Connection, job_id: str, after: int, limit: int) -> list[Event]:
    """The next events of a job, first to last."""
    columns = (job_events.c.seq, job_events.c.kind, job_events.c.data, job_events.c.at)
    found = connection.execute(
        sa.select(*columns)
        .where(job_events.c.job_id == job_id, job_events.c.seq > after)
        .order_by(job_events.c.seq)
        .limit(limit)
    )
    return [Event(*row) for row in found]


def held(connection: Connection, job_id: str) -> int:
    """Hold the counter of a job until the transaction ends; gives the last number."""
    holding = _holding(connection.dialect.name)
    last: int = connection.execute(holding, {"job_id": job_id, "last": 0}).scalar_one()
    return last


@cache
def _holding(dialect: str) -> Any:
    """The statement of this database; a command on SQLite need not import that of PostgreSQL."""
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
    same = insert(event_counts).on_conflict_do_update(
        index_elements=[event_counts.c.job_id], set_={"last": event_counts.c.last}
    )
    return same.returning(event_counts.c.last)


_EVENTS = sa.insert(job_events)
_COUNTED = sa.update(event_counts).where(event_counts.c.job_id == sa.bindparam("of_job"))


def store(connection: Connection, noted: Mapping[str, tuple[int, Sequence[Noted]]]) -> None:
    """Store events of jobs under the next numbers.

    Args:
        connection: The transaction.
        noted: By job_id the last number of each job, whose counter is held, and its events.
    """
    rows = [
        {
            "job_id": job_id,
            "seq": number,
            "kind": one.kind,
            "data": json.dumps(one.data, separators=(",", ":")),
            "at": one.at,
        }
        for job_id, (last, some) in noted.items()
        for number, one in enumerate(some, last + 1)
    ]
    if not rows:
        return
    counts = [
        {"of_job": job_id, "last": last + len(some)} for job_id, (last, some) in noted.items()
    ]
    connection.execute(_EVENTS, rows)
    connection.execute(_COUNTED, counts)


WRITE_SECONDS = 0.25
"""How long there is between two times at which progress is written."""
GATHER_SECONDS = 0.01
"""How long progress waits for what comes with it, where nothing was written for a while."""
RETRY_SECONDS = 2.0
"""How long progress waits where the database does not answer."""
MOST_BUFFERED = 50_000
"""Events of progress that wait for a database; beyond it the oldest of them are dropped."""

_log = logging.getLogger(__name__)


class EventLog:
    """Writes events of jobs; every process that works on jobs has one.

    Args:
        service: The database of the service.
        has_webhook: Whether the end of a job that workers carry out is a message, too.
    """

    def __init__(self, service: ServiceDatabase, *, has_webhook: bool = False) -> None:
        self.has_webhook = has_webhook
        self._service = service
        self._lock = threading.Lock()
        self._noted: dict[str, deque[Noted]] = {}
        self._size = 0
        self._woken = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._told: list[Callable[[], None]] = []

    def on_written(self, tell: Callable[[], None]) -> None:
        """Have a function called, from whatever thread, when events may have been written."""
        self._told.append(tell)

    def append(self, job_id: str, kind: EventKind | str, data: Mapping[str, Any]) -> None:
        """Note an event of progress; it is written within a moment.

        It neither waits nor fails. Where the process is killed at that moment, the event is lost.
        """
        with self._lock:
            self._noted.setdefault(job_id, deque()).append(Noted(str(kind), data))
            self._size += 1
            self._drop_surplus()
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._work, name="job-events", daemon=True)
                self._thread.start()
        self._woken.set()

    def append_in(
        self, connection: Connection, job_id: str, kind: EventKind | str, data: Mapping[str, Any]
    ) -> None:
        """Store an event in a transaction of the caller's: it is there if that is committed.

        What was noted of the job before goes with it, in its order. Call it late in the
        transaction: other writers of the same job wait from here until the commit.
        """
        self.append_all_in(connection, job_id, [(kind, data)])

    def append_all_in(
        self,
        connection: Connection,
        job_id: str,
        events: Sequence[tuple[EventKind | str, Mapping[str, Any]]],
    ) -> None:
        """Store several events of a job in a transaction of the caller's."""
        last = held(connection, job_id)
        taken = self._take(job_id)
        sa.event.listen(connection, "rollback", lambda _ended: self._put_back(job_id, taken))
        sa.event.listen(connection, "commit", lambda _ended: self._settle(taken))
        new = [Noted(str(kind), data) for kind, data in events]
        store(connection, {job_id: (last, [*taken, *new])})

    def flush(self, only: str | None = None) -> None:
        """Write what is noted, in this thread.

        Args:
            only: The job of which it is written; None: all jobs.

        Raises:
            EngineUnavailable: The database does not answer; what was noted is kept.
        """
        waiting = self._waiting(only)
        # Of a server no two jobs are ever held together; a file has one writer at a time anyway.
        together = [[one] for one in waiting] if self._service.is_shared else [waiting]
        for job_ids in together:
            if job_ids:
                self._flush_jobs(job_ids)
        if waiting:
            self._tell()

    async def flushed(self, job_id: str) -> None:
        """Write what is noted of a job, in a thread, if there is anything.

        Raises:
            EngineUnavailable: The database does not answer; what was noted is kept.
        """
        if self._waiting(job_id):
            await asyncio.to_thread(self.flush, job_id)

    def _waiting(self, only: str | None) -> list[str]:
        """Jobs of which something is noted, in the order in which they are held."""
        with self._lock:
            if only is not None:
                return [only] if self._noted.get(only) else []
            return sorted(job for job, noted in self._noted.items() if noted)

    def close(self) -> None:
        """Write what is noted and end; it does not wait for a database that does not answer."""
        self._closed.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _flush_jobs(self, job_ids: Sequence[str]) -> None:
        """Write what is noted of some jobs, in one transaction."""
        taken: dict[str, list[Noted]] = {}

        def put_back() -> None:
            for job_id, noted in taken.items():
                self._put_back(job_id, noted)
            taken.clear()

        def write(connection: Connection) -> None:
            put_back()  # what an attempt took that lost to another writer
            found: dict[str, tuple[int, Sequence[Noted]]] = {}
            for job_id in job_ids:
                # Taken under the counter: its next holder finds no earlier event still waiting.
                last = held(connection, job_id)
                taken[job_id] = self._take(job_id)
                found[job_id] = last, taken[job_id]
            store(connection, found)

        try:
            self._service.run_now(write)
        except BaseException:
            put_back()
            raise

    def _work(self) -> None:
        """The thread that writes progress."""
        written = 0.0
        while not self._closed.is_set():
            self._woken.wait()
            wait = max(GATHER_SECONDS, written + WRITE_SECONDS - time.monotonic())
            self._closed.wait(wait)
            self._woken.clear()
            written = time.monotonic()
            if not self._could_flush():
                self._woken.set()
                self._closed.wait(RETRY_SECONDS)
        self._could_flush()

    def _could_flush(self) -> bool:
        try:
            self.flush()
        except VeriTrailError as error:
            _log.debug("events wait: %s", error)
            return False
        except Exception:  # noqa: BLE001  # the thread must live
            _log.exception("events of progress could not be written")
            return False
        return True

    def _take(self, job_id: str) -> list[Noted]:
        with self._lock:
            taken = list(self._noted.pop(job_id, ()))
            self._size -= len(taken)
            return taken

    def _put_back(self, job_id: str, taken: list[Noted]) -> None:
        if not taken:
            return
        with self._lock:
            self._noted.setdefault(job_id, deque()).extendleft(reversed(taken))
            self._size += len(taken)
            self._drop_surplus()
        taken.clear()

    def _drop_surplus(self) -> None:
        while self._size > MOST_BUFFERED:
            max(self._noted.values(), key=len).popleft()
            self._size -= 1

    def _settle(self, taken: list[Noted]) -> None:
        """The transaction that wrote them is being committed: nothing is put back from here on."""
        taken.clear()
        self._tell()  # readers look for events now, and again a moment later

    def _tell(self) -> None:
        for tell in self._told:
            tell()
