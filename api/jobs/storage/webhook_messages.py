"""Messages of webhooks about jobs: kept until they are delivered or given up.

A message is taken for a while by moving its time, so that of several workers one sends it; where
that worker is killed, another sends it again under the same id.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.model import JobHeader
from veritrail_graph.api.jobs.storage.tables import webhook_messages
from veritrail_graph.api.work.webhooks.message import JOB_FINISHED, Message
from veritrail_graph.graph.model.job import JobStatus

TAKEN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Taken:
    """A message that this worker sends now.

    Attributes:
        message: The message.
        job_id: The job that it is about.
        attempts: How often it was sent before.
    """

    message: Message
    job_id: str
    attempts: int


def add(
    connection: Connection, job: RowMapping, status: JobStatus, counts: Mapping[str, int]
) -> None:
    """Keep the message of the end of a job, in the transaction that ends it."""
    data = {
        "job_id": job["job_id"],
        "run_id": job["run_id"],
        "process_id": job["process_id"],
        "kind": JobHeader.of(job["header"]).kind.value,
        "status": status.value,
        "counts": dict(counts),
    }
    message = Message.of(JOB_FINISHED, data)
    row = {
        "message_id": message.message_id,
        "job_id": job["job_id"],
        "body": message.body,
        "due": time.time(),
    }
    connection.execute(sa.insert(webhook_messages).values(**row))


def take(connection: Connection, most: int) -> list[Taken]:
    """Take messages that are due, at most so many; no other worker takes them for a while."""
    c = webhook_messages.c
    now = time.time()
    due = connection.execute(
        sa.select(webhook_messages).where(c.due <= now).order_by(c.due).limit(most)
    ).mappings()
    taken = []
    for row in due.all():
        moved = connection.execute(
            sa.update(webhook_messages)
            .where(c.message_id == row["message_id"], c.due == row["due"])
            .values(due=now + TAKEN_SECONDS, attempts=c.attempts + 1)
        )
        if moved.rowcount:
            message = Message(row["message_id"], row["body"])
            taken.append(Taken(message, row["job_id"], row["attempts"]))
    return taken


def end(connection: Connection, message_id: str, due: float | None) -> None:
    """Keep when a message is to be sent again; None: never."""
    connection.execute(
        sa.update(webhook_messages)
        .where(webhook_messages.c.message_id == message_id)
        .values(due=due)
    )
