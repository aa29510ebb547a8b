"""The tables of studies: the studies, their readers in the order in which they joined, the answers.

They stand beside keys and jobs, not in the graph: a timer changes with every click, and what a
reader of a study said is about the reading of a text, not about the process.

Source: ours (docs/adr/0036-studies.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_eval.studies.model import Study, StudyAnswer
from veritrail_graph.api.auth.database import ServiceDatabase, is_about, made_for, metadata

if TYPE_CHECKING:
    from veritrail_graph.graph.model.version import Version

_ID = sa.String(160)
_NAME = sa.String(200)

studies = sa.Table(
    "studies",
    metadata,
    sa.Column("study_id", _ID, primary_key=True),
    sa.Column("process_id", sa.String(128), nullable=False, index=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("study", sa.Text, nullable=False),
    made_for(),
)
study_readers = sa.Table(
    "study_readers",
    metadata,
    sa.Column("study_id", _ID, primary_key=True),
    sa.Column("reader", _NAME, primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
    sa.UniqueConstraint("study_id", "place"),
)
study_answers = sa.Table(
    "study_answers",
    metadata,
    sa.Column("study_id", _ID, primary_key=True),
    sa.Column("reader", _NAME, primary_key=True),
    # The place of the document in the study: ids of nodes are too long for a key.
    sa.Column("document", sa.Integer, primary_key=True),
    sa.Column("sentence", sa.Integer, primary_key=True),
    sa.Column("running_since", sa.Float),
    sa.Column("is_saved", sa.Boolean, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
)


class StudyRepository:
    """Studies in the service database.

    Args:
        service: The database.
    """

    def __init__(self, service: ServiceDatabase) -> None:
        self._service = service

    async def add(self, study: Study, version: Version) -> None:
        """Store a new study of a process.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        row = {
            "study_id": study.study_id,
            "process_id": study.process_id,
            "created_at": study.created_at,
            "study": study.model_dump_json(),
            "made_for": version.first_stored_at,
        }
        await self._service.run(lambda connection: connection.execute(studies.insert().values(row)))

    async def of_process(self, version: Version, limit: int) -> list[Study]:
        """The studies of a process, newest first."""
        asked = (
            sa.select(studies.c.study)
            .where(is_about(studies, version))
            .order_by(studies.c.created_at.desc())
            .limit(limit)
        )
        rows = await self._service.read(
            lambda connection: connection.execute(asked).scalars().all()
        )
        return [Study.model_validate_json(row) for row in rows]

    async def get(self, version: Version, study_id: str) -> Study | None:
        """A study of a process; None: there is none of that id."""
        chosen = sa.and_(studies.c.study_id == study_id, is_about(studies, version))
        asked = sa.select(studies.c.study).where(chosen)
        row = await self._service.read(lambda connection: connection.execute(asked).scalar())
        return None if row is None else Study.model_validate_json(row)

    async def place(self, study_id: str, reader: str) -> int:
        """Return how many readers joined a study before this one.

        One that is new does not join yet.
        """
        return await self._service.read(lambda connection: _place(connection, study_id, reader)[0])

    async def readers(self, study_id: str) -> list[tuple[str, int]]:
        """The readers of a study by name, with how many answers each has saved."""
        table = study_answers.c
        asked = (
            sa.select(table.reader, sa.func.count())
            .where(table.study_id == study_id, table.is_saved)
            .group_by(table.reader)
            .order_by(table.reader)
        )
        rows = await self._service.read(lambda connection: connection.execute(asked).all())
        return [(reader, count) for reader, count in rows]

    async def join(self, study_id: str, reader: str) -> int:
        """Return how many readers joined a study before this one, who joins if that is new."""

        def work(connection: Connection) -> int:
            # Readers that join at once wait for one another here.
            connection.execute(
                studies.update().where(studies.c.study_id == study_id).values(study_id=study_id)
            )
            place, is_known = _place(connection, study_id, reader)
            if not is_known:
                row = {"study_id": study_id, "reader": reader, "place": place}
                connection.execute(study_readers.insert().values(row))
            return place

        return await self._service.run(work)

    async def answers(self, study_id: str, reader: str | None = None) -> list[StudyAnswer]:
        """Return what readers said, drafts too, by reader, document and sentence."""
        table = study_answers.c
        asked = sa.select(table.answer).where(table.study_id == study_id)
        if reader is not None:
            asked = asked.where(table.reader == reader)
        asked = asked.order_by(table.reader, table.document, table.sentence)
        rows = await self._service.read(
            lambda connection: connection.execute(asked).scalars().all()
        )
        return [StudyAnswer.model_validate_json(row) for row in rows]

    async def change(
        self,
        first: StudyAnswer,
        document: int,
        change: Callable[[StudyAnswer], StudyAnswer],
        *,
        stop_others: Callable[[StudyAnswer], StudyAnswer] | None = None,
    ) -> StudyAnswer:
        """Change an answer, in one transaction with what it was.

        Args:
            first: The answer as it is where none is stored.
            document: Its document, by its place in the study.
            change: Gives the answer as it will be; what it raises changes nothing.
            stop_others: Where given, what is made of other answers of the reader whose timer runs.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        table = study_answers.c
        mine = sa.and_(table.study_id == first.study_id, table.reader == first.reader)
        here = sa.and_(mine, table.document == document, table.sentence == first.sentence)

        def work(connection: Connection) -> StudyAnswer:
            # Two windows of one reader wait for one another here.
            held = study_readers.c
            connection.execute(
                study_readers.update()
                .where(held.study_id == first.study_id, held.reader == first.reader)
                .values(reader=first.reader)
            )
            if stop_others is not None:
                running = sa.select(table.document, table.sentence, table.answer).where(
                    mine, table.running_since.is_not(None), sa.not_(here)
                )
                for row in connection.execute(running).all():
                    stopped = stop_others(StudyAnswer.model_validate_json(row.answer))
                    which = sa.and_(
                        mine, table.document == row.document, table.sentence == row.sentence
                    )
                    connection.execute(study_answers.update().where(which).values(_row(stopped)))
            stored = connection.execute(sa.select(table.answer).where(here)).scalar()
            before = first if stored is None else StudyAnswer.model_validate_json(stored)
            after = change(before)
            if stored is not None:
                connection.execute(study_answers.update().where(here).values(_row(after)))
            else:
                key = {
                    "study_id": first.study_id,
                    "reader": first.reader,
                    "document": document,
                    "sentence": first.sentence,
                }
                connection.execute(study_answers.insert().values({**key, **_row(after)}))
            return after

        return await self._service.run(work)

    async def remove(self, study_id: str) -> None:
        """Remove a study with its readers and their answers."""

        def work(connection: Connection) -> None:
            for table in (study_answers, study_readers, studies):
                connection.execute(table.delete().where(table.c.study_id == study_id))

        await self._service.run(work)

    async def forget(self, process_id: str) -> None:
        """Remove the studies of a process with their answers."""

        def work(connection: Connection) -> None:
            which = sa.select(studies.c.study_id).where(studies.c.process_id == process_id)
            for table in (study_answers, study_readers):
                connection.execute(table.delete().where(table.c.study_id.in_(which)))
            connection.execute(studies.delete().where(studies.c.process_id == process_id))

        await self._service.run(work)


def _place(connection: Connection, study_id: str, reader: str) -> tuple[int, bool]:
    """The place of a reader, and whether the reader has joined."""
    table = study_readers.c
    asked = sa.select(table.place).where(table.study_id == study_id, table.reader == reader)
    known = connection.execute(asked).scalar()
    if known is not None:
        return int(known), True
    count = sa.select(sa.func.count()).where(table.study_id == study_id)
    return int(connection.execute(count.select_from(study_readers)).scalar_one()), False


def _row(answer: StudyAnswer) -> dict[str, Any]:
    return {
        "running_since": answer.running_since,
        "is_saved": answer.answered_at is not None,
        "answer": answer.model_dump_json(),
    }
