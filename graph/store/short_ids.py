"""Ids that some letters begin, and the latest ones: what people type in place of whole ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veritrail_graph.graph.store.database import Database


class ShortIds:
    """Looks up ids in a graph.

    Args:
        database: The graph.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def processes(self, prefix: str, limit: int) -> list[str]:
        """Ids of processes that are ready and begin with some letters."""
        rows = await self._database.read("process/starting", prefix=prefix, limit=limit)
        return [process_id for (process_id,) in rows]

    async def claims(self, process_id: str, prefix: str, limit: int) -> list[str]:
        """Ids of claims of a process that begin with some letters."""
        rows = await self._database.read(
            "claims/starting", process_id=process_id, prefix=prefix, limit=limit
        )
        return [claim_id for (claim_id,) in rows]

    async def verifications(self, prefix: str, limit: int) -> list[str]:
        """Ids of verifications that begin with some letters."""
        rows = await self._database.read("trail/starting", prefix=prefix, limit=limit)
        return [verification_id for (verification_id,) in rows]

    async def runs(self, prefix: str, limit: int) -> list[str]:
        """Ids of runs that begin with some letters."""
        rows = await self._database.read("trail/runs_starting", prefix=prefix, limit=limit)
        return [run_id for (run_id,) in rows]

    async def latest_process(self) -> str | None:
        """The id of the process that was stored last; None: there is none."""
        rows = await self._database.read("process/latest")
        return rows[0][0] if rows else None

    async def latest_verification(self) -> tuple[str, str | None] | None:
        """The verification that was made last, and its run; None: there is none."""
        rows = await self._database.read("trail/latest")
        if not rows:
            rows = await self._database.read("trail/latest_of_claims")
        return (rows[0][0], rows[0][1]) if rows else None
