"""Claims: adding, listing, editing and removing them, their verdicts, and what extraction left.

Source: VeriTrail 3.1 (claims of a node that the process produced), VeriTrail 3.2 (verdicts).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veritrail_graph.graph.errors import (
    ClaimInUse,
    InputError,
    NotFound,
    shown,
)
from veritrail_graph.graph.model import Claim, Reviewed, Status, Verdict, spellings
from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.graph.model.extraction import ExtractedSentence
from veritrail_graph.graph.model.listed import (
    TURN_UNDECIDED,
    ClaimFilter,
    ClaimNeighbours,
    InForce,
    JudgedClaim,
    Place,
    PlacedClaim,
    Removed,
    Tally,
)
from veritrail_graph.graph.store.claims_added import (
    add_found,
    extraction_batches,
    new_ones,
    rows_of,
    taken_in,
    with_places_of,
)
from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.removing import DELETE_BATCH
from veritrail_graph.graph.store.reviews import ReviewStore
from veritrail_graph.graph.store.rows import (
    appeals_from,
    batches,
    claim_from,
    claim_pages,
    claim_row,
    extraction_pages,
    first_count,
    noun_from,
    placed_from,
    value_place_from,
)
from veritrail_graph.graph.store.trail_writing import CLEARING
from veritrail_graph.graph.store.versions import read_ready

WINDOW = 1_000
"""Claims that one statement looks at where only some are wanted."""

CLAIMS_TOGETHER = 20_000
"""Claims that one statement gives where all of a process are wanted."""

MOST = 3_000
"""Claims of one part of a text that are read."""

_ROUNDS = 5


class ClaimStore:
    """Claims of the processes of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reviews = ReviewStore(database)

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
        taken = taken_in(claims, known)
        if taken:
            await self._database.write("claims/take_in", process_id=process_id, claim_ids=taken)
        return len(new) + len(taken)

    async def same_text(self, process_id: str, texts: Sequence[str]) -> dict[tuple[str, str], str]:
        """claim_id of the claims of the answer with one of some texts, by node_id and text.

        A full stop at the end tells no two claims apart; the same text with it comes first.
        """
        known = {spelling: True for text in texts for spelling in spellings(text)}
        rows = await self._database.read("claims/same_text", process_id=process_id, known=known)
        stored = {(node_id, text): claim_id for node_id, text, claim_id in reversed(rows)}
        return {
            (node_id, text): stored[node_id, spelling]
            for node_id in {node_id for node_id, _ in stored}
            for text in texts
            for spelling in reversed(spellings(text))
            if (node_id, spelling) in stored
        }

    async def by_id(self, process_id: str, claims: Sequence[Claim | str]) -> list[Claim]:
        """Stored claims among these, given as ids or as claims."""
        ids = [claim if isinstance(claim, str) else claim.claim_id for claim in claims]
        return (await self.numbered(process_id, ids))[0]

    async def all(self, process_id: str) -> list[Claim]:
        """All claims of a process, in the order of the input, read by the page."""
        return (await self.numbered(process_id))[0]

    async def numbered(
        self, process_id: str, claim_ids: Sequence[str] | None = None
    ) -> tuple[list[Claim], dict[str, int]]:
        """Claims in the order of the input, and by claim_id the place of each, counted from 1.

        Args:
            process_id: The process.
            claim_ids: These claims; unknown ones are left out. None: all of the process.
        """
        rows: list[Mapping[str, Any]] = []
        if claim_ids is None:
            async for page in claim_pages(self._database, process_id, limit=CLAIMS_TOGETHER):
                rows += page
        else:
            for batch in batches(claim_ids):
                found = await self._database.read(
                    "trail/claims_by_id", process_id=process_id, claim_ids=batch
                )
                rows += [properties for (properties,) in found]
        claims = [claim_from(one) for one in rows]
        return claims, {one["claim_id"]: (one.get("position") or 0) + 1 for one in rows}

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
        found: list[tuple[Place, _JudgedRow]] = []
        window = WINDOW if wanted.is_narrow else limit + 1
        while len(found) <= limit:
            rows = await self._database.read(
                "claims/page",
                process_id=process_id,
                after=after[0],
                after_id=after[1],
                node_id=wanted.node_id,
                asked=wanted.asked,
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

    async def by_attention(
        self,
        process_id: str,
        ranks: Mapping[str, int],
        after: tuple[int, int, str] = (-1, -1, ""),
        limit: int = 100,
    ) -> tuple[list[JudgedClaim], tuple[int, int, str] | None]:
        """Claims by their states, then in the order of the input; and where there are more.

        Args:
            process_id: The process; one that is not ready has no claims.
            ranks: The place of each state: of the verdicts, of undecided, failed and unchecked.
            after: Rank, position and claim_id of the last claim of the page before.
            limit: At most this many.
        """
        rows = await self._database.read(
            "claims/by_attention",
            process_id=process_id,
            ranks=dict(ranks),
            rank=after[0],
            after=after[1],
            after_id=after[2],
            limit=limit + 1,
        )
        names = [claim["claim_id"] for _, _, claim, *_ in rows[:limit]]
        said = await self._reviews.of_claims(process_id, names) if names else {}
        claims = [_judged(row[2:], said.get(name)) for row, name in zip(rows, names, strict=False)]
        if len(rows) <= limit:
            return claims, None
        rank, position, claim, *_ = rows[limit - 1]
        return claims, (rank, position, claim["claim_id"])

    async def get(self, process_id: str, claim_id: str) -> JudgedClaim:
        """One claim.

        Raises:
            NotFound: There is no such process or claim.
        """
        rows = await read_ready(
            self._database,
            process_id,
            lambda: self._database.read(
                "claims/judged", process_id=process_id, claim_ids=[claim_id]
            ),
        )
        if not rows:
            raise NotFound(
                f"Process {process_id!r} has no claim {shown(claim_id)}.", code="claim_unknown"
            )
        said = await self._reviews.of_claims(process_id, [claim_id])
        return _judged(rows[0], said.get(claim_id))

    async def judged(self, process_id: str, claim_ids: Sequence[str]) -> dict[str, JudgedClaim]:
        """Some claims with verdicts, without reviews, by claim_id; unknown ids are left out."""
        found: dict[str, JudgedClaim] = {}
        for batch in batches(claim_ids):
            rows = await self._database.read(
                "claims/judged", process_id=process_id, claim_ids=batch
            )
            for row in rows:
                made = _judged(row)
                found[made.claim_id] = made
        return found

    async def in_text(
        self, process_id: str, node_id: str, start: int, end: int
    ) -> tuple[list[PlacedClaim], bool]:
        """Claims in a part of a text, those without a known place, and whether these are all.

        Args:
            process_id: The process; one that is not ready has no claims.
            node_id: The node.
            start: Where the part begins, in code points.
            end: The offset just behind it.
        """
        rows = await self._database.read(
            "claims/in_text",
            process_id=process_id,
            node_id=node_id,
            start=start,
            end=end,
            limit=MOST + 1,
        )
        return [placed_from(row) for row in rows[:MOST]], len(rows) <= MOST

    async def tally(self, process_id: str) -> Tally:
        """The states of the claims of a process."""
        states: dict[str, int] = {}
        together: dict[tuple[int, ...], int] = {}
        in_force: dict[tuple[str, str | None, int], tuple[int, str]] = {}
        without_stage = indicative = of_turns = 0
        rows = await self._database.read("claims/tally", process_id=process_id)
        for state, is_of_turn, error_stages, is_indicative, *who, latest_at, claims in rows:
            engine, model, q = who
            of_turns += claims if is_of_turn else 0
            if engine is not None:
                known, at = in_force.get((engine, model, q), (0, ""))
                in_force[engine, model, q] = known + claims, max(at, latest_at)
            states[state] = states.get(state, 0) + claims
            indicative += claims if is_indicative else 0
            if state == Verdict.NOT_FULLY_SUPPORTED.value and not error_stages:
                without_stage += claims
            if error_stages:
                together[tuple(error_stages)] = together.get(tuple(error_stages), 0) + claims
        kinds = [InForce(*who, *rest) for who, rest in in_force.items()]
        kinds.sort(key=lambda one: -one.claims)
        return Tally(states, together, without_stage, indicative, tuple(kinds), of_turns)

    async def nodes(self, process_id: str, limit: int) -> list[tuple[str, int]]:
        """The nodes that most claims are about, with how many these are."""
        rows = await self._database.read("claims/nodes", process_id=process_id, limit=limit)
        return [(node_id, claims) for node_id, claims in rows]

    async def neighbours(self, process_id: str, claim_id: str) -> ClaimNeighbours:
        """The claims before and behind one, in the order of the input.

        Raises:
            NotFound: There is no such claim.
        """
        rows = await self._database.read(
            "claims/neighbours", process_id=process_id, claim_id=claim_id
        )
        if not rows:
            raise NotFound(
                f"Process {process_id!r} has no claim {claim_id!r}.", code="claim_unknown"
            )
        previous, following, wrong_before, wrong_next, before, total = rows[0]
        return ClaimNeighbours(previous, following, before + 1, total, wrong_before, wrong_next)

    async def keep_extraction(
        self,
        process_id: str,
        content_hash: str,
        node_id: str,
        sentences: Sequence[ExtractedSentence],
        claims: Sequence[Claim],
    ) -> tuple[int, frozenset[str]]:
        """Store what was extracted from a node in one transaction.

        The sentences take the place of those of an earlier extraction. A claim whose claim_id is
        stored is not changed, even where it was edited, but for its places: those that it
        lacks are added. No claim is removed.

        Returns:
            How many claims are new, and the ids of those that were stored before, as a question
            or as a claim.

        Raises:
            NotFound: The process was removed or replaced meanwhile; nothing was stored.
        """
        process = {"process_id": process_id}

        def work(tx: Transaction) -> tuple[int, frozenset[str]]:
            at = {**process, "node_id": node_id}
            target = tx.run("ingest/extraction_target", content_hash=content_hash, **at)
            if not target:
                raise NotFound(
                    f"Process {process_id!r} was removed or replaced meanwhile; what was "
                    "extracted from it was not stored."
                )
            is_again, position = target[0]
            clear = "ingest/clear_extraction"
            while is_again and first_count(tx.run(clear, limit=DELETE_BATCH, **at)):
                pass
            for batch in extraction_batches(sentences):
                tx.run("ingest/extraction", rows=batch, **at)
            return add_found(tx, process_id, claims, position)

        return await self._database.write_with(work)

    async def sentences(
        self, process_id: str, node_id: str | None = None
    ) -> list[ExtractedSentence]:
        """Return what extraction left of the sentences of a process, or of one of its nodes.

        Claims that were removed since are not named any more.
        """
        pages = extraction_pages(self._database, process_id)
        found = [
            noun_from(ExtractedSentence, properties) async for page in pages for properties in page
        ]
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

        Of its verifications only those count from then on that are about this text.

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
        ids = {"process_id": process_id}

        def work(tx: Transaction) -> bool:
            known = {**ids, "claim_id": claim_id}
            is_changed = bool(tx.run("process/edit_claim", text=text, force=force, **known))
            tx.run("claims/put_in_force", claim_ids=[claim_id], **ids)
            return is_changed

        changed = await self._database.write_with(work, repeatable=True)
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
        reviews = await self._reviews.count(process_id, ids)
        if (verifications or reviews) and not force:
            raise ClaimInUse(
                f"These claims have {_counted(len(verifications), reviews)}, which would go with "
                "them; nothing was removed.",
                code="claims_in_use",
                verifications=len(verifications),
                reviews=reviews,
            )
        claims = removed = 0
        for _ in range(
            _ROUNDS
        ):  # a verification may be stored in between: its claim stays until then
            for batch in batches(ids):
                await self._database.write(
                    "process/remove_queued", process_id=process_id, claim_ids=batch
                )
            for verification_id in verifications:
                await self._remove_verification(verification_id)
            removed += len(verifications)
            for batch in batches(ids):
                rows = await self._database.write(
                    "process/remove_claims", process_id=process_id, claim_ids=batch, force=force
                )
                claims += first_count(rows)
            verifications = await self._verifications(process_id, ids)
            if not verifications or not force:
                break
        if removed:
            await self._remove_uncited(process_id)
        return Removed(claims, removed, reviews)

    async def merge(
        self, process_id: str, claim_id: str, others: Sequence[str], *, force: bool = False
    ) -> tuple[Claim, Removed]:
        """Give a claim the places of others, and remove these.

        Args:
            process_id: The process.
            claim_id: The claim that stays.
            others: The others.
            force: Whether they may have verifications or reviews.

        Raises:
            ClaimInUse: They have some; nothing was changed.
            InputError: One is about another node; nothing was changed.
            NotFound: One of them is not stored; nothing was changed.
        """
        kept, *merged = await self._known(process_id, [claim_id, *others])
        for one in merged:
            if one.node_id != kept.node_id:
                raise InputError(
                    f"Claim {one.claim_id!r} is about node {shown(one.node_id)}, and "
                    f"{claim_id!r} about {shown(kept.node_id)}.",
                    code="merge_nodes",
                )
        verifications = await self._verifications(process_id, others)
        reviews = await self._reviews.count(process_id, list(others))
        if (verifications or reviews) and not force:
            raise ClaimInUse(
                f"These claims have {_counted(len(verifications), reviews)}, which would go with "
                "them; nothing was changed.",
                code="claims_in_use",
                verifications=len(verifications),
                reviews=reviews,
            )
        placed = kept
        for one in merged:
            placed = with_places_of(placed, one)
        if placed != kept:  # first, so that no place is lost where it stops in between
            rows = [claim_row(placed)]
            await self._database.write("ingest/claim_places", process_id=process_id, rows=rows)
        return placed, await self.remove(process_id, others, force=force)

    async def label(self, process_id: str, labels: Mapping[str, Verdict | None]) -> int:
        """Label claims, all or none; give how many.

        Raises:
            NotFound: One of them is not stored; nothing was changed.
        """
        await self._known(process_id, list(labels))
        rows = [
            {"claim_id": name, "label": label.value if label else None}
            for name, label in labels.items()
        ]

        def work(tx: Transaction) -> int:
            done = (
                tx.run("claims/label", process_id=process_id, rows=one) for one in batches(rows)
            )
            return sum(len(each) for each in done)

        return await self._database.write_with(work, repeatable=True)

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
            if not first_count(rows):
                return

    async def _known(self, process_id: str, claim_ids: Sequence[str]) -> list[Claim]:
        stored = {claim.claim_id: claim for claim in await self.by_id(process_id, claim_ids)}
        unknown = [claim_id for claim_id in claim_ids if claim_id not in stored]
        if unknown:
            names = ", ".join(shown(claim_id) for claim_id in unknown[:5])
            raise NotFound(f"Process {process_id!r} has no claim {names}.", code="claim_unknown")
        return [stored[claim_id] for claim_id in claim_ids]

    async def _verifications(self, process_id: str, claim_ids: Sequence[str]) -> list[str]:
        found: list[str] = []
        for batch in batches(claim_ids):
            rows = await self._database.read(
                "trail/of_claims", process_id=process_id, claim_ids=batch
            )
            found += [verification_id for _, verification_id in rows]
        return found


def _counted(verifications: int, reviews: int) -> str:
    """Return what claims have, in words."""
    each = [(verifications, "verification(s)"), (reviews, "review(s)")]
    return " and ".join(f"{number:,} {what}" for number, what in each if number)


_JudgedRow = tuple[Mapping[str, Any], Mapping[str, Any] | None, int, Sequence[str | None] | None]
"""Claim, its verification in force, how many it has, and how the latest one ended."""


def _judged(row: _JudgedRow, reviewed: Reviewed | None = None) -> JudgedClaim:
    """A claim from its row, and from its reviews."""
    claim, verification, verifications, latest = row
    turn_status = claim.get("turn_status")
    status, error = latest or (turn_status, turn_status and TURN_UNDECIDED)
    found = verification or {}
    verdict = found.get("verdict")
    if found and verdict is None:
        status, error = found["status"], found.get("error")
    return JudgedClaim.model_construct(
        **claim_from(claim).__dict__,
        verdict=Verdict(verdict) if verdict else None,
        verification_id=found.get("verification_id"),
        indicative=found.get("indicative"),
        error_stages=tuple(found.get("error_stages") or ()),
        verifications=verifications,
        reviewed=reviewed,
        status=Status(status) if status else None,
        error=error,
        position=claim.get("position") or 0,
        category=ClaimCategory(claim["category"]) if claim.get("category") else None,
        engine=found.get("engine"),
        model=found.get("model"),
        q=found.get("q"),
        value_place=value_place_from(found),
        speaks_to_reader=bool(appeals_from(found)),
        turn_status=Status(turn_status) if turn_status else None,
    )
