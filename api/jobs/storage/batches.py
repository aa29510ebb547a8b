"""The batches of a job on record: a process that goes on finds its lines there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.jobs.storage.batch_rows import batch_record, open_batches
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.storage.tables import batch_lines, batches, jobs
from veritrail_graph.graph.model.job import JobStatus
from veritrail_graph.verifier.models.batch_port import BatchRecord, KnownLine

LOOKED_UP_TOGETHER = 400
"""Lines that are looked up in one statement; SQLite takes only so many values."""


class JobBatches:
    """The `BatchLedger` of one job.

    Args:
        repository: Runs transactions.
        job_id: The job.
    """

    def __init__(self, repository: JobRepository, job_id: str) -> None:
        self._repository, self._job_id = repository, job_id

    async def known(self, line_ids: Sequence[str]) -> Mapping[str, KnownLine]:
        """See `BatchLedger`."""
        job_id = self._job_id

        def read(connection: Connection) -> dict[str, KnownLine]:
            found: dict[str, KnownLine] = {}
            for start in range(0, len(line_ids), LOOKED_UP_TOGETHER):
                some = line_ids[start : start + LOOKED_UP_TOGETHER]
                rows = connection.execute(
                    sa.select(batch_lines.c.line_id, batch_lines.c.answer, batches)
                    .join(
                        batches,
                        (batches.c.job_id == batch_lines.c.job_id)
                        & (batches.c.name == batch_lines.c.name),
                    )
                    .where(batch_lines.c.job_id == job_id, batch_lines.c.line_id.in_(some))
                )
                for row in rows.mappings():
                    found[row["line_id"]] = KnownLine(batch_record(row), row["answer"])
            return found

        return await self._repository.read(read)

    async def plan(self, batch: BatchRecord, line_ids: Sequence[str]) -> None:
        """See `BatchLedger`."""

        def write(connection: Connection) -> None:
            connection.execute(sa.insert(batches).values(job_id=self._job_id, **_values(batch)))
            rows = [
                {"job_id": self._job_id, "line_id": one, "name": batch.name} for one in line_ids
            ]
            connection.execute(sa.insert(batch_lines), rows)

        await self._repository.run(write)

    async def note(self, batch: BatchRecord) -> None:
        """See `BatchLedger`."""
        await self._repository.run(lambda connection: self._note(connection, batch))

    async def keep(self, batch: BatchRecord, answers: Mapping[str, str]) -> None:
        """See `BatchLedger`."""
        rows = [
            {"of_job": self._job_id, "of_line": one, "answer": text.replace("\0", "")}
            for one, text in answers.items()
        ]

        def write(connection: Connection) -> None:
            self._note(connection, batch)
            if rows:
                connection.execute(
                    sa.update(batch_lines).where(
                        batch_lines.c.job_id == sa.bindparam("of_job"),
                        batch_lines.c.line_id == sa.bindparam("of_line"),
                    ),
                    rows,
                )

        await self._repository.run(write)

    async def drop(self, name: str) -> None:
        """See `BatchLedger`."""

        def write(connection: Connection) -> None:
            for table in (batch_lines, batches):
                connection.execute(
                    sa.delete(table).where(table.c.job_id == self._job_id, table.c.name == name)
                )

        await self._repository.run(write)

    async def open(self) -> Sequence[BatchRecord]:
        """See `BatchLedger`."""
        return await self._repository.read(lambda one: open_batches(one, self._job_id))

    async def forget_answers(self) -> None:
        """Remove the answers of a job that has succeeded: the graph has what they said."""

        def write(connection: Connection) -> None:
            found = sa.select(jobs.c.status).where(jobs.c.job_id == self._job_id)
            if connection.execute(found).scalar() == JobStatus.SUCCEEDED:
                connection.execute(
                    sa.delete(batch_lines).where(batch_lines.c.job_id == self._job_id)
                )

        await self._repository.run(write)

    def _note(self, connection: Connection, batch: BatchRecord) -> None:
        connection.execute(
            sa.update(batches)
            .where(batches.c.job_id == self._job_id, batches.c.name == batch.name)
            .values(**_values(batch))
        )


def _values(batch: BatchRecord) -> dict[str, object]:
    return {**asdict(batch), "state": batch.state.value}
