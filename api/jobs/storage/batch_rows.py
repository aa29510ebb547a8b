"""The rows of batches as they are read."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.jobs.storage.tables import batches, jobs
from veritrail_graph.graph.model.job import WaitingBatch
from veritrail_graph.verifier.models.batch_port import BatchRecord, BatchState


def open_batches(connection: Connection, job_id: str) -> list[BatchRecord]:
    """The batches of a job that were not read, oldest first."""
    found = connection.execute(
        sa.select(batches)
        .where(batches.c.job_id == job_id, ~batches.c.is_read)
        .order_by(batches.c.since, batches.c.name)
    )
    return [batch_record(row) for row in found.mappings()]


def left_batches(connection: Connection, process_id: str) -> dict[str, list[BatchRecord]]:
    """By run_id, the batches of a process that go on at an endpoint and that no run has read.

    Those of jobs of a service are not among them: their workers read them.
    """
    left = connection.execute(
        sa.select(jobs.c.run_id, batches)
        .join(jobs, jobs.c.job_id == batches.c.job_id)
        .where(
            jobs.c.process_id == process_id,
            jobs.c.is_local,
            ~batches.c.is_read,
            batches.c.batch_id.is_not(None),
            batches.c.state != BatchState.CANCELLING.value,
        )
        .order_by(batches.c.since, batches.c.name)
    )
    found: dict[str, list[BatchRecord]] = {}
    for row in left.mappings():
        found.setdefault(row["run_id"], []).append(batch_record(row))
    return found


def early_ends(connection: Connection, job_id: str) -> list[str]:
    """Return warnings about batches of a job that left lines unanswered, oldest first."""
    whole = (BatchState.COMPLETED.value, BatchState.FAILED.value)
    found = connection.execute(
        sa.select(batches)
        .where(batches.c.job_id == job_id, batches.c.is_read, batches.c.state.not_in(whole))
        .order_by(batches.c.since, batches.c.name)
    )
    return [words for row in found.mappings() if (words := batch_record(row).ended_early)]


def batch_record(row: RowMapping) -> BatchRecord:
    """A batch from its row."""
    names = ("name", "address", "model", "lines", "since", "file_id", "batch_id", "done", "failed")
    fields = {name: row[name] for name in names}
    return BatchRecord(**fields, state=BatchState(row["state"]), is_read=row["is_read"])


def waiting_batches(connection: Connection, job_id: str) -> list[WaitingBatch]:
    """Return the batches that a job waits for."""
    return [_waiting(batch) for batch in open_batches(connection, job_id)]


def _waiting(batch: BatchRecord) -> WaitingBatch:
    return WaitingBatch(
        batch_id=batch.batch_id,
        model=batch.model,
        status=batch.state.value,
        lines=batch.lines,
        done=batch.done,
        failed=batch.failed,
        since=batch.since,
    )
