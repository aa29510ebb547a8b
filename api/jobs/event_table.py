"""The tables of events, and all that is asked of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import metadata
from veritrail_graph.graph.clock import now

job_events = sa.Table(
    "job_events",
    metadata,
    sa.Column("job_id", sa.String(64), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("at", sa.String(32), nullable=False),
)
event_counts = sa.Table(
    "job_event_counts",
    metadata,
    sa.Column("job_id", sa.String(64), primary_key=True),
    sa.Column("last", sa.Integer, nullable=False),
)


class Kind(StrEnum):
    """What an event tells."""

    JOB_STARTED = "job.started"
    """Work on the job begins, or begins again."""
    JOB_RESUMED = "job.resumed"
    """What a job that had ended left without a verdict is taken up again."""
    CLAIM_STARTED = "claim.started"
    ITERATION_FINISHED = "iteration.finished"
    CLAIM_FINISHED = "claim.finished"
    JOB_FINISHED = "job.finished"
    """Nothing of the job is left to do; the stream ends here."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it is stored.

    Attributes:
        seq: Its number in the job, from 1.
        kind: What it tells.
        data: What there is to tell, as JSON.
        at: When it happened, ISO 8601 in UTC.
    """

    seq: int
    kind: str
    data: str
    at: str


@dataclass(frozen=True, slots=True)
class Noted:
    """An event that has no number yet."""

    kind: str
    data: Mapping[str, Any]
    at: str = field(default_factory=now)


def forget_in(connection: Connection, job_ids: Collection[str]) -> None:
    """Remove the events of jobs, in a transaction of the caller's."""
    for table in (job_events, event_counts):
        connection.execute(sa.delete(table).where(table.c.job_id.in_(job_ids)))


def last_numbers(connection: Connection, job_ids: Collection[str]) -> dict[str, int]:
    """The number of the last event of every one of these jobs that has any."""
    found = connection.execute(
        sa.select(event_counts.c.job_id, event_counts.c.last).where(
            event_counts.c.job_id.in_(job_ids)
        )
    )
    return {row.job_id: row.last for row in found}


def events_after(connection: Connection, job_id: str, after: int, limit: int) -> list[Event]:
    """The next events of a job, first to last."""
    columns = (job_events.c.seq, job_events.c.kind, job_events.c.data, job_events.c.at)
    found = connection.execute(
        sa.select(*columns)
        .where(job_events.c.job_id == job_id, job_events.c.seq > after)
        .order_by(job_events.c.seq)
        .limit(limit)
    )
    return [Event(*row) for row in found]


def held(connection: Connection, job_id: str) -> int:
    """Hold the counter of a job until the transaction ends; gives the last number."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    begun = dialect.insert(event_counts).values(job_id=job_id, last=0)
    same = begun.on_conflict_do_update(
        index_elements=[event_counts.c.job_id], set_={"last": event_counts.c.last}
    )
    last: int = connection.execute(same.returning(event_counts.c.last)).scalar_one()
    return last


def store(connection: Connection, job_id: str, last: int, noted: Sequence[Noted]) -> None:
    """Store events under the next numbers; the counter is held."""
    if not noted:
        return
    rows = [
        {
            "job_id": job_id,
            "seq": number,
            "kind": one.kind,
            "data": json.dumps(one.data, separators=(",", ":")),
            "at": one.at,
        }
        for number, one in enumerate(noted, last + 1)
    ]
    connection.execute(sa.insert(job_events), rows)
    counted = sa.update(event_counts).where(event_counts.c.job_id == job_id)
    connection.execute(counted.values(last=last + len(rows)))
