"""Jobs as they are told: read, listed, counted; nothing is changed here."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.model import OPEN, OPEN_CLAIMS, Job, JobStatus
from veritrail_graph.api.jobs.tables import job_claims, jobs
from veritrail_graph.graph.model import Status, Usage

_SUMS = (
    "calls",
    "cached_calls",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "unpriced_calls",
    "cost_usd",
)


def counts_of(connection: Connection, job_ids: Collection[str]) -> dict[str, dict[str, int]]:
    """How many claims of each job have each status; only those that occur."""
    found = connection.execute(
        sa.select(job_claims.c.job_id, job_claims.c.status, sa.func.count())
        .where(job_claims.c.job_id.in_(job_ids))
        .group_by(job_claims.c.job_id, job_claims.c.status)
    )
    counts: dict[str, dict[str, int]] = {}
    for job_id, status, number in found:
        counts.setdefault(job_id, {})[status] = number
    return counts


def usage_of(connection: Connection, job_ids: Collection[str]) -> dict[str, Usage]:
    """What each job has cost: its claims and, where there was one, its extraction."""
    sums = [sa.func.sum(job_claims.c[name]).label(name) for name in _SUMS]
    found = connection.execute(
        sa.select(job_claims.c.job_id, *sums)
        .where(job_claims.c.job_id.in_(job_ids))
        .group_by(job_claims.c.job_id)
    ).mappings()
    usage = {row["job_id"]: _summed(row) for row in found}
    extracted = sa.select(jobs.c.job_id, jobs.c.usage).where(
        jobs.c.job_id.in_(job_ids), jobs.c.usage.is_not(None)
    )
    for job_id, text in connection.execute(extracted):
        usage[job_id] = usage.get(job_id, Usage()) + Usage(**json.loads(text))
    return usage


def _summed(row: RowMapping) -> Usage:
    whole = {name: int(row[name] or 0) for name in _SUMS if name != "cost_usd"}
    cost = None if whole["unpriced_calls"] else row["cost_usd"]
    return Usage(**whole, cost_usd=cost)


def found_jobs(connection: Connection, job_ids: Sequence[str], *, ids: bool = True) -> list[Job]:
    """Jobs, in the order asked for; those that are not there are left out.

    Args:
        connection: The transaction.
        job_ids: Which.
        ids: Whether the verification_ids are told.
    """
    rows = {
        row["job_id"]: row
        for row in connection.execute(sa.select(jobs).where(jobs.c.job_id.in_(job_ids))).mappings()
    }
    counts, usage = counts_of(connection, list(rows)), usage_of(connection, list(rows))
    of: dict[str, list[str]] = {}
    if ids:
        chosen = sa.select(job_claims.c.job_id, job_claims.c.verification_id)
        in_order = chosen.where(job_claims.c.job_id.in_(list(rows))).order_by(job_claims.c.place)
        for job_id, verification_id in connection.execute(in_order):
            of.setdefault(job_id, []).append(verification_id)
    reused = _reused(connection, list(rows))
    return [
        _job(rows[one], of.get(one, ()), counts.get(one, {}), usage.get(one, Usage()), reused)
        for one in job_ids
        if one in rows
    ]


def _reused(connection: Connection, job_ids: Sequence[str]) -> dict[str, int]:
    found = connection.execute(
        sa.select(job_claims.c.job_id, sa.func.count())
        .where(job_claims.c.job_id.in_(job_ids), job_claims.c.reused)
        .group_by(job_claims.c.job_id)
    )
    return {row[0]: row[1] for row in found}


def _job(
    row: RowMapping,
    verification_ids: Sequence[str],
    counts: Mapping[str, int],
    usage: Usage,
    reused: Mapping[str, int],
) -> Job:
    return Job(
        job_id=row["job_id"],
        run_id=row["run_id"],
        process_id=row["process_id"],
        status=JobStatus(row["status"]),
        cancelling=row["is_cancelled"] and JobStatus(row["status"]) in OPEN,
        name=row["name"],
        key_id=row["key_id"] or None,
        verification_ids=tuple(verification_ids),
        counts=counts,
        usage=usage,
        reused=reused.get(row["job_id"], 0),
        error=row["error"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        asks_models=bool(json.loads(row["settings"]).get("steps")),
    )


def page(
    connection: Connection,
    *,
    process_id: str | None = None,
    status: JobStatus | None = None,
    before: tuple[str, str] | None = None,
    limit: int = 100,
) -> list[Job]:
    """Jobs, newest first, without their verification_ids.

    Args:
        connection: The transaction.
        process_id: Only those of a process.
        status: Only those that stand so.
        before: `created_at` and job_id of the last one of the page before.
        limit: The most.
    """
    chosen = sa.select(jobs.c.job_id)
    if process_id is not None:
        chosen = chosen.where(jobs.c.process_id == process_id)
    if status is not None:
        chosen = chosen.where(jobs.c.status == status)
    if before is not None:
        chosen = chosen.where(
            sa.or_(
                jobs.c.created_at < before[0],
                sa.and_(jobs.c.created_at == before[0], jobs.c.job_id < before[1]),
            )
        )
    newest = chosen.order_by(jobs.c.created_at.desc(), jobs.c.job_id.desc()).limit(limit)
    return found_jobs(connection, list(connection.execute(newest).scalars()), ids=False)


@dataclass(frozen=True, slots=True)
class JobClaim:
    """A claim of a job.

    Attributes:
        place: Its place in the job.
        verification_id: Its verification.
        claim_id: The claim.
        status: How it stands.
        failure: Why it has no verdict.
    """

    place: int
    verification_id: str
    claim_id: str
    status: Status
    failure: str | None


def claims_of(connection: Connection, job_id: str, after: int, limit: int) -> list[JobClaim]:
    """Claims of a job in their order, behind a place."""
    c = job_claims.c
    found = connection.execute(
        sa.select(c.place, c.verification_id, c.claim_id, c.status, c.failure)
        .where(c.job_id == job_id, c.place > after)
        .order_by(c.place)
        .limit(limit)
    )
    return [JobClaim(*row[:3], Status(row[3]), row[4]) for row in found]


def first_open(connection: Connection, job_id: str) -> int | None:
    """The place of the first claim of a job that has not ended; None: all have."""
    c = job_claims.c
    is_open = sa.and_(c.job_id == job_id, c.status.in_(OPEN_CLAIMS))
    return connection.execute(sa.select(sa.func.min(c.place)).where(is_open)).scalar()


def open_jobs_of(connection: Connection, process_id: str) -> list[str]:
    """The jobs of a process of which something is left to do, oldest first."""
    found = connection.execute(
        sa.select(jobs.c.job_id)
        .where(jobs.c.process_id == process_id, jobs.c.status.in_(OPEN))
        .order_by(jobs.c.created_at)
    )
    return list(found.scalars())


def open_by_process(connection: Connection) -> dict[str, list[str]]:
    """The jobs of which something is left to do, by process, oldest first."""
    found: dict[str, list[str]] = {}
    rows = connection.execute(
        sa.select(jobs.c.process_id, jobs.c.job_id)
        .where(jobs.c.status.in_(OPEN))
        .order_by(jobs.c.created_at)
    )
    for process_id, job_id in rows:
        found.setdefault(process_id, []).append(job_id)
    return found
