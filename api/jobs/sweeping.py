"""What is left to do between the tables, the engine and the graph after somebody was killed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs import ledger
from veritrail_graph.api.jobs.books import Books
from veritrail_graph.api.jobs.durable import Durable, Work
from veritrail_graph.api.jobs.events import EventLog, forget_in
from veritrail_graph.api.jobs.model import OPEN, OPEN_CLAIMS
from veritrail_graph.api.jobs.purse import forget_purses
from veritrail_graph.api.jobs.rooms import Rooms
from veritrail_graph.api.jobs.tables import job_claims, jobs, workers
from veritrail_graph.api.jobs.telling import tell_some
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status

ENQUEUED_TOGETHER = 200
FORGOTTEN_TOGETHER = 20
UNQUEUED_SECONDS = 5.0
"""After so long whoever submitted a job is not about to queue its claims in the graph any more."""

_log = logging.getLogger("veritrail.jobs")


class Sweeping:
    """Looks for what is left to do.

    Args:
        books: The state of claims.
        durable: The engine.
        rooms: The open rooms.
        graph: The graph.
        log: The events.
        stop: Ends what runs here of a job.
    """

    def __init__(
        self,
        books: Books,
        durable: Durable,
        rooms: Rooms,
        graph: WaitingGraph,
        log: EventLog,
        stop: Callable[[str, str], None],
    ) -> None:
        self._books = books
        self._durable = durable
        self._rooms = rooms
        self._graph = graph
        self._log = log
        self._stop = stop

    async def enqueue(self) -> None:
        """Hand to the engine what was submitted or resumed."""
        for job_id in await self._books.read(_to_enqueue):
            works = await self._books.read(partial(_works, job_id=job_id))
            for start in range(0, len(works), ENQUEUED_TOGETHER):
                some = works[start : start + ENQUEUED_TOGETHER]
                await asyncio.to_thread(self._durable.enqueue, some)
            await self._books.run(partial(_enqueued, job_id=job_id, works=works))

    async def queue_in_graph(self) -> None:
        """Queue the claims of jobs in the graph whose submission was cut short."""
        for job_id in await self._books.read(_to_queue):
            try:
                async with self._rooms.enter(job_id) as room:
                    await self._graph.ask(room.queue_all)
            except InputError as error:
                await self._books.run(partial(self._give_up, job_id=job_id, why=str(error)))
            await self._books.run(partial(_queued, job_id=job_id))

    def _give_up(self, connection: Connection, job_id: str, why: str) -> None:
        ledger.give_up(connection, job_id, Status.FAILED, why, self._log, error=why)

    async def tell_graph(self) -> None:
        """Let the graph say, too, that claims were cancelled or could not be begun."""
        while await tell_some(self._graph.ask, self._books.read, self._books.run):
            pass

    async def stop_cancelled(self) -> None:
        """Stop what runs here of jobs that were cancelled or given up."""
        open_here = self._rooms.job_ids
        if not open_here:
            return
        for job_id, error in await self._books.read(lambda one: _to_stop(one, open_here)):
            self._stop(job_id, error or ledger.CANCELLED)

    async def begin_again(self) -> None:
        """Have everything that is open handed to the engine again, which knows most of it."""
        await self._books.run(_begin_again)

    async def forget(self, keep_seconds: float) -> None:
        """Remove jobs that ended long ago; their verifications stay in the graph."""
        before = datetime.now(UTC) - timedelta(seconds=keep_seconds)
        limit = before.isoformat(timespec="microseconds").replace("+00:00", "Z")
        while works := await self._books.read(lambda connection: _to_forget(connection, limit)):
            ids = [work.workflow_id for work in works]
            for start in range(0, len(ids), ENQUEUED_TOGETHER):
                some = ids[start : start + ENQUEUED_TOGETHER]
                await asyncio.to_thread(self._durable.forget, some)
            job_ids = sorted({work.job_id for work in works})
            await self._books.run(partial(_forget, job_ids=job_ids))


def _to_enqueue(connection: Connection) -> list[str]:
    found = connection.execute(
        sa.select(jobs.c.job_id)
        .where(jobs.c.status.in_(OPEN), ~jobs.c.is_enqueued)
        .where(jobs.c.is_queued_in_graph | ~jobs.c.is_extracted)
        .order_by(jobs.c.created_at)
    )
    return list(found.scalars())


def _works(connection: Connection, job_id: str) -> list[Work]:
    """What there is to do of a job: its open claims in their order, or the extraction."""
    job = connection.execute(sa.select(jobs).where(jobs.c.job_id == job_id)).mappings().first()
    if job is None:
        return []
    rows = connection.execute(
        sa.select(job_claims.c.verification_id, job_claims.c.attempt, job_claims.c.priority)
        .where(job_claims.c.job_id == job_id, job_claims.c.status.in_(OPEN_CLAIMS))
        .order_by(job_claims.c.priority)
    )
    works = [Work(job_id, *row) for row in rows]
    return works if job["is_extracted"] else [*works, Work(job_id, "", job["attempt"])]


def _enqueued(connection: Connection, job_id: str, works: Sequence[Work]) -> None:
    """Note that all of a job was handed over, unless more has come meanwhile."""
    ledger.hold(connection, [job_id])
    known = {(one.verification_id, one.attempt) for one in works}
    if all((one.verification_id, one.attempt) in known for one in _works(connection, job_id)):
        connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(is_enqueued=True))


def _to_queue(connection: Connection) -> list[str]:
    before = datetime.now(UTC) - timedelta(seconds=UNQUEUED_SECONDS)
    limit = before.isoformat(timespec="microseconds").replace("+00:00", "Z")
    found = connection.execute(
        sa.select(jobs.c.job_id).where(
            jobs.c.status.in_(OPEN),
            jobs.c.is_extracted,
            ~jobs.c.is_queued_in_graph,
            jobs.c.created_at < limit,
        )
    )
    return list(found.scalars())


def _queued(connection: Connection, job_id: str) -> None:
    connection.execute(
        sa.update(jobs).where(jobs.c.job_id == job_id).values(is_queued_in_graph=True)
    )


def _to_stop(connection: Connection, job_ids: Sequence[str]) -> list[tuple[str, str | None]]:
    found = connection.execute(
        sa.select(jobs.c.job_id, jobs.c.error).where(
            jobs.c.job_id.in_(job_ids), jobs.c.is_cancelled | jobs.c.error.is_not(None)
        )
    )
    return [(row.job_id, row.error) for row in found]


def _begin_again(connection: Connection) -> None:
    """Also claims that are said to run in a worker that nobody knows."""
    known = sa.select(workers.c.worker_id)
    lost = (
        job_claims.c.status == Status.RUNNING,
        job_claims.c.worker_id.is_not(None),
        job_claims.c.worker_id.not_in(known),
    )
    connection.execute(
        sa.update(job_claims)
        .where(*lost)
        .values(status=Status.QUEUED, worker_id=None, attempt=job_claims.c.attempt + 1)
    )
    connection.execute(sa.update(jobs).where(jobs.c.status.in_(OPEN)).values(is_enqueued=False))


def _to_forget(connection: Connection, ended_before: str) -> list[Work]:
    """Everything that the engine was ever given of some jobs that ended so long ago."""
    gone = connection.execute(
        sa.select(jobs.c.job_id, jobs.c.attempt)
        .where(jobs.c.ended_at < ended_before, jobs.c.status.not_in(OPEN))
        .limit(FORGOTTEN_TOGETHER)
    ).all()
    works = [Work(job_id, "", one) for job_id, last in gone for one in range(1, last + 1)]
    claims = connection.execute(
        sa.select(job_claims.c.job_id, job_claims.c.verification_id, job_claims.c.attempt).where(
            job_claims.c.job_id.in_([row.job_id for row in gone])
        )
    )
    works += [Work(job_id, of, one) for job_id, of, last in claims for one in range(1, last + 1)]
    return works


def _forget(connection: Connection, job_ids: Sequence[str]) -> None:
    forget_in(connection, job_ids)
    forget_purses(connection, job_ids)
    for table in (job_claims, jobs):
        connection.execute(sa.delete(table).where(table.c.job_id.in_(job_ids)))
