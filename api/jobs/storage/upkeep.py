"""Put the tables, the queue and the graph in line after a process was killed."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs.model import OPEN_CLAIMS, Work
from veritrail_graph.api.jobs.storage.events import forget_in
from veritrail_graph.api.jobs.storage.leases import forget_leases
from veritrail_graph.api.jobs.storage.sums import OF_CLAIMS
from veritrail_graph.api.jobs.storage.tables import (
    batch_lines,
    batches,
    job_claims,
    jobs,
    webhook_messages,
    workers,
)
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.job import OPEN

FORGOTTEN_TOGETHER = 20


def open_jobs(connection: Connection) -> list[tuple[str, int, bool, bool]]:
    """Jobs for workers of which something is left to do, oldest first.

    Returns:
        The job_id, how often it was taken up, whether it has its claims, and whether one of these
        is left, and not only the explanation of all.
    """
    c = job_claims.c
    has_claims = sa.exists().where(c.job_id == jobs.c.job_id, c.status.in_(OPEN_CLAIMS), OF_CLAIMS)
    found = connection.execute(
        sa.select(jobs.c.job_id, jobs.c.attempt, jobs.c.is_extracted, has_claims)
        .where(jobs.c.status.in_(OPEN), ~jobs.c.is_local)
        .order_by(jobs.c.created_at)
    )
    return [(*row,) for row in found]


def stopped_jobs(connection: Connection) -> list[str]:
    """Jobs for workers that were cancelled or given up and have claims that are still queued."""
    left = sa.select(job_claims.c.job_id).where(job_claims.c.status == Status.QUEUED)
    found = connection.execute(
        sa.select(jobs.c.job_id).where(
            jobs.c.status.in_(OPEN),
            jobs.c.is_cancelled | jobs.c.error.is_not(None),
            jobs.c.job_id.in_(left),
        )
    )
    return list(found.scalars())


def queue_lost(connection: Connection) -> None:
    """Queue claims again that are noted as running in a worker that is not known."""
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
    for table in (webhook_messages, batch_lines, batches, job_claims, jobs):
        connection.execute(sa.delete(table).where(table.c.job_id.in_(job_ids)))
