"""The workers that live, and the handing over of the work of those that do not.

Every worker writes a beat, and holds a lock in its home folder: a worker of the same home that was
killed is known to be dead at once, one on another machine when its beat is old.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.storage.leases import close_leases
from veritrail_graph.api.jobs.storage.tables import job_claims, workers
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.private import PRIVATE_FILE, make_private_folders

BEAT_SECONDS = 2.0
DEAD_SECONDS = 6.0

_log = logging.getLogger("veritrail.jobs")


class Heartbeat:
    """One worker among others.

    Args:
        service: The database.
        home: The home folder.

    Attributes:
        worker_id: An id that no other process has or had.
        alive: The workers that live, this one included, as was seen last.
        recover: Gives back what workers had begun, and says how many tasks that were; None: the
            engine does not run yet.
        on_change: Called when another worker came or went.
        on_death: Called when this worker was held for dead by others.
    """

    def __init__(self, service: ServiceDatabase, home: Path) -> None:
        self.worker_id = f"w-{uuid.uuid4().hex}"
        self.alive = [self.worker_id]
        self._service = service
        self._folder = home / "workers"
        self._lock = FileLock(self._folder / f"{self.worker_id}.lock", mode=PRIVATE_FILE)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.recover: Callable[[Sequence[str]], int] | None = None
        self.on_change: Callable[[], None] = lambda: None
        self.on_death: Callable[[], None] = lambda: None

    def arrive(self) -> None:
        """Say that this worker lives, and see who else does.

        Raises:
            EngineUnavailable: The database does not answer.
        """
        make_private_folders(self._folder.parent, self._folder)
        self._lock.acquire(timeout=0)
        self.alive = self._service.run_now(self._beat)[0]

    def watch(self) -> None:
        """Go on saying so, and look after the others, in a thread of its own."""
        self._thread = threading.Thread(target=self._watch, name="job-beat", daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Report that this worker has ended; others resume its work at once."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        mine = workers.c.worker_id == self.worker_id

        held = (job_claims.c.worker_id == self.worker_id, job_claims.c.status == Status.RUNNING)

        def work(connection: Connection) -> None:
            connection.execute(sa.update(workers).where(mine).values(beat=0.0))
            # What is handed back in good order says nothing against the claim.
            fewer = {"begun": job_claims.c.begun - 1}
            connection.execute(sa.update(job_claims).where(*held).values(**fewer))

        try:
            self._service.run_now(work)
        except VeriTrailError as error:
            _log.warning("this worker could not say that it ends: %s", error)
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)

    def _watch(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            try:
                self.look()
            except VeriTrailError as error:
                _log.debug("no beat: %s", error)
            except Exception:  # noqa: BLE001  # the thread must live
                _log.exception("the workers could not be looked after")

    def look(self) -> None:
        """Beat once, and take over from those that are dead."""
        alive, dead, was_there = self._service.run_now(self._beat)
        if not was_there:  # it was held for dead, and others do what it had begun
            self.on_death()
        if dead and self.recover is not None:
            mine = self._service.run_now(lambda connection: self._take_over(connection, dead))
            if mine:
                begun = self.recover(mine)
                if begun:  # a worker that stops in good order leaves nothing
                    _log.warning("Resuming %d task(s) that a stopped worker left", begun)
                self._service.run_now(lambda connection: _bury(connection, mine))
        if alive != self.alive:
            self.alive = alive
            self.on_change()

    def _take_over(self, connection: Connection, dead: Sequence[str]) -> list[str]:
        """Those of the dead workers whose work this one gives back, and no other worker does."""
        living = sa.select(workers.c.worker_id).where(workers.c.worker_id.not_in(dead))
        mine = (
            sa.update(workers)
            .where(workers.c.worker_id.in_(dead))
            .where(workers.c.taken_by.is_(None) | workers.c.taken_by.not_in(living))
            .values(taken_by=self.worker_id)
            .returning(workers.c.worker_id)
        )
        return list(connection.execute(mine).scalars())

    def _beat(self, connection: Connection) -> tuple[list[str], list[str], bool]:
        """Return who lives, who is dead, and whether this one was still known."""
        time_now = _time(connection)
        mine = workers.c.worker_id == self.worker_id
        beaten = connection.execute(sa.update(workers).where(mine).values(beat=time_now)).rowcount
        if beaten == 0:
            row = {"worker_id": self.worker_id, "beat": time_now, "started_at": now()}
            connection.execute(sa.insert(workers).values(**row))
        rows = connection.execute(sa.select(workers.c.worker_id, workers.c.beat)).all()
        dead = [
            row.worker_id
            for row in rows
            if row.worker_id != self.worker_id
            and (time_now - row.beat > DEAD_SECONDS or self._is_killed(row.worker_id))
        ]
        alive = sorted(row.worker_id for row in rows if row.worker_id not in dead)
        return alive, dead, beaten > 0

    def _is_killed(self, worker_id: str) -> bool:
        """Return whether a worker of this home holds its lock no more."""
        file = self._folder / f"{worker_id}.lock"
        if not file.exists():
            return False
        try:
            with FileLock(file, timeout=0, mode=PRIVATE_FILE):
                pass
        except Timeout:
            return False
        file.unlink(missing_ok=True)
        return True


def _time(connection: Connection) -> float:
    """The clock that all workers go by."""
    if connection.dialect.name != "postgresql":
        return time.time()
    return float(
        connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    )


def _bury(connection: Connection, dead: Sequence[str]) -> None:
    """Let go of what dead workers had; the engine gives their claims to others."""
    connection.execute(
        sa.update(job_claims)
        .where(job_claims.c.worker_id.in_(dead), job_claims.c.status == Status.RUNNING)
        .values(status=Status.QUEUED, worker_id=None)
    )
    for worker_id in dead:
        close_leases(connection, worker_id)
    connection.execute(sa.delete(workers).where(workers.c.worker_id.in_(dead)))
