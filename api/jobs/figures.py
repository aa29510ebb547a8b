"""How all jobs stand together, in a few figures; those of jobs that retention removed are gone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs.tables import job_claims, jobs, workers

ALIVE_SECONDS = 10.0
"""A worker that was silent for longer is not counted."""


@dataclass(frozen=True, slots=True)
class Figures:
    """All jobs that are kept.

    Attributes:
        jobs: How many, by status.
        claims: How many claims, by status.
        workers: Workers that live.
        calls: Calls of models for these claims, those aside that were answered from the cache.
        tokens: Tokens by kind: `input`, `cached_input`, `output`, `reasoning`.
        cost_usd: What it cost, where prices are known; None: no price is.
        unpriced_calls: Calls whose price is not known.
    """

    jobs: Mapping[str, int]
    claims: Mapping[str, int]
    workers: int
    calls: int
    tokens: Mapping[str, int]
    cost_usd: float | None
    unpriced_calls: int


def figures(connection: Connection) -> Figures:
    """The figures now."""
    by_status = sa.select(jobs.c.status, sa.func.count()).group_by(jobs.c.status)
    c = job_claims.c
    claims = sa.select(
        c.status,
        sa.func.count(),
        *(
            sa.func.coalesce(sa.func.sum(column), 0)
            for column in (
                c.calls,
                c.input_tokens,
                c.cached_input_tokens,
                c.output_tokens,
                c.reasoning_tokens,
                c.unpriced_calls,
                c.cost_usd,
            )
        ),
    ).group_by(c.status)
    rows = [tuple(row) for row in connection.execute(claims)]
    sums = [sum(row[n] for row in rows) for n in range(2, 9)]
    living = sa.select(sa.func.count()).where(workers.c.beat > time.time() - ALIVE_SECONDS)
    return Figures(
        jobs={row[0]: row[1] for row in connection.execute(by_status)},
        claims={row[0]: row[1] for row in rows},
        workers=connection.execute(living).scalar_one(),
        calls=int(sums[0]),
        tokens={
            "input": int(sums[1]),
            "cached_input": int(sums[2]),
            "output": int(sums[3]),
            "reasoning": int(sums[4]),
        },
        cost_usd=None if sums[5] and not sums[6] else float(sums[6]),
        unpriced_calls=int(sums[5]),
    )
