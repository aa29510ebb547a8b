"""Runs: which verifications belong together, and what need not be made again.

A run is no node of its own: its verifications carry its run_id, and their place in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from veritrail_graph.graph.model import Claim, Status, Verification
from veritrail_graph.graph.model.listed import RunSummary
from veritrail_graph.graph.store.database import Database, Row, Transaction
from veritrail_graph.graph.store.trail_rows import verification_row

BATCH = 1_000


async def write_ends(database: Database, verifications: Sequence[Verification]) -> None:
    """Write how verifications ended that were not made, in one transaction."""
    groups: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for one in verifications:
        groups.setdefault((one.process_id, one.content_hash), []).append(verification_row(one))

    def work(tx: Transaction) -> None:
        for (process_id, content_hash), rows in groups.items():
            ids = {"process_id": process_id, "content_hash": content_hash}
            for start in range(0, len(rows), BATCH):
                tx.run("trail/write_ends", rows=rows[start : start + BATCH], **ids)

    await database.write_with(work, repeatable=True)


async def ids_of_run(database: Database, run_id: str, process_id: str | None) -> list[str]:
    """Ids of the verifications of a run, in the order of their places."""
    rows = await database.read("trail/of_run", run_id=run_id, process_id=process_id)
    return [verification_id for (verification_id,) in rows]


async def summaries(database: Database, process_id: str) -> list[RunSummary]:
    """The runs of a process, newest first."""
    rows_of: dict[str, list[Row]] = {}
    for run_id, *rest in await database.read("trail/runs", process_id=process_id):
        rows_of.setdefault(run_id, []).append(tuple(rest))
    found = [_summary(process_id, run_id, rows) for run_id, rows in rows_of.items()]
    return sorted(found, key=lambda run: (run.created_at, run.run_id), reverse=True)


def _summary(process_id: str, run_id: str, rows: list[Row]) -> RunSummary:
    counts = {Status(status): number for status, number, *_ in rows}
    created_at, engine, model = min((row[2:] for row in rows), key=lambda row: row[0])
    return RunSummary(run_id, process_id, created_at, engine, model, counts)


async def same_verifications(
    database: Database,
    process_id: str,
    claims: Sequence[Claim],
    settings: str,
    content_hash: str,
) -> dict[str, str]:
    """The latest verification of each claim that need not be made again, by claim_id."""
    found: dict[str, str] = {}
    for start in range(0, len(claims), BATCH):
        batch = {claim.claim_id: claim for claim in claims[start : start + BATCH]}
        rows = await database.read(
            "trail/same",
            process_id=process_id,
            content_hash=content_hash,
            settings=settings,
            claim_ids=list(batch),
        )
        found |= {  # oldest first, so that the latest stays
            claim_id: verification_id
            for verification_id, claim_id, *verified in rows
            if _is_same(batch[claim_id], *verified)
        }
    return found


def _is_same(
    claim: Claim, text: str, node_id: str, sub_claims: list[str] | None, decomposed: bool
) -> bool:
    """Whether a claim is what was verified, sub-claims that a model was asked for left aside."""
    is_same_list = claim.sub_claims == tuple(sub_claims or ())
    is_found_again = decomposed and not claim.sub_claims
    return (claim.text, claim.node_id) == (text, node_id) and (is_same_list or is_found_again)
