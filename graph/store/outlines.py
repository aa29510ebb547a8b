"""Verifications as pages show them: the evidence whole, the rounds by their counts.

Source: VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Evidence, EvidencePath, NodeRef, StepRecord, Verification
from veritrail_graph.graph.outline import TrailOutline
from veritrail_graph.graph.store.database import Database, Row
from veritrail_graph.graph.store.trail_records import (
    evidence_from,
    iteration_from,
    node_from,
    noun_from,
    verification_from,
)
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


async def read_outline(database: Database, verification_id: str) -> TrailOutline:
    """The outline of a verification.

    Raises:
        NotFound: There is none.
    """
    ids = [verification_id]
    verifications, rounds, evidence, paths, steps, errors = await asyncio.gather(
        database.read("trail/read_verifications", verification_ids=ids),
        database.read("trail/outline", verification_id=verification_id),
        database.read("trail/read_evidence", verification_ids=ids),
        database.read("trail/read_paths", verification_ids=ids),
        database.read("trail/read_steps", verification_ids=ids),
        database.read("trail/read_errors", verification_ids=ids),
    )
    if not verifications:
        raise NotFound(f"No verification {verification_id!r} is stored.")
    found: dict[int, list[Evidence]] = {}
    for _, number, properties, sentences in evidence:
        found.setdefault(number, []).append(evidence_from(properties, sentences))
    links = [
        EvidencePath(source=row[1], target=row[2], iteration=row[3], via=tuple(row[4] or ()))
        for row in paths
    ]
    verification = verification_from(
        verifications[0][0],
        _errors(errors),
        [iteration_from(row, nodes, found.get(row["number"], ())) for row, nodes in rounds],
        links,
        [noun_from(StepRecord, properties) for (properties,) in steps],
    )
    return TrailOutline(verification, _counts(rounds))


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


def _errors(rows: Sequence[Row]) -> dict[tuple[str, bool], list[NodeRef]]:
    errors: dict[tuple[str, bool], list[NodeRef]] = {}
    for verification_id, introduced, node in rows:
        errors.setdefault((verification_id, introduced), []).append(node_from(node))
    return errors


def _counts(rounds: Sequence[Row]) -> Mapping[int, int]:
    counts: dict[int, int] = {}
    for row, nodes in rounds:
        properties: Mapping[str, Any] = row
        read = properties.get("checked_count")
        counts[properties["number"]] = read if read is not None else len(nodes)
    return counts
