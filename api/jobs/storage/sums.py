"""The claims of jobs, counted and added up; a statement that is made once is sent faster."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.model import EXPLANATION, SENTENCE
from veritrail_graph.api.jobs.storage.tables import job_claims
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.job import JobExplanation

_SUMS = (
    "calls",
    "cached_calls",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "unpriced_calls",
    "batch_calls",
    "cost_usd",
)


_JOB_IDS: sa.BindParameter[list[str]] = sa.bindparam("job_ids", expanding=True)
OF_JOBS = job_claims.c.job_id.in_(_JOB_IDS)
"""Rows of the jobs that the parameter `job_ids` names."""
OF_CLAIMS = ~job_claims.c.verification_id.startswith(EXPLANATION)
"""Rows of claims, sentences and turns; the other one explains the verdicts of its job."""


def is_lacking() -> sa.ColumnElement[bool]:
    """Rows of sentences that are stored, and whose judgement or correction failed."""
    c = job_claims.c
    is_sentence = c.verification_id.startswith(SENTENCE)
    return sa.and_(is_sentence, c.status == Status.SUCCEEDED, c.failure.is_not(None))


_TOTALS = (
    sa.select(
        job_claims.c.job_id,
        job_claims.c.status,
        OF_CLAIMS.label("are_claims"),
        sa.func.count().label("rows"),
        sa.func.sum(sa.case((is_lacking(), 1), else_=0)).label("lacking"),
        sa.func.max(job_claims.c.failure).label("failure"),
        *(sa.func.sum(job_claims.c[name]).label(name) for name in _SUMS),
    )
    .where(OF_JOBS)
    .group_by(job_claims.c.job_id, job_claims.c.status, OF_CLAIMS)
)
_REUSED = (
    sa.select(job_claims.c.job_id, sa.func.count())
    .where(OF_JOBS, job_claims.c.reused)
    .group_by(job_claims.c.job_id)
)


@dataclass(slots=True)
class JobTotals:
    """The rows of the claims of a job, counted and added up.

    Attributes:
        counts: Its claims by status; only those that occur.
        explanation: The explanation of its verdicts; None: it has none.
        lacking: Sentences that are stored, and lack a correction that failed.
        usage: The cost of its claims and its explanation, without its extraction.
    """

    counts: dict[str, int] = field(default_factory=dict)
    explanation: JobExplanation | None = None
    lacking: int = 0
    usage: Usage = field(default_factory=Usage)


def totals_of(connection: Connection, job_ids: Collection[str]) -> dict[str, JobTotals]:
    """Return the totals of each job, with one statement."""
    found = {job_id: JobTotals() for job_id in job_ids}
    for row in connection.execute(_TOTALS, _named(job_ids)).mappings():
        totals = found[row["job_id"]]
        if row["are_claims"]:
            totals.counts[row["status"]] = row["rows"]
        else:
            status = Status(row["status"])
            totals.explanation = JobExplanation(status=status, error=row["failure"])
        totals.lacking += row["lacking"]
        totals.usage += _summed(row)
    return found


def extraction_usage(job: RowMapping) -> Usage:
    """Return what the extraction of a job has cost until now."""
    return Usage(**json.loads(job["usage"])) if job["usage"] else Usage()


def _named(job_ids: Collection[str]) -> dict[str, list[str]]:
    return {"job_ids": list(job_ids)}


def _summed(row: RowMapping) -> Usage:
    whole = {name: int(row[name] or 0) for name in _SUMS if name != "cost_usd"}
    cost = None if whole["unpriced_calls"] else row["cost_usd"]
    return Usage(**whole, cost_usd=cost)


def reused_of(connection: Connection, job_ids: Collection[str]) -> dict[str, int]:
    """Return how many verifications of each job were stored before."""
    return {row[0]: row[1] for row in connection.execute(_REUSED, _named(job_ids))}
