"""The money that a job, and a key over all jobs, may spend, however many workers spend it.

A worker spends of a lease; it asks for one in the database, where all leases of a budget together
are never more than the budget. A worker that is alone is leased everything. Several are leased
parts of what is left, and give back what they do not use. In the end a budget may be exceeded by
the calls in flight, and no more; what a killed worker spent in the last moments before it was
killed is not known to the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs.storage.tables import leases

PAST = ""
"""The entry of all workers that have ended."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of a budget; None: any amount."""

    usd: float | None = None
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """The amount that a worker may spend in all, and the amount that is left for all workers.

    Attributes:
        usd: US dollars, those that are spent included.
        calls: Calls, those that are made included.
        left_usd: US dollars that are not spent.
        left_calls: Calls that are not made.
        is_final: Whether no worker will give anything back.
    """

    usd: float
    calls: int
    left_usd: float
    left_calls: float
    is_final: bool


@dataclass(frozen=True, slots=True)
class Spent:
    """The amount of a budget that a worker has spent."""

    usd: float
    calls: int
    keeps_usd: float = 0.0
    keeps_calls: int = 0


def grant(
    connection: Connection,
    budget_id: str,
    worker_id: str,
    limit: Limit,
    spent: Spent,
    alive: Sequence[str],
    *,
    asks: bool = True,
) -> Grant:
    """Note what a worker has spent and, where it asks, grant it more.

    Args:
        connection: The transaction.
        budget_id: The budget.
        worker_id: The worker.
        limit: What there is in the budget.
        spent: What the worker has spent; and what of its grant it keeps if it does not ask.
        alive: The workers that live; what others were granted and did not spend is free again.
        asks: Whether the worker wants more.
    """
    connection.execute(_lock(connection, budget_id))
    rows = connection.execute(sa.select(leases).where(leases.c.budget_id == budget_id)).mappings()
    usd, calls, is_final = limit.usd or 0.0, limit.calls or 0, True
    left_usd, left_calls = usd - spent.usd, calls - spent.calls
    free_usd, free_calls = left_usd, left_calls
    for row in rows:
        if row["worker_id"] == worker_id:
            continue
        held_usd = max(row["granted_usd"], row["spent_usd"])
        held_calls = max(row["granted_calls"], row["made_calls"])
        if row["worker_id"] not in alive:
            held_usd, held_calls = row["spent_usd"], row["made_calls"]
        left_usd, left_calls = left_usd - row["spent_usd"], left_calls - row["made_calls"]
        free_usd, free_calls = free_usd - held_usd, free_calls - held_calls
        is_final = is_final and held_usd <= row["spent_usd"] and held_calls <= row["made_calls"]
    share = 1 if len(alive) <= 1 else 2 * len(alive)
    more_usd = max(0.0, free_usd) / share if asks else min(spent.keeps_usd, max(0.0, free_usd))
    more_calls = max(0, free_calls)
    more_calls = math.ceil(more_calls / share) if asks else min(spent.keeps_calls, more_calls)
    given = Grant(
        usd=spent.usd + more_usd if limit.usd is not None else math.inf,
        calls=spent.calls + more_calls,
        left_usd=left_usd if limit.usd is not None else math.inf,
        left_calls=left_calls if limit.calls is not None else math.inf,
        is_final=is_final,
    )
    _put(
        connection,
        budget_id,
        worker_id,
        {
            "granted_usd": spent.usd + more_usd,
            "granted_calls": given.calls,
            "spent_usd": spent.usd,
            "made_calls": spent.calls,
        },
    )
    return given


def _lock(connection: Connection, budget_id: str) -> sa.Executable:
    """A caller waits for other callers; SQLite lets one writer in at a time anyway."""
    if connection.dialect.name != "postgresql":
        return sa.select(1)
    return sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"budget/{budget_id}")))


def _put(
    connection: Connection, budget_id: str, worker_id: str, values: dict[str, float | int]
) -> None:
    mine = (leases.c.budget_id == budget_id, leases.c.worker_id == worker_id)
    if connection.execute(sa.update(leases).where(*mine).values(**values)).rowcount == 0:
        connection.execute(
            sa.insert(leases).values(budget_id=budget_id, worker_id=worker_id, **values)
        )


def close_leases(connection: Connection, worker_id: str) -> None:
    """Add what an ended worker has spent to the entry of those that ended before."""
    rows = connection.execute(sa.select(leases).where(leases.c.worker_id == worker_id)).mappings()
    for row in rows.all():
        connection.execute(_lock(connection, row["budget_id"]))
        past = (
            connection.execute(
                sa.select(leases).where(
                    leases.c.budget_id == row["budget_id"], leases.c.worker_id == PAST
                )
            )
            .mappings()
            .one_or_none()
        )
        usd = row["spent_usd"] + (past["spent_usd"] if past else 0.0)
        calls = row["made_calls"] + (past["made_calls"] if past else 0)
        values = {"granted_usd": usd, "granted_calls": calls}
        _put(connection, row["budget_id"], PAST, {**values, "spent_usd": usd, "made_calls": calls})
    connection.execute(sa.delete(leases).where(leases.c.worker_id == worker_id))


def used_of(connection: Connection, budget_id: str) -> tuple[float, int]:
    """US dollars that were spent of a budget, and calls that were made."""
    sums = sa.select(sa.func.sum(leases.c.spent_usd), sa.func.sum(leases.c.made_calls))
    row = connection.execute(sums.where(leases.c.budget_id == budget_id)).one()
    return float(row[0] or 0.0), int(row[1] or 0)


def budget_of_job(job_id: str) -> str:
    """The budget of a job."""
    return f"job/{job_id}"


def budget_of_key(key_id: str) -> str:
    """The budget of a key."""
    return f"key/{key_id}"


def forget_leases(connection: Connection, job_ids: Sequence[str]) -> None:
    """Remove the budgets of jobs; those of keys stay."""
    names = [budget_of_job(one) for one in job_ids]
    connection.execute(sa.delete(leases).where(leases.c.budget_id.in_(names)))
