"""Reviews: appended beside the verdicts of the verifications, read back, never changed.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veritrail_graph.graph.clock import now, now_after
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Review, Reviewed, ReviewVerdict, Verdict
from veritrail_graph.graph.model.listed import JudgedReview, QueuedClaim, Reviewers
from veritrail_graph.graph.model.review import reviewed
from veritrail_graph.graph.reviewing import (
    Considered,
    NewReview,
    Seen,
    check_given,
    check_seen,
    new_review_id,
    review_of,
)
from veritrail_graph.graph.store.database import Database, Transaction
from veritrail_graph.graph.store.rows import batches, in_words, noun_from, properties, short

_PAGE = 1_000
_TOGETHER = 250  # reviews that are added in one transaction
_WINDOW = 2_000  # claims, or reviews, in one row of an answer


class ReviewStore:
    """Reviews of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        process_id: str,
        claim_id: str,
        given: NewReview,
        *,
        review_id: str | None = None,
        seen: Seen | None = None,
    ) -> Review:
        """Append a review; stored ones are not changed.

        Args:
            process_id: The process.
            claim_id: The claim.
            given: The review.
            review_id: Its id; one that is stored under it already is given back. None: a new one.
            seen: What the reviewer looked at; None: whatever is there.

        Raises:
            NotFound: There is no such process or claim, or no such verification of the claim.
            InputError: The review breaks rules, or there is no verdict to review.
            ReviewOutdated: The claim is not any more what the reviewer looked at.
        """
        given = check_given(given)
        name, created_at = review_id or new_review_id(), now()
        made: list[Review] = []

        def work(tx: Transaction) -> Review:
            # What an attempt that is in doubt has stored stays, whatever was verified since.
            may_be_stored = made or review_id is not None
            if may_be_stored and (stored := tx.run("review/some", review_ids=[name])):
                return review_from(stored[0][0])
            if seen is not None:
                check_seen(claim_id, seen, *_target(tx, process_id, claim_id, None))
            claim, found = _target(tx, process_id, claim_id, given.overrides)
            rest = {"review_id": name, "created_at": created_at}
            review = review_of(process_id, claim_id, given, claim, found, **rest)
            made.append(review)
            if not tx.run("review/write", process_id=process_id, rows=[review_row(review)]):
                raise _gone(process_id, claim_id)
            return review

        return await self._database.write_with(work, repeatable=True)

    async def add_all(
        self, process_id: str, given: Sequence[tuple[str, str, NewReview]]
    ) -> list[Review]:
        """Append reviews of several claims, some hundreds in a transaction.

        Args:
            process_id: The process.
            given: Id, claim and review of each; an id that is stored already keeps its review.

        Raises:
            NotFound: There is no such process or claim; reviews of earlier transactions stay.
            InputError: A review breaks rules, or there is no verdict to review.
        """
        checked = [(name, claim_id, check_given(one)) for name, claim_id, one in given]
        found: list[Review] = []
        for start in range(0, len(checked), _TOGETHER):
            some = checked[start : start + _TOGETHER]
            times = [now_after(place) for place in range(len(some))]

            def work(
                tx: Transaction,
                some: Sequence[tuple[str, str, NewReview]] = some,
                times: Sequence[str] = times,
            ) -> list[Review]:
                return _add_all(tx, process_id, some, times)

            found += await self._database.write_with(work, repeatable=True)
        return found

    async def restore(self, process_id: str, reviews: Sequence[Review]) -> int:
        """Store reviews that an input carries under the ids they have; give how many are new.

        Raises:
            NotFound: A claim or verification was removed or replaced meanwhile.
        """
        known = await self.known([one.review_id for one in reviews])
        new = [one for one in reviews if one.review_id not in known]
        for start in range(0, len(new), _PAGE):
            rows = [review_row(one) for one in new[start : start + _PAGE]]

            def work(tx: Transaction, rows: list[dict[str, Any]] = rows) -> None:
                stored = tx.run("review/write", process_id=process_id, rows=rows)
                left = {row["review_id"]: row for row in rows}
                for (name,) in stored:
                    left.pop(name, None)
                for row in left.values():
                    raise _gone(process_id, row["claim_id"])

            await self._database.write_with(work, repeatable=True)
        return len(new)

    async def known(self, review_ids: Sequence[str]) -> dict[str, str]:
        """Those of these reviews that are stored, with the process of each."""
        found: dict[str, str] = {}
        for batch in batches(review_ids):
            rows = await self._database.read("review/known", review_ids=batch)
            found |= {name: owner for name, owner, *_ in rows}
        return found

    async def page(
        self, process_id: str, claim_id: str | None = None, before: str = "", limit: int = _PAGE
    ) -> tuple[list[JudgedReview], str | None]:
        """Reviews of a process or of one claim, newest first, and the cursor of the next page."""
        return await self._database.read_with(
            lambda tx: _page(tx, process_id, claim_id, before, limit)
        )

    async def all(self, process_id: str, claim_id: str | None = None) -> list[JudgedReview]:
        """All reviews of a process or of one claim, newest first."""
        return await self._database.read_with(lambda tx: reviews_of(tx, process_id, claim_id))

    async def of_claims(self, process_id: str, claim_ids: Sequence[str]) -> dict[str, Reviewed]:
        """The state of the reviews of claims, by claim_id; those without a review are left out."""
        states: dict[str, Reviewed] = {}
        for batch in batches(claim_ids):
            rows = await self._database.read(
                "review/of_claims", process_id=process_id, claim_ids=batch
            )
            for claim_id, verdict, each in rows:
                state = reviewed(map(review_from, each), Verdict(verdict) if verdict else None)
                if state is not None:
                    states[claim_id] = state
        return states

    async def queue(self, process_id: str, *, judged: bool = True) -> list[QueuedClaim]:
        """All claims of a process in the order of the input; one that is not ready has none.

        Args:
            process_id: The process.
            judged: Whether verdicts come along.
        """
        rows = await self._database.read(
            "review/queue", process_id=process_id, judged=judged, window=_WINDOW
        )
        # Sorting here is several times faster than in the engine.
        found = sorted(
            (one for (packed,) in rows for one in packed), key=lambda one: (one[0], one[1])
        )
        return [
            QueuedClaim(claim_id, Verdict(verdict) if verdict else None, tuple(stages or ()))
            for _, claim_id, verdict, stages in found
        ]

    async def reviewers(self, process_id: str) -> Reviewers:
        """Return who has reviewed which claims of a process."""
        found: dict[str, set[str]] = {}
        rows = await self._database.read("review/reviewers", process_id=process_id, window=_WINDOW)
        for reviewer, claim_ids in rows:
            for claim_id in claim_ids:
                found.setdefault(claim_id, set()).add(reviewer)
        return found

    async def judged(self, process_id: str) -> list[JudgedReview]:
        """All reviews of a process, in no order and without their reasons."""
        rows = await self._database.read("review/judged", process_id=process_id, window=_WINDOW)
        return [_judged(process_id, one) for (packed,) in rows for one in packed]

    async def states(self, process_id: str) -> dict[str, Reviewed]:
        """The state of the reviews of each reviewed claim of a process, by claim_id."""
        names = dict.fromkeys(one.review.claim_id for one in await self.all(process_id))
        return await self.of_claims(process_id, list(names))

    async def count(self, process_id: str, claim_ids: Sequence[str] | None = None) -> int:
        """Return how many reviews a process has, or some of its claims."""
        if claim_ids is None:
            rows = await self._database.read("review/count", process_id=process_id, claim_ids=None)
            return int(rows[0][0])
        total = 0
        for batch in batches(claim_ids):
            rows = await self._database.read("review/count", process_id=process_id, claim_ids=batch)
            total += int(rows[0][0])
        return total


def _add_all(
    tx: Transaction,
    process_id: str,
    given: Sequence[tuple[str, str, NewReview]],
    times: Sequence[str],
) -> list[Review]:
    """Append reviews that are not stored yet, in one transaction."""
    names = [name for name, _, _ in given]
    stored = (review_from(row) for (row,) in tx.run("review/some", review_ids=names))
    reviews = {one.review_id: one for one in stored}
    claims = list(dict.fromkeys(claim_id for _, claim_id, _ in given))
    targets = {
        claim_id: (text, Considered(*found) if found else None)
        for claim_id, text, found in tx.run(
            "review/targets", process_id=process_id, claim_ids=claims
        )
    }
    new = []
    for (name, claim_id, one), at in zip(given, times, strict=True):
        if name in reviews:
            continue
        text, considered = targets.get(claim_id, (None, None))
        rest = {"review_id": name, "created_at": at}
        reviews[name] = review_of(process_id, claim_id, one, text, considered, **rest)
        new.append(reviews[name])
    rows = [review_row(one) for one in new]
    written = {name for (name,) in tx.run("review/write", process_id=process_id, rows=rows)}
    for review in new:
        if review.review_id not in written:
            raise _gone(process_id, review.claim_id)
    return [reviews[name] for name in names]


def reviews_of(tx: Transaction, process_id: str, claim_id: str | None = None) -> list[JudgedReview]:
    """All reviews of a process or of one claim, newest first, read in a transaction."""
    found, cursor = _page(tx, process_id, claim_id)
    while cursor is not None:
        more, cursor = _page(tx, process_id, claim_id, cursor)
        found += more
    return found


def _page(
    tx: Transaction, process_id: str, claim_id: str | None, before: str = "", limit: int = _PAGE
) -> tuple[list[JudgedReview], str | None]:
    whose = {"process_id": process_id, "before": before, "limit": limit}
    if claim_id is None:
        rows = tx.run("review/page", **whose)
    else:
        rows = tx.run("review/page_of_claim", claim_id=claim_id, **whose)
    found = [JudgedReview(review_from(row), engine, model) for row, engine, model, _ in rows]
    return found, rows[-1][3] if len(rows) == limit else None


def _judged(process_id: str, row: Sequence[Any]) -> JudgedReview:
    keys = (
        "review_id", "claim_id", "claim", "verdict", "reviewer", "created_at", "model_verdict",
        "adjudicates",
    )  # fmt: skip
    *found, engine, model = row
    made = dict(zip(keys, found, strict=True))
    return JudgedReview(noun_from(Review, made, process_id=process_id), engine, model)


def _target(
    tx: Transaction, process_id: str, claim_id: str, verification_id: str | None
) -> tuple[str | None, Considered | None]:
    rows = tx.run(
        "review/target",
        process_id=process_id,
        claim_id=claim_id,
        verification_id=verification_id,
    )
    if not rows:
        raise NotFound(
            f"No process {process_id!r} is stored, or it is not ready.",
            code="process_unknown",
            process_id=process_id,
        )
    claim, found = rows[0]
    return claim, Considered(*found) if found else None


def _gone(process_id: str, claim_id: str) -> NotFound:
    return NotFound(
        f"Process {process_id!r}, its claim {claim_id!r} or the verification was removed or "
        "replaced meanwhile; the review was not stored."
    )


def review_row(review: Review) -> dict[str, Any]:
    """Properties of a review."""
    return {
        **properties(review, {"overrides": True}),
        "verification_id": review.overrides,
        "caption": review_caption(review),
    }


def review_caption(review: Review) -> str:
    """Return what a review says, in words: `Overridden: Fully Supported`."""
    kind = review.kind.value.capitalize()
    if review.verdict is ReviewVerdict.UNCLEAR:
        return kind
    return short(f"{kind}: {in_words(Verdict(review.verdict.value), indicative=False)}")


def review_from(row: Mapping[str, Any]) -> Review:
    """A review from its properties."""
    return noun_from(Review, row, overrides=row.get("verification_id"))
