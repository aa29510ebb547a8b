"""Reviews by people: add one, list them, and measure how far people agree with the judge.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

import getpass
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from veritrail_graph.api.app.part import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.model import Review, Reviewed
    from veritrail_graph.graph.model.agreement import Agreement
    from veritrail_graph.graph.model.listed import JudgedReview, QueuedClaim, Reviewers
    from veritrail_graph.graph.reviewing import NewReview, ReviewInTable, Seen


@dataclass(frozen=True, slots=True)
class ClaimReviews:
    """The reviews of one claim.

    Attributes:
        reviews: The reviews, newest first.
        reviewed: Their summary and the model's verdict; None: there are no reviews.
    """

    reviews: list[Review]
    reviewed: Reviewed | None


class Reviews(Part):
    """The reviews of processes."""

    def default_reviewer(self) -> str:
        """The reviewer where a call names none: the setting, else the login; empty: unknown."""
        if name := self._app.settings.reviewer:
            return name
        try:
            return getpass.getuser()
        except (OSError, KeyError, ImportError):  # the system does not know the user
            return ""

    async def add(
        self,
        process_id: str,
        claim_id: str,
        given: NewReview,
        *,
        once: str | None = None,
        seen: Seen | None = None,
        by: Caller | None = None,
    ) -> Review:
        """Append a review; no verdict is changed.

        Args:
            process_id: The process.
            claim_id: The claim.
            given: The review.
            once: A sign of the form that it was written in: sent twice, it is stored once.
            seen: What the reviewer looked at; None: it is not checked.
            by: Who adds it, for the audit log and as its recorder.

        Raises:
            NotFound: There is no such process or claim, or no such verification of the claim.
            InputError: The review breaks rules, or there is no verdict to review.
            NotAllowed: It is in the name of somebody else than the owner of the key.
            ReviewOutdated: The claim is not any more what the reviewer looked at.
        """
        from veritrail_graph.graph.reviewing import check_given, review_id_of

        if by is not None:
            by.check_reviewer(given.reviewer)
            given = replace(given, recorded_by=by.key_name)
        checked = check_given(given)  # refused before the graph is opened
        name = review_id_of(once, process_id, claim_id, checked) if once is not None else None
        store = await self._store()
        await store.processes.get(process_id)
        review = await store.reviews.add(process_id, claim_id, given, review_id=name, seen=seen)
        await self._record(
            by,
            "review.add",
            process_id,
            claim_id=review.claim_id,
            review_id=review.review_id,
            verification_id=review.overrides,
            kind=review.kind.value,
        )
        return review

    async def add_all(
        self,
        process_id: str,
        given: Sequence[ReviewInTable],
        reviewer: str,
        *,
        by: Caller | None = None,
    ) -> list[Review]:
        """Append the reviews of a table; the same table sent again stores nothing twice.

        All rows are checked first; they are stored some hundreds in a transaction.

        Args:
            process_id: The process.
            given: The reviews.
            reviewer: Who reviewed, in rows without a name.
            by: Who sends them, for the audit log.

        Raises:
            NotFound: There is no such process, or one of the claims; nothing was stored.
            InputError: A review breaks rules; all faults are listed.
            NotAllowed: One is in the name of somebody else than the owner of the key.
        """
        from veritrail_graph.graph.errors import InputError, Violation, shown
        from veritrail_graph.graph.reviewing import check_given, review_id_of

        if by is not None:
            for one in given:
                by.check_reviewer(one.reviewer or reviewer)
        store = await self._store()
        await store.processes.get(process_id)
        names = list(dict.fromkeys(one.claim_id for one in given))
        found = await store.claims.judged(process_id, names)
        people = await self._reviewers_with(process_id, given, reviewer)
        faults: list[Violation] = []
        new: list[tuple[str, str, NewReview]] = []
        for one in given:
            if one.claim_id not in found:
                words = f"the process has no claim {shown(one.claim_id)}"
                faults.append(Violation("claim_unknown", one.where, words))
                continue
            verdict = found[one.claim_id].verdict
            if verdict is None and one.verdict != "UNCLEAR":
                words = f"claim {shown(one.claim_id)} has no verdict to review"
                faults.append(Violation("no_verdict", one.where, words))
            elif verdict is not None and verdict.value != one.verdict and not one.reason.strip():
                words = f"reason is empty; the verdict was {verdict.value}"
                faults.append(Violation("missing_reason", one.where, words))
            if one.adjudicates and len(people.get(one.claim_id, ())) < 2:
                words = f"claim {shown(one.claim_id)} has fewer than two reviewers"
                faults.append(Violation("nothing_to_decide", one.where, words))
            recorded_by = None if by is None else by.key_name
            try:
                review = check_given(
                    replace(one, reviewer=one.reviewer or reviewer, recorded_by=recorded_by)
                )
                name = review_id_of("table", process_id, one.claim_id, review)
                new.append((name, one.claim_id, review))
            except InputError as error:
                faults += [
                    Violation(f.kind, f"{one.where}, {f.where}", f.message)
                    for f in error.violations
                ]
        if faults:
            raise InputError("Nothing was stored: rows break rules.", faults, code="bad_table")
        made = await store.reviews.add_all(process_id, new)
        await self._record(by, "review.add", process_id, reviews=len(made))
        return made

    async def _reviewers_with(
        self, process_id: str, given: Sequence[ReviewInTable], reviewer: str
    ) -> dict[str, set[str]]:
        """Say who has reviewed each claim once a table is stored, if the table decides anything."""
        found: dict[str, set[str]] = {}
        if not any(one.adjudicates for one in given):
            return found
        for claim_id, names in (await self.reviewers(process_id)).items():
            found[claim_id] = set(names)
        for one in given:
            if not one.adjudicates:
                found.setdefault(one.claim_id, set()).add((one.reviewer or reviewer).strip())
        return found

    async def of_claim(self, process_id: str, claim_id: str) -> ClaimReviews:
        """The reviews of a claim, with their summary.

        Raises:
            NotFound: There is no such process or claim.
        """
        store = await self._store()
        await store.claims.get(process_id, claim_id)
        found = await store.reviews.all(process_id, claim_id)
        states = await store.reviews.of_claims(process_id, [claim_id])
        return ClaimReviews([one.review for one in found], states.get(claim_id))

    async def of_process(self, process_id: str) -> list[JudgedReview]:
        """All reviews of a process, newest first.

        Raises:
            NotFound: There is no such process.
        """
        store = await self._store()
        await store.processes.get(process_id)
        return await store.reviews.all(process_id)

    async def page(
        self, process_id: str, claim_id: str | None = None, before: str = "", limit: int = 100
    ) -> tuple[list[Review], str | None]:
        """Reviews of a process or of one of its claims, newest first.

        Returns:
            The reviews, and where the next page begins; None: there is none.

        Raises:
            NotFound: There is no such process or claim.
        """
        store = await self._store()
        if claim_id is None:
            await store.processes.get(process_id)
        else:
            await store.claims.get(process_id, claim_id)
        found, _ = await store.reviews.page(process_id, claim_id, before, limit + 1)
        reviews = [one.review for one in found[:limit]]
        return reviews, " ".join(reviews[-1].order) if len(found) > limit else None

    async def of_claims(self, process_id: str, claim_ids: Sequence[str]) -> dict[str, Reviewed]:
        """The summary of the reviews of each of these claims that has some, by claim_id."""
        return await (await self._store()).reviews.of_claims(process_id, claim_ids)

    async def in_full(
        self, process_id: str, claim_ids: Sequence[str] | None = None
    ) -> list[Review]:
        """All reviews of a process, or of some of its claims, newest first."""
        reviews = (await self._store()).reviews
        if claim_ids is None:
            return [one.review for one in await reviews.all(process_id)]
        return [one.review for name in claim_ids for one in await reviews.all(process_id, name)]

    async def judged(self, process_id: str) -> list[JudgedReview]:
        """Return what agreement is made of: reviews with the verdict that each was about."""
        return await (await self._store()).reviews.judged(process_id)

    async def queue(self, process_id: str, *, judged: bool = True) -> list[QueuedClaim]:
        """The claims of a process as reviewers go through them, in the order of the input.

        Args:
            process_id: The process.
            judged: Whether verdicts and error stages come along.
        """
        return await (await self._store()).reviews.queue(process_id, judged=judged)

    async def reviewers(self, process_id: str) -> Reviewers:
        """Return who has reviewed which claim, by claim_id."""
        return await (await self._store()).reviews.reviewers(process_id)

    async def states(self, process_id: str) -> dict[str, Reviewed]:
        """The summary of the reviews of each claim that has some, by claim_id."""
        return await (await self._store()).reviews.states(process_id)

    async def agreement(self, process_id: str) -> Agreement:
        """Say how far people agree with the judge, and with each other, on the claims of a process.

        Raises:
            NotFound: There is no such process.
        """
        from veritrail_graph.graph.agreement import agreement_of

        store = await self._store()
        await store.processes.get(process_id)
        return agreement_of(process_id, await store.reviews.judged(process_id))
