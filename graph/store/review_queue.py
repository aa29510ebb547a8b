"""The claims of a process as reviewers go through them: all of them in order, and who said what.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.graph.model import Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.listed import JudgedClaim, JudgedReview, QueuedClaim, Reviewers
from veritrail_graph.graph.store.claim_rows import id_batches
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.judged_claim import judged_from

WINDOW = 2_000
"""Claims, or reviews, in one row of an answer."""


async def queue(database: Database, process_id: str, *, judged: bool) -> list[QueuedClaim]:
    """All claims of a process in the order of the input; one that is not ready has none.

    Args:
        database: Runs the statement.
        process_id: The process.
        judged: Whether verdicts come along.
    """
    rows = await database.read("review/queue", process_id=process_id, judged=judged, window=WINDOW)
    # Sorting here is several times faster than in the engine.
    found = sorted((one for (packed,) in rows for one in packed), key=lambda one: (one[0], one[1]))
    return [
        QueuedClaim(claim_id, Verdict(verdict) if verdict else None, tuple(stages or ()))
        for _, claim_id, verdict, stages in found
    ]


async def reviewers(database: Database, process_id: str) -> Reviewers:
    """Who has reviewed which claims of a process."""
    found: dict[str, set[str]] = {}
    rows = await database.read("review/reviewers", process_id=process_id, window=WINDOW)
    for reviewer, claim_ids in rows:
        for claim_id in claim_ids:
            found.setdefault(claim_id, set()).add(reviewer)
    return found


async def judged(database: Database, process_id: str) -> list[JudgedReview]:
    """All reviews of a process, in no order and without their reasons."""
    rows = await database.read("review/judged", process_id=process_id, window=WINDOW)
    return [_judged(process_id, *one) for (packed,) in rows for one in packed]


def _judged(
    process_id: str,
    review_id: str,
    claim_id: str,
    claim: str,
    said: str,
    reviewer: str,
    created_at: str,
    verdict: str | None,
    engine: str | None,
    model: str | None,
) -> JudgedReview:
    review = Review(
        review_id=review_id,
        process_id=process_id,
        claim_id=claim_id,
        claim=claim,
        verdict=ReviewVerdict(said),
        reviewer=reviewer,
        created_at=created_at,
        model_verdict=Verdict(verdict) if verdict else None,
    )
    return JudgedReview(review, engine, model)


async def claims(
    database: Database, process_id: str, claim_ids: Sequence[str]
) -> dict[str, JudgedClaim]:
    """Some claims, by claim_id; those that are not stored are left out."""
    found: dict[str, JudgedClaim] = {}
    for batch in id_batches(claim_ids):
        rows = await database.read("claims/judged", process_id=process_id, claim_ids=batch)
        for row in rows:
            made = judged_from(row)
            found[made.claim.claim_id] = made
    return found
