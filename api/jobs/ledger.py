"""The state of jobs and their claims: every change is one transaction of the caller's.

A job is done when none of its claims is open; both are looked at under the same lock on the row
of the job, so that of two workers that finish its last claims one ends it. What a job comes to is
never counted along, always counted from its claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.events import EventLog, Kind, job_finished
from veritrail_graph.api.jobs.model import OPEN, OPEN_CLAIMS, JobStatus
from veritrail_graph.api.jobs.reading import counts_of, usage_of
from veritrail_graph.api.jobs.tables import job_claims, jobs
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.model import Status, Usage

MOST_BEGINNINGS = 25
"""So often a claim is begun; a claim that takes its worker with it each time is given up."""
CANCELLED = "the job was cancelled before this claim was finished"

_USAGE = tuple(name for name in Usage.model_fields if name != "cost_usd")


@dataclass(frozen=True, slots=True)
class Begun:
    """A claim that a worker is about to verify.

    Attributes:
        job_id: Its job.
        verification_id: Its verification.
        attempt: How often it was taken up, from 1.
    """

    job_id: str
    verification_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a claim.

    Attributes:
        of: The claim.
        status: How it ended.
        failure: Why, if it has no verdict.
        usage: What it cost this time.
        event: What `claim.finished` tells.
        is_told: Whether the graph says the same.
    """

    of: Begun
    status: Status
    failure: str | None
    usage: Usage
    event: Mapping[str, Any]
    is_told: bool = True


def hold(connection: Connection, job_ids: Iterable[str]) -> dict[str, RowMapping]:
    """Hold jobs until the transaction ends; those that are gone are left out."""
    found = connection.execute(
        sa.select(jobs)
        .where(jobs.c.job_id.in_(sorted(job_ids)))
        .order_by(jobs.c.job_id)
        .with_for_update()
    )
    return {row["job_id"]: row for row in found.mappings()}


def begin(
    connection: Connection, worker_id: str, claims: Sequence[Begun], log: EventLog
) -> set[tuple[str, str]]:
    """Let a worker have claims; gives job_id and verification_id of those still to be made."""
    held = hold(connection, {one.job_id for one in claims})
    rows = _claims(connection, claims)
    mine: list[Begun] = []
    for one in claims:
        row, job = rows.get((one.job_id, one.verification_id)), held.get(one.job_id)
        if row is None or job is None or row["attempt"] != one.attempt:
            continue
        if Status(row["status"]) not in OPEN_CLAIMS:
            continue
        if job["is_cancelled"] or job["error"]:
            why = job["error"] or CANCELLED
            end(connection, [_given_up(row, Status.CANCELLED, why)], log)
        elif row["begun"] >= MOST_BEGINNINGS:
            why = f"given up: the worker ended {row['begun']} times while this was verified"
            end(connection, [_given_up(row, Status.FAILED, why)], log)
        else:
            mine.append(one)
    if mine:
        connection.execute(
            sa.update(job_claims)
            .where(
                job_claims.c.job_id == sa.bindparam("of_job"),
                job_claims.c.verification_id == sa.bindparam("of_verification"),
            )
            .values(status=Status.RUNNING, worker_id=worker_id, begun=job_claims.c.begun + 1),
            [{"of_job": one.job_id, "of_verification": one.verification_id} for one in mine],
        )
    for job_id in {one.job_id for one in mine}:
        start(connection, held[job_id], log)
    return {(one.job_id, one.verification_id) for one in mine}


def start(connection: Connection, job: RowMapping, log: EventLog) -> None:
    """Work on a job begins, if it has not begun yet."""
    if job["status"] != JobStatus.QUEUED:
        return
    connection.execute(
        sa.update(jobs)
        .where(jobs.c.job_id == job["job_id"])
        .values(status=JobStatus.RUNNING, started_at=job["started_at"] or now())
    )
    log.append_in(connection, job["job_id"], Kind.JOB_STARTED, {"job_id": job["job_id"]})


def finish(connection: Connection, worker_id: str, ended: Sequence[Ended], log: EventLog) -> None:
    """Keep how claims ended; what a worker has that was given to another one is left aside."""
    hold(connection, {one.of.job_id for one in ended})
    rows = _claims(connection, [one.of for one in ended])
    mine = []
    for one in ended:
        row = rows.get((one.of.job_id, one.of.verification_id))
        if row is None or row["worker_id"] != worker_id or row["attempt"] != one.of.attempt:
            continue
        if row["status"] == Status.RUNNING:
            before = Usage(**{name: row[name] for name in _USAGE}, cost_usd=row["cost_usd"])
            event = {**one.event, "claim_id": row["claim_id"]}
            mine.append(replace(one, usage=before + one.usage, event=event))
    end(connection, mine, log)


def end(connection: Connection, ended: Sequence[Ended], log: EventLog) -> None:
    """Set claims to their end, tell of it, and end the jobs of which nothing is left."""
    if not ended:
        return
    values = [
        {
            "of_job": one.of.job_id,
            "of_verification": one.of.verification_id,
            "status": one.status.value,
            "failure": _storable(one.failure),
            "is_told": one.is_told,
            **one.usage.json_object(),
        }
        for one in ended
    ]
    connection.execute(
        sa.update(job_claims).where(
            job_claims.c.job_id == sa.bindparam("of_job"),
            job_claims.c.verification_id == sa.bindparam("of_verification"),
        ),
        values,
    )
    by_job: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for one in ended:
        by_job.setdefault(one.of.job_id, []).append((Kind.CLAIM_FINISHED, one.event))
    for job_id in sorted(by_job):
        log.append_all_in(connection, job_id, by_job[job_id])
        settle(connection, job_id, log)


def settle(connection: Connection, job_id: str, log: EventLog) -> None:
    """End a job of which nothing is left to do; the job is held."""
    job = connection.execute(sa.select(jobs).where(jobs.c.job_id == job_id)).mappings().one()
    counts = counts_of(connection, [job_id]).get(job_id, {})
    if JobStatus(job["status"]) not in OPEN or any(one in counts for one in OPEN_CLAIMS):
        return
    if not job["is_extracted"] and not job["is_cancelled"] and job["error"] is None:
        return
    status = _outcome(job, counts)
    connection.execute(
        sa.update(jobs).where(jobs.c.job_id == job_id).values(status=status, ended_at=now())
    )
    usage = usage_of(connection, [job_id]).get(job_id, Usage())
    log.append_in(connection, job_id, Kind.JOB_FINISHED, job_finished(status, counts, usage))


def _outcome(job: RowMapping, counts: Mapping[str, int]) -> JobStatus:
    is_whole = job["is_extracted"] and job["error"] is None
    if is_whole and set(counts) <= {Status.SUCCEEDED.value}:
        return JobStatus.SUCCEEDED
    return JobStatus.CANCELLED if job["is_cancelled"] else JobStatus.FAILED


def give_up(
    connection: Connection,
    job_id: str,
    status: Status,
    why: str,
    log: EventLog,
    *,
    error: str | None = None,
) -> None:
    """End all claims of a job that are queued.

    Args:
        connection: The transaction.
        job_id: The job.
        status: How they end.
        why: What is told of each of them.
        log: The events.
        error: The reason, where it holds for all claims of the job: what runs is stopped too.
    """
    job = hold(connection, [job_id]).get(job_id)
    if job is None or JobStatus(job["status"]) not in OPEN:
        return
    if error is not None:
        connection.execute(
            sa.update(jobs)
            .where(jobs.c.job_id == job_id, jobs.c.error.is_(None))
            .values(error=_storable(error))
        )
    rows = connection.execute(
        sa.select(job_claims)
        .where(job_claims.c.job_id == job_id, job_claims.c.status == Status.QUEUED)
        .order_by(job_claims.c.place)
    ).mappings()
    end(connection, [_given_up(row, status, why) for row in rows.all()], log)
    settle(connection, job_id, log)


def _storable(text: str | None) -> str | None:
    """A reason as PostgreSQL takes it, whatever a model or a file put into it."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if text is not None else None


def _claims(connection: Connection, claims: Sequence[Begun]) -> dict[tuple[str, str], RowMapping]:
    found = connection.execute(
        sa.select(job_claims).where(
            job_claims.c.verification_id.in_([one.verification_id for one in claims])
        )
    ).mappings()
    return {(row["job_id"], row["verification_id"]): row for row in found}


def _given_up(row: RowMapping, status: Status, why: str) -> Ended:
    begun = Begun(row["job_id"], row["verification_id"], row["attempt"])
    usage = Usage(**{name: row[name] for name in _USAGE}, cost_usd=row["cost_usd"])
    event = {
        "verification_id": begun.verification_id,
        "claim_id": row["claim_id"],
        "status": status.value,
        "verdict": None,
        "error": why,
        "usage": Usage().json_object(),
    }
    return Ended(begun, status, why, usage, event, is_told=False)
