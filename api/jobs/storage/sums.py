"""The claims of jobs, counted and added up; a statement that is made once is sent faster."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.model import EXPLANATION, SENTENCE
from veritrail_graph.api.jobs.storage.tables import job_claims, jobs
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


_LACKING = (
    sa.select(job_claims.c.job_id, sa.func.count())
    .where(OF_JOBS, is_lacking())
    .group_by(job_claims.c.job_id)
)
_EXPLANATIONS = sa.select(job_claims.c.job_id, job_claims.c.status, job_claims.c.failure).where(
    OF_JOBS, ~OF_CLAIMS
)
_COUNTS = (
    sa.select(job_claims.c.job_id, job_claims.c.status, sa.func.count())
    .where(OF_JOBS, OF_CLAIMS)
    .group_by(job_claims.c.job_id, job_claims.c.status)
)
_USAGE = (
    sa.select(job_claims.c.job_id, *(sa.func.sum(job_claims.c[name]).label(name) for name in _SUMS))
    .where(OF_JOBS)
    .group_by(job_claims.c.job_id)
)
_IS_EXPLANATION = job_claims.c.verification_id.startswith(EXPLANATION)
_TOTALS = (
    sa.select(
        job_claims.c.status,
        _IS_EXPLANATION.label("explains"),
        sa.func.count().label("rows"),
        sa.func.sum(sa.case((is_lacking(), 1), else_=0)).label("lacking"),
        *(sa.func.sum(job_claims.c[name]).label(name) for name in _SUMS),
    )
    .where(job_claims.c.job_id == sa.bindparam("job_id"))
    .group_by(job_claims.c.status, _IS_EXPLANATION)
)
_EXTRACTED = sa.select(jobs.c.job_id, jobs.c.usage).where(
    jobs.c.job_id.in_(_JOB_IDS), jobs.c.usage.is_not(None)
)
_REUSED = (
    sa.select(job_claims.c.job_id, sa.func.count())
    .where(OF_JOBS, job_claims.c.reused)
    .group_by(job_claims.c.job_id)
)


@dataclass(frozen=True, slots=True)
class Totals:
    """Everything that the end of one job depends on.

    Attributes:
        counts: Its claims by status.
        explanation: The status of its explanation; None: it has none.
        lacking: Sentences that are stored, and lack a correction that failed.
        usage: The cost of its claims and its explanation, without its extraction.
    """

    counts: dict[str, int]
    explanation: Status | None
    lacking: int
    usage: Usage


def totals_of(connection: Connection, job_id: str) -> Totals:
    """Return the totals of a job, with one statement."""
    counts: dict[str, int] = {}
    explanation, lacking, usage = None, 0, Usage()
    for row in connection.execute(_TOTALS, {"job_id": job_id}).mappings():
        if row["explains"]:
            explanation = Status(row["status"])
        else:
            counts[row["status"]] = row["rows"]
        lacking += row["lacking"]
        usage += _summed(row)
    return Totals(counts, explanation, lacking, usage)


def _named(job_ids: Collection[str]) -> dict[str, list[str]]:
    return {"job_ids": list(job_ids)}


def lacking_of(connection: Connection, job_ids: Collection[str]) -> dict[str, int]:
    """Return how many sentences of each job are stored, and lack a correction that failed."""
    return {row[0]: row[1] for row in connection.execute(_LACKING, _named(job_ids))}


def explanations_of(connection: Connection, job_ids: Collection[str]) -> dict[str, JobExplanation]:
    """The explanation of the verdicts of each job that has one."""
    found = connection.execute(_EXPLANATIONS, _named(job_ids))
    return {
        row.job_id: JobExplanation(status=Status(row.status), error=row.failure) for row in found
    }


def counts_of(connection: Connection, job_ids: Collection[str]) -> dict[str, dict[str, int]]:
    """Return how many claims of each job have each status; only those that occur."""
    counts: dict[str, dict[str, int]] = {}
    for job_id, status, number in connection.execute(_COUNTS, _named(job_ids)):
        counts.setdefault(job_id, {})[status] = number
    return counts


def usage_of(connection: Connection, job_ids: Collection[str]) -> dict[str, Usage]:
    """Return what each job has cost: its claims and, where there was one, its extraction."""
    found = connection.execute(_USAGE, _named(job_ids)).mappings()
    usage = {row["job_id"]: _summed(row) for row in found}
    for job_id, text in connection.execute(_EXTRACTED, _named(job_ids)):
        usage[job_id] = usage.get(job_id, Usage()) + Usage(**json.loads(text))
    return usage


def _summed(row: RowMapping) -> Usage:
    whole = {name: int(row[name] or 0) for name in _SUMS if name != "cost_usd"}
    cost = None if whole["unpriced_calls"] else row["cost_usd"]
    return Usage(**whole, cost_usd=cost)


def reused_of(connection: Connection, job_ids: Collection[str]) -> dict[str, int]:
    """Return how many verifications of each job were stored before."""
    return {row[0]: row[1] for row in connection.execute(_REUSED, _named(job_ids))}
