"""How processes stand: their claims by outcome, what was spent, when something last changed.

Source: VeriTrail 2 (the three verdicts).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.listed import Named, Standing
from veritrail_graph.graph.store.database import Database, Row


class StandingStore:
    """How the processes of one graph stand."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def names(self, after: str = "", limit: int = 1_000) -> list[Named]:
        """Processes that are ready, in the order of their ids, behind the id `after`."""
        rows = await self._database.read("process/names", after=after, limit=limit)
        return [
            Named(process_id, str(name or process_id), nodes or 0, created_at or "")
            for process_id, name, nodes, created_at in rows
        ]

    async def of(self, process_ids: Sequence[str]) -> dict[str, Standing]:
        """How processes stand, each by its id; one that is not there any more is left out."""
        if not process_ids:
            return {}
        rows = await self._database.read("process/standing", process_ids=list(process_ids))
        of: dict[str, list[Row]] = {}
        for process_id, *rest in rows:
            of.setdefault(process_id, []).append(tuple(rest))
        return {process_id: _standing(found) for process_id, found in of.items()}

    async def outcomes(self, verification_ids: Sequence[str]) -> dict[str, int]:
        """How many verifications have each outcome; those that are not there are left out."""
        if not verification_ids:
            return {}
        rows = await self._database.read("trail/outcomes", verification_ids=list(verification_ids))
        return dict(rows)


def _standing(rows: Iterable[Sequence[Any]]) -> Standing:
    outcomes: dict[str, int] = {}
    usage, changed, modelled, unmetered = Usage(), "", 0, 0
    for outcome, claims, cost, priced, calls, unpriced, judged, silent, changed_at in rows:
        if claims:
            outcomes[outcome] = claims
        changed = max(changed, changed_at or "")
        known = cost if priced and not unpriced else None
        modelled, unmetered = modelled + (judged or 0), unmetered + (silent or 0)
        usage += Usage(calls=calls or 0, cost_usd=known, unpriced_calls=unpriced or 0)
    return Standing(outcomes, usage, changed or None, modelled, unmetered)
