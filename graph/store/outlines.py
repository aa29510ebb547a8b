"""The verifications of a claim, and where it stands among those of its process."""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.trails import TrailStore


@dataclass(frozen=True, slots=True)
class ClaimNeighbours:
    """Where a claim stands among those of its process.

    Attributes:
        previous: The claim before it, or None.
        next: The claim behind it, or None.
        number: Its number, counted from 1.
        total: How many claims there are.
    """

    previous: str | None
    next: str | None
    number: int
    total: int


async def verifications_of(
    database: Database, process_id: str, claim_id: str, limit: int
) -> list[Verification]:
    """The latest verifications of a claim without their trails, newest first."""
    rows = await database.read(
        "trail/of_claim", process_id=process_id, claim_id=claim_id, limit=limit
    )
    return await TrailStore(database).headers([name for (name,) in rows]) if rows else []


async def neighbours(database: Database, process_id: str, claim_id: str) -> ClaimNeighbours:
    """The claims before and behind one, in the order of the input.

    Raises:
        NotFound: There is no such claim.
    """
    rows = await database.read("claims/neighbours", process_id=process_id, claim_id=claim_id)
    if not rows:
        raise NotFound(f"Process {process_id!r} has no claim {claim_id!r}")
    previous, following, before, total = rows[0]
    return ClaimNeighbours(previous, following, before + 1, total)
