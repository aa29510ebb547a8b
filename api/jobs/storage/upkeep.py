"""What is left to do between the tables, the queue and the graph after a process was killed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs.model import OPEN, Work
from veritrail_graph.api.jobs.storage import changes
from veritrail_graph.api.jobs.storage.events import forget_in
from veritrail_graph.api.jobs.storage.leases import forget_leases
from veritrail_graph.api.jobs.storage.reading import works_of
from veritrail_graph.api.jobs.storage.tables import job_claims, jobs, workers
from veritrail_graph.graph.model import Status

if TYPE_CHECKING:
    pass

FORGOTTEN_TOGETHER = 20


UNQUEUED_SECONDS = 5.0


def to_enqueue(connection: Connection) -> list[str]:
    """Jobs with work that the queue does not have yet."""
    found = connection.execute(
        sa.select(jobs.c.job_id)
        .where(jobs.c.status.in_(OPEN), ~jobs.c.is_enqueued, ~jobs.c.is_local)
        .where(jobs.c.is_queued_in_graph | ~jobs.c.is_extracted)
        .order_by(jobs.c.created_at)
    )
    return list(found.scalars())


def note_enqueued(connection: Connection, job_id: str, works: Sequence[Work]) -> None:
    """Note that all of a job was handed over, unless more has come meanwhile."""
    changes.hold(connection, [job_id])
    known = {(one.verification_id, one.attempt) for one in works}
    if all((one.verification_id, one.attempt) in known for one in works_of(connection, job_id)):
        connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(is_enqueued=True))


def to_queue_in_graph(connection: Connection) -> list[str]:
    """Jobs whose claims are not queued in the graph, although they were submitted a while ago."""
    before = datetime.now(UTC) - timedelta(seconds=UNQUEUED_SECONDS)
    limit = before.isoformat(timespec="microseconds").replace("+00:00", "Z")
    found = connection.execute(
        sa.select(jobs.c.job_id).where(
            jobs.c.status.in_(OPEN),
            jobs.c.is_extracted,
            ~jobs.c.is_queued_in_graph,
            ~jobs.c.is_local,
            jobs.c.created_at < limit,
        )
    )
    return list(found.scalars())


def queued_in_graph(connection: Connection, job_id: str) -> None:
    """Note that the claims of a job are queued in the graph."""
    connection.execute(
        sa.update(jobs).where(jobs.c.job_id == job_id).values(is_queued_in_graph=True)
    )


def enqueue_again(connection: Connection) -> None:
    """Also claims that are said to run in a worker that nobody knows."""
    known = sa.select(workers.c.worker_id)
    lost = (
        job_claims.c.status == Status.RUNNING,
        job_claims.c.worker_id.is_not(None),
        job_claims.c.worker_id.not_in(known),
        job_claims.c.job_id.in_(sa.select(jobs.c.job_id).where(~jobs.c.is_local)),
    )
    connection.execute(
        sa.update(job_claims)
        .where(*lost)
        .values(status=Status.QUEUED, worker_id=None, attempt=job_claims.c.attempt + 1)
    )
    connection.execute(sa.update(jobs).where(jobs.c.status.in_(OPEN)).values(is_enqueued=False))


def to_forget(connection: Connection, ended_before: str) -> list[Work]:
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


def forget(connection: Connection, job_ids: Sequence[str]) -> None:
    """Remove jobs with everything that belongs to them."""
    forget_in(connection, job_ids)
    forget_leases(connection, job_ids)
    for table in (job_claims, jobs):
        connection.execute(sa.delete(table).where(table.c.job_id.in_(job_ids)))


TOLD_TOGETHER = 200


def to_tell(connection: Connection, job_id: str | None) -> Sequence[Any]:
    """Some claims of which the graph does not say yet how they ended."""
    chosen = sa.select(
        job_claims.c.verification_id, job_claims.c.status, job_claims.c.failure
    ).where(~job_claims.c.is_told)
    if job_id is not None:
        chosen = chosen.where(job_claims.c.job_id == job_id)
    return connection.execute(chosen.limit(TOLD_TOGETHER)).all()


def note_told(connection: Connection, verification_ids: Sequence[str]) -> None:
    """Note that the graph says of claims how they ended."""
    connection.execute(
        sa.update(job_claims)
        .where(job_claims.c.verification_id.in_(verification_ids))
        .values(is_told=True)
    )
