"""Rows of claims that an ingest or an extraction adds, in the transaction of others.

Source: VeriTrail 3.1 (claims of a node that the process produced).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.errors import ProcessConflict, Violation
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.model.extraction import ExtractedSentence
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.rows import (
    MOST_HELD,
    MOST_ROWS,
    batches,
    claim_from,
    claim_row,
    properties,
)


def add_found(
    tx: Transaction, process_id: str, claims: Sequence[Claim], position: int
) -> tuple[int, frozenset[str]]:
    """Add claims that are not stored, and to those that are the places that they lack.

    Args:
        tx: The transaction.
        process_id: The process.
        claims: The claims.
        position: The place of its next claim; 0: it has none.

    Returns:
        How many are new, questions that are claims now included, and the ids that were stored.
    """
    known = stored_under(tx, process_id, claims) if position else {}
    both = [(known[claim.claim_id], claim) for claim in claims if claim.claim_id in known]
    placed = [(stored, with_places_of(stored, claim)) for stored, claim in both]
    changed = [after for before, after in placed if after != before]
    for lacking in batches([claim_row(claim) for claim in changed]):
        tx.run("ingest/claim_places", process_id=process_id, rows=lacking)
    new = [one for one in claims if one.claim_id not in known]
    added = store_new(tx, process_id, new, taken_in(claims, known), position)
    return added, frozenset(known)


def rows_of(claims: Sequence[Claim], first: int) -> Iterator[list[dict[str, Any]]]:
    """Rows of `ingest/claims` in batches; `first` is the place of the first claim."""
    placed = [{**claim_row(claim), "position": first + place} for place, claim in enumerate(claims)]
    yield from batches(placed)


def new_ones(process_id: str, claims: Sequence[Claim], known: Mapping[str, Claim]) -> list[Claim]:
    """Claims that are not among those known, by claim_id.

    Raises:
        ProcessConflict: Another text or node is known under some of the ids; all are listed.
    """
    clashes = [one for one in claims if _clashes_with(one, known.get(one.claim_id))]
    if clashes:
        raise _taken(process_id, clashes)
    return [one for one in claims if one.claim_id not in known]


def taken_in(claims: Sequence[Claim], known: Mapping[str, Claim]) -> list[str]:
    """Ids of stored questions that are given as claims of the answer now."""
    given = {claim.claim_id for claim in claims if claim.origin is None}
    return [name for name, claim in known.items() if claim.origin is not None and name in given]


def _clashes_with(claim: Claim, stored: Claim | None) -> bool:
    return stored is not None and (stored.text, stored.node_id) != (claim.text, claim.node_id)


def _taken(process_id: str, clashes: Sequence[Claim]) -> ProcessConflict:
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
    known = stored_under(tx, process_id, claims)
    new = new_ones(process_id, claims, known)
    return store_new(tx, process_id, new, taken_in(claims, known))


def stored_under(tx: Transaction, process_id: str, claims: Sequence[Claim]) -> dict[str, Claim]:
    """Return what is stored under the ids of these claims, by claim_id."""
    known: dict[str, Claim] = {}
    for batch in batches([claim.claim_id for claim in claims]):
        rows = tx.run("trail/claims_by_id", process_id=process_id, claim_ids=batch)
        known |= {row["claim_id"]: claim_from(row) for (row,) in rows}
    return known


def store_new(
    tx: Transaction,
    process_id: str,
    claims: Sequence[Claim],
    taken: Sequence[str] = (),
    position: int | None = None,
) -> int:
    """Store claims that are not stored, behind those that are; give how many are new.

    Args:
        tx: The transaction.
        process_id: The process.
        claims: The claims.
        taken: Questions that become claims, too.
        position: The place of its next claim; None: it is read.
    """
    if taken:
        tx.run("claims/take_in", process_id=process_id, claim_ids=list(taken))
    if position is None:
        position = int(tx.run("ingest/next_claim_position", process_id=process_id)[0][0])
    for rows in rows_of(claims, position):
        tx.run("ingest/claims", process_id=process_id, rows=rows)
    return len(claims) + len(taken)


def with_places_of(stored: Claim, found: Claim) -> Claim:
    """A stored claim with the places at which it was found and which it lacks.

    A place that it has stays its own; without one, the first that was found becomes its own.
    """
    if stored.node_id != found.node_id:  # offsets count in the text of one node
        return stored
    every = tuple(dict.fromkeys((*stored.places, *found.places)))
    if not every:
        return stored
    (start, end), *also = every
    return stored.replace(start=start, end=end, also=tuple(also))


def extraction_batches(sentences: Sequence[ExtractedSentence]) -> Iterator[list[dict[str, Any]]]:
    """Properties of the sentences of a node, in batches bounded by what the engine has to hold.

    While it links a sentence, an engine holds the text of the whole span beside every row.
    """
    length = max((sentence.end for sentence in sentences), default=0)
    most = max(min(MOST_ROWS, MOST_HELD // max(length, 1)), 1)
    yield from batches([properties(one, {"node_id": True}) for one in sentences], most)
