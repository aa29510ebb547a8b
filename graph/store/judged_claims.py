"""Claims with how they were judged: by a model, and by people.

Source: VeriTrail 3.2 (verdicts and error stages).
"""

from __future__ import annotations

from veritrail_graph.graph.errors import NotFound, shown
from veritrail_graph.graph.model.listed import ClaimFilter, JudgedClaim, Place
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.judged_claim import JudgedRow, judged_from
from veritrail_graph.graph.store.processes import ProcessStore
from veritrail_graph.graph.store.reviews import ReviewStore

WINDOW = 1_000
"""Claims that one statement looks at where only some are wanted."""


class JudgedClaimStore:
    """Claims of one graph, as people look at them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reviews = ReviewStore(database)

    async def page(
        self, process_id: str, wanted: ClaimFilter, after: Place = (-1, ""), limit: int = 100
    ) -> tuple[list[JudgedClaim], Place | None]:
        """Claims in the order of the input, and the place behind which there are more.

        Args:
            process_id: The process; one that is not ready has no claims.
            wanted: Which claims.
            after: The place of the last claim of the page before.
            limit: At most this many.
        """
        found: list[tuple[Place, JudgedRow]] = []
        window = WINDOW if wanted.is_narrow else limit + 1
        while len(found) <= limit:
            rows = await self._database.read(
                "claims/page",
                process_id=process_id,
                after=after[0],
                after_id=after[1],
                node_id=wanted.node_id,
                window=window,
                verdict=wanted.verdict,
                error_stage=wanted.error_stage,
                review=wanted.review,
            )
            for position, claim_id, claim, *judged in rows:
                after = (position, claim_id)
                if claim is not None:
                    found.append((after, (claim, *judged)))
            if len(rows) < window:
                break
        page = found[:limit]
        names = [claim_id for (_, claim_id), _ in page]
        said = await self._reviews.of_claims(process_id, names) if names else {}
        claims = [judged_from(row, said.get(claim_id)) for (_, claim_id), row in page]
        return claims, page[-1][0] if len(found) > limit else None

    async def get(self, process_id: str, claim_id: str) -> JudgedClaim:
        """One claim.

        Raises:
            NotFound: There is no such process or claim.
        """
        rows = await self._database.read(
            "claims/judged", process_id=process_id, claim_ids=[claim_id]
        )
        if not rows:
            await ProcessStore(self._database).get(process_id)
            raise NotFound(f"Process {process_id!r} has no claim {shown(claim_id)}")
        said = await self._reviews.of_claims(process_id, [claim_id])
        return judged_from(rows[0], said.get(claim_id))
