"""Claims: adding, listing, editing and removing them, and what extraction left of sentences.

Source: VeriTrail 3.1 (claims of a node that the process produced).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import ClaimInUse, InputError, NotFound, shown
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.model.extraction import ExtractedSentence
from veritrail_graph.graph.store.claim_places import with_places_of
from veritrail_graph.graph.store.claim_rows import (
    ROWS,
    id_batches,
    new_ones,
    rows_of,
    store_new,
    stored_under,
)
from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.paging import claim_pages, extraction_pages
from veritrail_graph.graph.store.process_rows import (
    claim_from,
    claim_row,
    extracted_from,
    extraction_batches,
)
from veritrail_graph.graph.store.reviews import ReviewStore
from veritrail_graph.graph.store.trail_writing import CLEARING

DELETE_BATCH = 5_000
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Removed:
    """Claims that were removed; verifications that had ended, and reviews, that went with them."""

    claims: int
    verifications: int
    reviews: int = 0


class ClaimStore:
    """Claims of the processes of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, process_id: str, claims: Sequence[Claim]) -> int:
        """Store claims that are not there yet; give how many were added.

        Raises:
            ProcessConflict: Another text is stored under some of the claim_ids; all are listed.
        """
        if not claims:
            return 0
        known = {claim.claim_id: claim for claim in await self.by_id(process_id, claims)}
        new = new_ones(process_id, claims, known)
        if new:
            next_ = await self._database.read("ingest/next_claim_position", process_id=process_id)
            for rows in rows_of(new, int(next_[0][0])):
                await self._database.write("ingest/claims", process_id=process_id, rows=rows)
        return len(new)

    async def by_id(self, process_id: str, claims: Sequence[Claim | str]) -> list[Claim]:
        """Stored claims among these, given as ids or as claims."""
        ids = [claim if isinstance(claim, str) else claim.claim_id for claim in claims]
        found: list[Claim] = []
        for batch in id_batches(ids):
            rows = await self._database.read(
                "trail/claims_by_id", process_id=process_id, claim_ids=batch
            )
            found += [claim_from(properties) for (properties,) in rows]
        return found

    async def all(self, process_id: str) -> list[Claim]:
        """All claims of a process, in the order of the input, read by the page."""
        pages = claim_pages(self._database, process_id)
        return [claim_from(properties) async for page in pages for properties in page]

    async def keep_extraction(
        self,
        process_id: str,
        content_hash: str,
        node_id: str,
        sentences: Sequence[ExtractedSentence],
        claims: Sequence[Claim],
    ) -> int:
        """Store what was extracted from a node in one transaction; give how many claims are new.

        The sentences take the place of those of an earlier extraction. A claim whose claim_id is
        stored stays as it is stored, also where it was edited, but for its places: those that it
        lacks are added. No claim is removed.

        Raises:
            NotFound: The process was removed or replaced meanwhile; nothing was stored.
        """
        process = {"process_id": process_id}

        def work(tx: Transaction) -> int:
            if not tx.run(
                "ingest/extraction_target", node_id=node_id, content_hash=content_hash, **process
            ):
                raise NotFound(
                    f"Process {process_id!r} was removed or replaced meanwhile; what was "
                    "extracted from it was not stored."
                )
            clear = "ingest/clear_extraction"
            while _done(tx.run(clear, node_id=node_id, limit=DELETE_BATCH, **process)):
                pass
            for batch in extraction_batches(sentences):
                tx.run("ingest/extraction", node_id=node_id, rows=batch, **process)
            return _add_found(tx, process_id, claims)

        return await self._database.write_with(work)

    async def sentences(
        self, process_id: str, node_id: str | None = None
    ) -> list[ExtractedSentence]:
        """What extraction left of the sentences of a process, or of one of its nodes.

        Claims that were removed since are not named any more.
        """
        pages = extraction_pages(self._database, process_id)
        found = [extracted_from(properties) async for page in pages for properties in page]
        if node_id is not None:
            found = [sentence for sentence in found if sentence.node_id == node_id]
        named = list(dict.fromkeys(name for one in found for name in one.claim_ids))
        stored = {claim.claim_id for claim in await self.by_id(process_id, named)}
        return [
            one.replace(claim_ids=tuple(name for name in one.claim_ids if name in stored))
            for one in found
        ]

    async def edit(
        self, process_id: str, claim_id: str, text: str, *, force: bool = False
    ) -> Claim:
        """Give a claim another text; id, place and verifications stay.

        Args:
            process_id: The process.
            claim_id: The claim.
            text: Its new text.
            force: Whether it may have verifications, which stay those of its former text.

        Raises:
            ClaimInUse: It has verifications.
            InputError: The text is empty or no text.
            NotFound: There is no such claim.
        """
        if not text.strip():
            raise InputError("The new text of the claim is empty")
        await self._known(process_id, [claim_id])
        changed = await self._database.write(
            "process/edit_claim", process_id=process_id, claim_id=claim_id, text=text, force=force
        )
        (claim,) = await self._known(process_id, [claim_id])
        if not changed:
            count = len(await self._verifications(process_id, [claim_id]))
            raise ClaimInUse(
                f"Claim {claim_id!r} has {count:,} verification(s), which are about the text that "
                "it has now.",
                code="claim_verified",
                claim_id=claim_id,
                verifications=count,
            )
        return claim

    async def remove(
        self, process_id: str, claim_ids: Sequence[str], *, force: bool = False
    ) -> Removed:
        """Remove claims, and their verifications and reviews with them.

        Verifications that are only queued, as a killed run leaves them, go without being asked
        for and are not counted.

        Args:
            process_id: The process.
            claim_ids: The claims.
            force: Whether they may have verifications or reviews.

        Raises:
            ClaimInUse: They have verifications or reviews; nothing was removed.
            NotFound: One of them is not stored; nothing was removed.
        """
        ids = list(dict.fromkeys(claim_ids))
        await self._known(process_id, ids)
        verifications = await self._verifications(process_id, ids)
        reviews = await ReviewStore(self._database).count(process_id, ids)
        if (verifications or reviews) and not force:
            raise ClaimInUse(
                f"These claims have {_counted(len(verifications), reviews)}, which would go with "
                "them; nothing was removed.",
                code="claims_in_use",
                verifications=len(verifications),
                reviews=reviews,
            )
        claims = gone = 0
        for _ in range(_ROUNDS):  # a verification may come in between: its claim stays till then
            for batch in id_batches(ids):
                await self._database.write(
                    "process/remove_queued", process_id=process_id, claim_ids=batch
                )
            for verification_id in verifications:
                await self._remove_verification(verification_id)
            gone += len(verifications)
            for batch in id_batches(ids):
                rows = await self._database.write(
                    "process/remove_claims", process_id=process_id, claim_ids=batch, force=force
                )
                claims += _done(rows)
            verifications = await self._verifications(process_id, ids)
            if not verifications or not force:
                break
        if gone:
            await self._remove_uncited(process_id)
        return Removed(claims, gone, reviews)

    async def _remove_verification(self, verification_id: str) -> None:
        names = (*CLEARING, "process/remove_verification")
        await self._database.write_all(
            [(name, {"verification_id": verification_id}) for name in names]
        )

    async def _remove_uncited(self, process_id: str) -> None:
        while True:
            rows = await self._database.write(
                "process/remove_uncited", process_id=process_id, limit=DELETE_BATCH
            )
            if not _done(rows):
                return

    async def _known(self, process_id: str, claim_ids: Sequence[str]) -> list[Claim]:
        stored = {claim.claim_id: claim for claim in await self.by_id(process_id, claim_ids)}
        unknown = [claim_id for claim_id in claim_ids if claim_id not in stored]
        if unknown:
            names = ", ".join(shown(claim_id) for claim_id in unknown[:5])
            raise NotFound(f"Process {process_id!r} has no claim {names}")
        return [stored[claim_id] for claim_id in claim_ids]

    async def _verifications(self, process_id: str, claim_ids: Sequence[str]) -> list[str]:
        found: list[str] = []
        for batch in id_batches(claim_ids):
            rows = await self._database.read(
                "trail/of_claims", process_id=process_id, claim_ids=batch
            )
            found += [verification_id for _, verification_id in rows]
        return found


def _counted(verifications: int, reviews: int) -> str:
    """What claims have, in words."""
    each = [(verifications, "verification(s)"), (reviews, "review(s)")]
    return " and ".join(f"{number:,} {what}" for number, what in each if number)


def _add_found(tx: Transaction, process_id: str, claims: Sequence[Claim]) -> int:
    """Add claims that are not stored, and to those that are the places that they lack."""
    known = stored_under(tx, process_id, claims)
    both = [(known[claim.claim_id], claim) for claim in claims if claim.claim_id in known]
    placed = [(stored, with_places_of(stored, claim)) for stored, claim in both]
    changed = [after for before, after in placed if after != before]
    for start in range(0, len(changed), ROWS):
        lacking = [claim_row(claim) for claim in changed[start : start + ROWS]]
        tx.run("ingest/claim_places", process_id=process_id, rows=lacking)
    return store_new(tx, process_id, [one for one in claims if one.claim_id not in known])


def _done(rows: Sequence[tuple[Any, ...]]) -> int:
    return int(rows[0][0]) if rows else 0
