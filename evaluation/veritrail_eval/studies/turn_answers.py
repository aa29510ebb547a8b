"""The table of what annotators say of the turns of dialogues, on the page.

Source: VISTA C.2; keeping it beside keys and jobs is ours (docs/adr/0037-dialogues.md).
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_eval.dialogues.turn_answers import TurnAnswer
from veritrail_graph.api.auth.database import ServiceDatabase, metadata

turn_answers = sa.Table(
    "turn_answers",
    metadata,
    sa.Column("process_id", sa.String(128), primary_key=True),
    sa.Column("annotator", sa.String(200), primary_key=True),
    # The number of the turn: ids of turns are too long for a key.
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("said", sa.String(64), nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
)


class TurnAnswerRepository:
    """Answers in the service database.

    Args:
        service: The database.
    """

    def __init__(self, service: ServiceDatabase) -> None:
        self._service = service

    async def save(self, process_id: str, answer: TurnAnswer) -> None:
        """Store an answer in the place of what the annotator said of the turn before.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        row = {
            "process_id": process_id,
            "annotator": answer.annotator,
            "number": answer.number,
            "said": answer.said,
            "answer": answer.model_dump_json(),
        }
        table = turn_answers.c
        here = sa.and_(
            table.process_id == process_id,
            table.annotator == answer.annotator,
            table.number == answer.number,
        )

        def work(connection: Connection) -> None:
            connection.execute(turn_answers.delete().where(here))
            connection.execute(turn_answers.insert().values(row))

        await self._service.run(work)

    async def get(self, process_id: str, annotator: str, number: int) -> TurnAnswer | None:
        """Return what an annotator said of a turn; None: nothing yet."""
        table = turn_answers.c
        asked = sa.select(table.answer).where(
            table.process_id == process_id, table.annotator == annotator, table.number == number
        )
        row = await self._service.read(lambda connection: connection.execute(asked).scalar())
        return None if row is None else TurnAnswer.model_validate_json(row)

    async def answered(self, process_id: str, annotator: str) -> dict[int, str]:
        """The numbers of the turns that an annotator answered, with the hashes of their texts."""
        table = turn_answers.c
        asked = sa.select(table.number, table.said).where(
            table.process_id == process_id, table.annotator == annotator
        )
        rows = await self._service.read(lambda connection: connection.execute(asked).all())
        return {row.number: row.said for row in rows}

    async def annotators(self, process_id: str) -> list[tuple[str, int]]:
        """The annotators by name, with how many turns each answered."""
        table = turn_answers.c
        asked = (
            sa.select(table.annotator, sa.func.count())
            .where(table.process_id == process_id)
            .group_by(table.annotator)
            .order_by(table.annotator)
        )
        rows = await self._service.read(lambda connection: connection.execute(asked).all())
        return [(name, count) for name, count in rows]

    async def all(self, process_id: str) -> list[TurnAnswer]:
        """All answers about a dialogue, by turn and annotator."""
        table = turn_answers.c
        asked = (
            sa.select(table.answer)
            .where(table.process_id == process_id)
            .order_by(table.number, table.annotator)
        )
        rows = await self._service.read(
            lambda connection: connection.execute(asked).scalars().all()
        )
        return [TurnAnswer.model_validate_json(row) for row in rows]

    async def remove(self, process_id: str, annotator: str | None = None) -> int:
        """Remove the answers of an annotator, or of all.

        Returns:
            How many there were.
        """
        which = turn_answers.c.process_id == process_id
        if annotator is not None:
            which = sa.and_(which, turn_answers.c.annotator == annotator)

        def work(connection: Connection) -> int:
            return connection.execute(turn_answers.delete().where(which)).rowcount

        return await self._service.run(work)
