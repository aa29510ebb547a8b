"""The tables of comments on claims, and of review rounds with who reviews which claim.

They are beside keys and jobs, not in the graph: they are about work, and change nothing that was
found. Reviews themselves are in the graph.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase, is_about, made_for, metadata
from veritrail_graph.api.auth.keys import api_keys

if TYPE_CHECKING:
    from veritrail_graph.graph.model.version import Version

claim_comments = sa.Table(
    "claim_comments",
    metadata,
    sa.Column("comment_id", sa.String(64), primary_key=True),
    sa.Column("process_id", sa.String(128), nullable=False, index=True),
    sa.Column("claim_id", sa.String(128), nullable=False),
    sa.Column("author", sa.String(200), nullable=False),
    sa.Column("key_id", sa.String(200)),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", sa.String(32), nullable=False),
    made_for(),
)
review_rounds = sa.Table(
    "review_rounds",
    metadata,
    sa.Column("round_id", sa.String(64), primary_key=True),
    sa.Column("process_id", sa.String(128), nullable=False, index=True),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("round", sa.Text, nullable=False),
    made_for(),
)
review_tasks = sa.Table(
    "review_tasks",
    metadata,
    sa.Column("round_id", sa.String(64), primary_key=True),
    sa.Column("claim_id", sa.String(128), primary_key=True),
    sa.Column("reviewer", sa.String(200), primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
)


class TeamRepository:
    """Comments and rounds in the service database.

    Args:
        service: The database.
    """

    def __init__(self, service: ServiceDatabase) -> None:
        self._service = service

    async def add_comment(self, row: dict[str, str | None]) -> None:
        """Store a comment."""
        await self._service.run(lambda one: one.execute(claim_comments.insert().values(row)))

    async def comments(self, version: Version, claim_id: str, limit: int) -> list[sa.Row[Any]]:
        """The comments on a claim, oldest first, the latest of them, with the names of keys."""
        table = claim_comments.c
        keys = api_keys.c
        asked = (
            sa.select(claim_comments, keys.name.label("key_name"))
            .select_from(claim_comments.outerjoin(api_keys, table.key_id == keys.key_id))
            .where(is_about(claim_comments, version), table.claim_id == claim_id)
            .order_by(table.created_at.desc(), table.comment_id)
            .limit(limit)
        )
        rows = await self._service.read(lambda one: one.execute(asked).all())
        return list(reversed(rows))

    async def remove_comment(self, process_id: str, comment_id: str, key_id: str | None) -> bool:
        """Remove a comment of somebody, or of anybody where no key is named."""
        table = claim_comments.c
        chosen = [table.process_id == process_id, table.comment_id == comment_id]
        if key_id is not None:
            chosen.append(table.key_id == key_id)
        gone = sa.delete(claim_comments).where(*chosen)
        return await self._service.run(lambda one: one.execute(gone).rowcount == 1)

    async def add_round(self, row: dict[str, str], tasks: Sequence[tuple[str, str, int]]) -> None:
        """Store a round with its tasks: claim, reviewer, place."""

        def work(connection: Connection) -> None:
            connection.execute(review_rounds.insert().values(row))
            rows = [
                {"round_id": row["round_id"], "claim_id": c, "reviewer": r, "place": p}
                for c, r, p in tasks
            ]
            if rows:
                connection.execute(review_tasks.insert(), rows)

        await self._service.run(work)

    async def rounds(self, version: Version, limit: int) -> list[str]:
        """The rounds of a process, newest first, as JSON."""
        table = review_rounds.c
        asked = (
            sa.select(table.round)
            .where(is_about(review_rounds, version))
            .order_by(table.created_at.desc())
            .limit(limit)
        )
        return list(await self._service.read(lambda one: one.execute(asked).scalars().all()))

    async def tasks(self, round_id: str) -> list[tuple[str, str]]:
        """Claim and reviewer of each task of a round, in order."""
        table = review_tasks.c
        asked = (
            sa.select(table.claim_id, table.reviewer)
            .where(table.round_id == round_id)
            .order_by(table.place, table.reviewer)
        )
        rows = await self._service.read(lambda one: one.execute(asked).all())
        return [(claim_id, reviewer) for claim_id, reviewer in rows]

    async def assigned(self, version: Version, reviewer: str) -> list[str]:
        """The claims of a process that somebody is to review, in any round."""
        chosen = sa.select(review_rounds.c.round_id).where(is_about(review_rounds, version))
        asked = sa.select(review_tasks.c.claim_id).where(
            review_tasks.c.reviewer == reviewer, review_tasks.c.round_id.in_(chosen)
        )
        return list(await self._service.read(lambda one: one.execute(asked).scalars().all()))

    async def processes_for(self, reviewer: str, limit: int) -> list[str]:
        """Return the processes with claims that somebody is to review, the latest round first."""
        rounds, tasks = review_rounds.c, review_tasks.c
        latest = sa.func.max(rounds.created_at)
        asked = (
            sa.select(rounds.process_id)
            .join(review_tasks, tasks.round_id == rounds.round_id)
            .where(tasks.reviewer == reviewer)
            .group_by(rounds.process_id)
            .order_by(latest.desc(), rounds.process_id)
            .limit(limit)
        )
        return list(await self._service.read(lambda one: one.execute(asked).scalars().all()))

    async def remove_round(self, process_id: str, round_id: str) -> bool:
        """Remove a round; reviews stay."""

        def work(connection: Connection) -> bool:
            table = review_rounds.c
            chosen = sa.and_(table.process_id == process_id, table.round_id == round_id)
            gone = connection.execute(sa.delete(review_rounds).where(chosen))
            if gone.rowcount != 1:
                return False
            connection.execute(sa.delete(review_tasks).where(review_tasks.c.round_id == round_id))
            return True

        return await self._service.run(work)

    async def forget(self, process_id: str) -> None:
        """Remove what there is about a process that was deleted."""

        def work(connection: Connection) -> None:
            chosen = sa.select(review_rounds.c.round_id).where(
                review_rounds.c.process_id == process_id
            )
            connection.execute(sa.delete(review_tasks).where(review_tasks.c.round_id.in_(chosen)))
            for table in (review_rounds, claim_comments):
                connection.execute(sa.delete(table).where(table.c.process_id == process_id))

        await self._service.run(work)
