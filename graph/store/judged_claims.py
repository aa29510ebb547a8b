"""Claims with how they were judged: by a model, and by people.

Source: VeriTrail 3.2 (verdicts and error stages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.errors import NotFound
from graph.model import Claim, Status, Verdict
from graph.model.review import Reviewed
from graph.rules import shown
from graph.store.database import Database
from graph.store.process_rows import claim_from
from graph.store.processes import ProcessStore
from graph.store.reviews import ReviewStore

WINDOW = 1_000
"""Claims that one statement looks at where only some are wanted."""

Place = tuple[int, str]
_Row = tuple[Mapping[str, Any], Mapping[str, Any] | None, int, Sequence[str | None] | None]


@dataclass(frozen=True, slots=True)
class ClaimFilter:
    """Which claims are wanted; None: any.

    Attributes:
        verdict: Those whose latest succeeded verification gave this verdict; `none`: those that
            have no such verification; of these, `failed`: those whose latest verification came
            to no end, and `unchecked`: the others.
        error_stage: Those into which an error came at this stage.
        review: `none`, `any`, `confirmed`, `overridden` or `unclear`: what people said of them.
        node_id: Those about this node.
    """

    verdict: str | None = None
    error_stage: int | None = None
    review: str | None = None
    node_id: str | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether claims have to be looked at to know whether they are wanted."""
        return any(one is not None for one in (self.verdict, self.error_stage, self.review))


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its latest succeeded verification, and with what people said.

    Attributes:
        claim: The claim.
        verdict: The verdict; None: it was never verified to the end.
        verification_id: The verification that gave it.
        indicative: Whether no model judged.
        error_stages: Where an error came in.
        verifications: How many verifications the claim has, whatever their status.
        reviewed: What its reviews come to; None: there are none.
        status: How its latest verification stands; None: it has none.
        failure: Why that one has no verdict, if it was said.
        position: Its place among the claims of the process, counted from 0.
    """

    claim: Claim
    verdict: Verdict | None
    verification_id: str | None
    indicative: bool | None
    error_stages: tuple[int, ...]
    verifications: int
    reviewed: Reviewed | None
    status: Status | None = None
    failure: str | None = None
    position: int = 0


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
        found: list[tuple[Place, _Row]] = []
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
        claims = [_judged(row, said.get(claim_id)) for (_, claim_id), row in page]
        return claims, page[-1][0] if len(found) > limit else None

    async def get(self, process_id: str, claim_id: str) -> JudgedClaim:
        """One claim.

        Raises:
            NotFound: There is no such process or claim.
        """
        rows = await self._database.read("claims/get", process_id=process_id, claim_id=claim_id)
        if not rows:
            await ProcessStore(self._database).get(process_id)
            raise NotFound(f"Process {process_id!r} has no claim {shown(claim_id)}")
        said = await self._reviews.of_claims(process_id, [claim_id])
        return _judged(rows[0], said.get(claim_id))


def _judged(row: _Row, said: Reviewed | None) -> JudgedClaim:
    claim, verification, verifications, latest = row
    status, failure = latest or (None, None)
    found = verification or {}
    verdict = found.get("verdict")
    return JudgedClaim(
        claim=claim_from(claim),
        verdict=Verdict(verdict) if verdict else None,
        verification_id=found.get("verification_id"),
        indicative=found.get("indicative"),
        error_stages=tuple(found.get("error_stages") or ()),
        verifications=verifications,
        reviewed=said,
        status=Status(status) if status else None,
        failure=failure,
        position=claim.get("position") or 0,
    )
