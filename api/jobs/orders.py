"""What is asked of jobs: submit, cancel, resume; each is one transaction of the caller's."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.events import EventLog, Kind
from veritrail_graph.api.jobs.ledger import CANCELLED, give_up, hold, settle
from veritrail_graph.api.jobs.model import OPEN, Job, JobStatus
from veritrail_graph.api.jobs.reading import found_jobs
from veritrail_graph.api.jobs.tables import job_claims, jobs
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.canonical import canonical

UNFINISHED = (Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED)


class Busy(InputError):
    """What is asked for cannot be done at this moment."""


def insert(
    connection: Connection,
    job: Mapping[str, Any],
    claims: Sequence[Mapping[str, Any]],
    log: EventLog,
) -> None:
    """Keep a job with its claims; one of which everything was verified before has ended with it.

    Raises:
        IntegrityError: There is a job with this idempotency key.
    """
    connection.execute(sa.insert(jobs).values(**job))
    add_claims(connection, job["job_id"], job["key_id"], claims)
    if job["is_extracted"]:
        settle(connection, job["job_id"], log)


def add_claims(
    connection: Connection, job_id: str, key_id: str, claims: Sequence[Mapping[str, Any]]
) -> None:
    """Add claims to a job, each with its turn."""
    if not claims:
        return
    first = next_priority(connection, key_id)
    rows = [
        {"job_id": job_id, "key_id": key_id, "place": place, "priority": first + place, **claim}
        for place, claim in enumerate(claims)
    ]
    connection.execute(sa.insert(job_claims), rows)


def with_idempotency_key(
    connection: Connection, key_id: str, idempotency_key: str
) -> tuple[Job, str] | None:
    """The job that was submitted under a key of the caller's, and the hash of its input."""
    found = connection.execute(
        sa.select(jobs.c.job_id, jobs.c.input_hash).where(
            jobs.c.key_id == key_id, jobs.c.idempotency_key == idempotency_key
        )
    ).one_or_none()
    if found is None:
        return None
    return found_jobs(connection, [found.job_id])[0], found.input_hash


def release_key(connection: Connection, job_id: str) -> None:
    """Let the idempotency key of a job be used for another one."""
    connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(idempotency_key=None))


def cancel(connection: Connection, job_id: str, log: EventLog) -> Job | None:
    """Cancel what is left of a job; what runs is stopped by its worker."""
    job = hold(connection, [job_id]).get(job_id)
    if job is not None and JobStatus(job["status"]) in OPEN and not job["is_cancelled"]:
        connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(is_cancelled=True))
        is_extracting = not job["is_extracted"] and job["status"] == JobStatus.RUNNING
        if not is_extracting:  # its worker ends it
            give_up(connection, job_id, Status.CANCELLED, CANCELLED, log)
    return next(iter(found_jobs(connection, [job_id])), None)


def resume(
    connection: Connection, job_id: str, limits: Mapping[str, float | int], log: EventLog
) -> Job | None:
    """Take up again every claim of a job that has no verdict, under its verification_id.

    Args:
        connection: The transaction.
        job_id: The job.
        limits: What it may cost in all from now on, where that is changed.
        log: The events.

    Raises:
        InputError: Something of the job is still being stopped.
    """
    job = hold(connection, [job_id]).get(job_id)
    if job is None:
        return None
    is_open = JobStatus(job["status"]) in OPEN
    if is_open and (job["is_cancelled"] or job["error"]):
        raise Busy(f"Job {job_id} is being stopped; resume it in a moment.")
    again = connection.execute(
        sa.select(job_claims.c.verification_id, job_claims.c.is_told)
        .where(job_claims.c.job_id == job_id)
        .where(job_claims.c.status.in_(UNFINISHED))
        .order_by(job_claims.c.place)
    ).all()
    if not all(row.is_told for row in again):
        raise Busy(f"Job {job_id} was stopped only now; resume it in a moment.")
    if again:
        _queue_again(connection, job, [row.verification_id for row in again])
    if again or not job["is_extracted"]:
        values: dict[str, Any] = {"is_enqueued": False, "is_cancelled": False, "error": None}
        if limits:
            values["request"] = canonical({**json.loads(job["request"]), **limits}).decode()
        if not is_open:
            values |= {"status": JobStatus.QUEUED, "ended_at": None}
        if not job["is_extracted"] and not is_open:
            values["attempt"] = job["attempt"] + 1
        connection.execute(sa.update(jobs).where(jobs.c.job_id == job_id).values(**values))
        if not is_open:  # whoever watches does not take the end before for the last one
            log.append_in(connection, job_id, Kind.JOB_RESUMED, {"job_id": job_id})
    return found_jobs(connection, [job_id])[0]


def _queue_again(connection: Connection, job: RowMapping, ids: Collection[str]) -> None:
    first = next_priority(connection, job["key_id"])
    connection.execute(
        sa.update(job_claims)
        .where(
            job_claims.c.job_id == sa.bindparam("of_job"),
            job_claims.c.verification_id == sa.bindparam("of_verification"),
        )
        .values(
            status=Status.QUEUED,
            attempt=job_claims.c.attempt + 1,
            priority=sa.bindparam("turn"),
            worker_id=None,
            begun=0,
            failure=None,
        ),
        [
            {"of_job": job["job_id"], "of_verification": one, "turn": first + place}
            for place, one in enumerate(ids)
        ],
    )


def next_priority(connection: Connection, key_id: str) -> int:
    """The turn of the next claim of a key: lower ones come first.

    Whoever asks for nothing yet gets the turn that is just being served, and so takes turns with
    those who have asked for much: the n-th claim of one goes beside the n-th of another.
    """
    of_key = sa.select(sa.func.max(job_claims.c.priority)).where(
        job_claims.c.key_id == key_id, job_claims.c.status == Status.QUEUED
    )
    served = sa.select(sa.func.max(job_claims.c.priority)).where(
        job_claims.c.status == Status.RUNNING
    )
    last = connection.execute(of_key).scalar() or 0
    now_served = connection.execute(served).scalar() or 0
    return int(max(last, now_served)) + 1
