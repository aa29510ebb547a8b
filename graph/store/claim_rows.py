"""Rows of claims that are to be stored, and what keeps one from being stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.errors import ProcessConflict, Violation
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.process_rows import claim_from, claim_row

ROWS = 1_000


def rows_of(claims: Sequence[Claim], first: int) -> Iterator[list[Mapping[str, Any]]]:
    """Rows of `ingest/claims` in batches; `first` is the place of the first claim."""
    placed = [{**claim_row(claim), "position": first + place} for place, claim in enumerate(claims)]
    for start in range(0, len(placed), ROWS):
        yield [*placed[start : start + ROWS]]


def id_batches(ids: Sequence[str]) -> Iterator[list[str]]:
    """Ids in batches that one statement takes."""
    for start in range(0, len(ids), ROWS):
        yield list(ids[start : start + ROWS])


def new_ones(process_id: str, claims: Sequence[Claim], known: Mapping[str, Claim]) -> list[Claim]:
    """Claims that are not among those known, by claim_id.

    Raises:
        ProcessConflict: Another text or node is known under some of the ids; all are listed.
    """
    clashes = [one for one in claims if _clashes_with(one, known.get(one.claim_id))]
    if clashes:
        raise _taken(process_id, clashes)
    return [one for one in claims if one.claim_id not in known]


def _clashes_with(claim: Claim, stored: Claim | None) -> bool:
    return stored is not None and (stored.text, stored.node_id) != (claim.text, claim.node_id)


def _taken(process_id: str, clashes: Iterable[Claim]) -> ProcessConflict:
    message = "another text or node is stored under this claim_id; give another one"
    return ProcessConflict(
        f"Process {process_id!r} stores other claims under these claim_ids; nothing "
        "of this input was stored",
        [Violation("claim_id_taken", f"claims {one.claim_id!r}", message) for one in clashes],
    )


def add_claims(tx: Transaction, process_id: str, claims: Sequence[Claim]) -> int:
    """Store claims that are not there yet, in a transaction of others; give how many were added.

    Raises:
        ProcessConflict: Another text is stored under some of the claim_ids; all are listed.
    """
    new = new_ones(process_id, claims, stored_under(tx, process_id, claims))
    return store_new(tx, process_id, new)


def stored_under(tx: Transaction, process_id: str, claims: Sequence[Claim]) -> dict[str, Claim]:
    """What is stored under the ids of these claims, by claim_id."""
    known: dict[str, Claim] = {}
    for batch in id_batches([claim.claim_id for claim in claims]):
        rows = tx.run("trail/claims_by_id", process_id=process_id, claim_ids=batch)
        known |= {row["claim_id"]: claim_from(row) for (row,) in rows}
    return known


def store_new(tx: Transaction, process_id: str, claims: Sequence[Claim]) -> int:
    """Store claims that are not stored, behind those that are; give how many they are."""
    first = int(tx.run("ingest/next_claim_position", process_id=process_id)[0][0])
    for rows in rows_of(claims, first):
        tx.run("ingest/claims", process_id=process_id, rows=rows)
    return len(claims)
