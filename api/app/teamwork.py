"""Teams: comments on claims, rounds of review with assignment, and decisions between reviewers.

Source: ours (docs/adr/0044-review-in-teams.md).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from veritrail_graph.api.app.part import Part
from veritrail_graph.api.app.teamwork_storage import TeamRepository
from veritrail_graph.api.auth.access import LOCAL, Caller, Scope
from veritrail_graph.api.auth.key_cache import ENVIRONMENT
from veritrail_graph.api.requests.limits import LONGEST_COMMENT, MOST_DRAWN, MOST_REVIEWERS
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.errors import InputError, NotFound, shown
from veritrail_graph.graph.model import Review
from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.model.review import latest_of_each
from veritrail_graph.graph.reviewing import NewReview, text_faults

if TYPE_CHECKING:
    from veritrail_graph.graph.exporters.annotation import ClaimToAnnotate

MOST_COMMENTS = 200
"""Comments on a claim that are shown, the latest."""
MOST_ROUNDS = 50
MOST_WAITING = 20
"""Processes that are looked through for claims that wait for a reviewer."""
_SENTENCES = 30

AnnotationFormat = Literal["label-studio", "inception"]


class Comment(Answer):
    """A comment on a claim."""

    comment_id: str
    process_id: str
    claim_id: str
    author: str
    text: str
    created_at: str
    recorded_by: str | None = Field(
        None,
        description="The name of the key that it was sent with: the author is what the sender "
        "says, the key is what the service knows.",
    )
    is_mine: bool = Field(False, description="Whether the caller may remove it.")


class CommentList(Answer):
    """The comments on a claim, oldest first."""

    process_id: str
    claim_id: str
    comments: list[Comment]


class Round(Answer):
    """Claims drawn by lot, and who is to review them."""

    round_id: str
    process_id: str
    name: str
    created_at: str
    created_by: str
    drawn: int = Field(description="How many claims were drawn.")
    of: int = Field(description="Of how many.")
    strata: dict[str, int] = Field(description="Drawn claims by their verdict then.")
    reviewers: list[str]
    each: int = Field(description="Reviewers of a claim.")
    seed: int


class Progress(Answer):
    """What one reviewer has done of a round."""

    reviewer: str
    assigned: int
    done: int
    blind: int = Field(description="How many of these were reviewed blind.")


class RoundProgress(Answer):
    """A round, and what is done of it."""

    round: Round
    reviewers: list[Progress]
    disputed: list[str] = Field(
        description="Claims whose reviewers differ and that no decision settles yet."
    )
    decided: list[str] = Field(description="Claims that somebody decided.")


class RoundList(Answer):
    """The rounds of a process, newest first."""

    process_id: str
    rounds: list[RoundProgress]


@dataclass(frozen=True, slots=True)
class WaitingClaims:
    """A process with claims that wait for a reviewer.

    Attributes:
        process_id: The process.
        claims: How many wait.
    """

    process_id: str
    claims: int


@dataclass(frozen=True, slots=True)
class NewRound:
    """A round as it is asked for.

    Attributes:
        reviewers: Their names, as their reviews have them.
        size: How many claims are drawn.
        each: Reviewers of a claim.
        name: What it is called.
        seed: The same seed draws the same claims.
    """

    reviewers: Sequence[str]
    size: int
    each: int = 1
    name: str = ""
    seed: int = 0


class Teamwork(Part):
    """Comments, rounds and decisions."""

    @cached_property
    def repository(self) -> TeamRepository:
        """The tables."""
        return TeamRepository(self._app.database)

    async def comment(
        self, process_id: str, claim_id: str, text: str, author: str, *, by: Caller = LOCAL
    ) -> Comment:
        """Comment on a claim; no verdict and no review changes.

        Raises:
            NotFound: There is no such process or claim.
            InputError: The text is empty or too long, or the author has no name.
        """
        text = text.strip()
        if not text or len(text) > LONGEST_COMMENT:
            raise InputError(
                f"A comment has a text of at most {LONGEST_COMMENT:,} characters.",
                code="comment_text",
            )
        if faults := text_faults(text, author.strip()):
            raise InputError("The comment cannot be stored", faults)
        version = await self._app.versions.get(process_id)
        await self._app.claims.get(process_id, claim_id)
        row: dict[str, str | None] = {
            "comment_id": f"comment-{uuid.uuid4().hex}",
            "process_id": process_id,
            "claim_id": claim_id,
            "author": author.strip(),
            "key_id": by.key_id,
            "text": text,
            "created_at": now(),
            "made_for": version.first_stored_at,
        }
        await self.repository.add_comment(row)
        comment_id = str(row["comment_id"])
        details = {"claim_id": claim_id, "comment_id": comment_id}
        await self._record(by, "comment.add", process_id, **details)
        return _comment(row, by.key_name, by)

    async def comments(self, process_id: str, claim_id: str, *, by: Caller = LOCAL) -> CommentList:
        """The comments on a claim, oldest first.

        Raises:
            NotFound: There is no such process or claim.
        """
        await self._app.claims.get(process_id, claim_id)
        version = await self._app.versions.get(process_id)
        rows = await self.repository.comments(version, claim_id, MOST_COMMENTS)
        found = [_comment(row._mapping, row.key_name, by) for row in rows]  # public, of a row
        return CommentList(process_id=process_id, claim_id=claim_id, comments=found)

    async def remove_comment(self, process_id: str, comment_id: str, *, by: Caller = LOCAL) -> None:
        """Remove a comment: one's own, or with the scope admin any.

        Raises:
            NotFound: There is none of that id that the caller may remove.
        """
        whose = None if by.key_id is None or by.may(Scope.ADMIN) else by.key_id
        if not await self.repository.remove_comment(process_id, comment_id, whose):
            raise NotFound(f"There is no comment {shown(comment_id)} that you may remove.")
        await self._record(by, "comment.remove", process_id, comment_id=comment_id)

    async def begin(self, process_id: str, wanted: NewRound, *, by: Caller = LOCAL) -> Round:
        """Draw claims by lot, stratified by verdict, and assign them to reviewers.

        Raises:
            NotFound: There is no such process.
            InputError: There are no reviewers or claims, or a number does not fit.
        """
        from veritrail_graph.graph.sampling import assigned, sample_of

        version = await self._app.versions.get(process_id)
        names = [" ".join(one.split()) for one in wanted.reviewers if one.strip()]
        names = list(dict.fromkeys(names))
        if not 1 <= len(names) <= MOST_REVIEWERS:
            raise InputError(f"Name 1 to {MOST_REVIEWERS} reviewers.", code="round_reviewers")
        if faults := [fault for name in names for fault in text_faults("", name)]:
            raise InputError("The round cannot begin", faults)
        if not 1 <= wanted.each <= len(names):
            raise InputError(
                f"A claim has 1 to {len(names)} of these reviewers.", code="round_each"
            )
        if not 1 <= wanted.size <= MOST_DRAWN:
            raise InputError(f"Draw 1 to {MOST_DRAWN:,} claims.", code="round_size")
        if len(await self.repository.rounds(version, MOST_ROUNDS)) == MOST_ROUNDS:
            raise InputError(
                f"The process has {MOST_ROUNDS} rounds; remove some first.", code="round_many"
            )
        queue = await self._app.reviews.queue(process_id)
        verdicts = {one.claim_id: one.verdict.value if one.verdict else None for one in queue}
        if not verdicts:
            raise InputError("The process has no claims to review.", code="round_empty")
        drawn, strata = sample_of(verdicts, wanted.size, wanted.seed)
        made = Round(
            round_id=f"round-{uuid.uuid4().hex[:16]}",
            process_id=process_id,
            name=" ".join(wanted.name.split())[:200] or f"{len(drawn)} of {len(verdicts)} claims",
            created_at=now(),
            created_by=by.name,
            drawn=len(drawn),
            of=len(verdicts),
            strata=strata,
            reviewers=names,
            each=wanted.each,
            seed=wanted.seed,
        )
        row = {
            "round_id": made.round_id,
            "process_id": process_id,
            "created_at": made.created_at,
            "round": made.model_dump_json(),
            "made_for": version.first_stored_at,
        }
        tasks = assigned(drawn, names, wanted.each, wanted.seed)
        await self.repository.add_round(row, tasks)
        await self._record(by, "round.begin", process_id, round_id=made.round_id)
        return made

    async def rounds(self, process_id: str) -> RoundList:
        """The rounds of a process, newest first, with what is done of each.

        Raises:
            NotFound: There is no such process.
        """
        version = await self._app.versions.get(process_id)
        stored = await self.repository.rounds(version, MOST_ROUNDS)
        every = await self._app.reviews.in_full(process_id) if stored else []
        found = []
        for text in stored:
            one = Round.model_validate_json(text)
            found.append(progress_of(one, await self.repository.tasks(one.round_id), every))
        return RoundList(process_id=process_id, rounds=found)

    async def end(self, process_id: str, round_id: str, *, by: Caller = LOCAL) -> None:
        """Remove a round with its assignments; reviews stay.

        Raises:
            NotFound: There is no such round.
        """
        if not await self.repository.remove_round(process_id, round_id):
            raise NotFound(
                f"Process {process_id!r} has no round {shown(round_id)}.", code="round_unknown"
            )
        await self._record(by, "round.end", process_id, round_id=round_id)

    async def assigned(self, process_id: str, reviewer: str) -> set[str]:
        """The claims of a process that somebody is to review."""
        version = await self._app.versions.get(process_id)
        return set(await self.repository.assigned(version, reviewer))

    async def waiting(self, reviewer: str) -> list[WaitingClaims]:
        """Return the processes with claims that somebody is to review and has not, newest first.

        Args:
            reviewer: Their name, as reviews have it.
        """
        names = await self.repository.processes_for(reviewer, MOST_WAITING)
        left = await asyncio.gather(*(self._left(name, reviewer) for name in names))
        return [
            WaitingClaims(process_id=name, claims=claims)
            for name, claims in zip(names, left, strict=True)
            if claims
        ]

    async def _left(self, process_id: str, reviewer: str) -> int:
        """Count the claims of a process that wait for a reviewer."""
        try:
            assigned = await self.assigned(process_id, reviewer)
        except NotFound:  # it was removed, or is being stored
            return 0
        queue, said = await asyncio.gather(
            self._app.reviews.queue(process_id, judged=False),
            self._app.reviews.reviewers(process_id),
        )
        there = assigned.intersection(one.claim_id for one in queue)
        return sum(reviewer not in said.get(claim_id, ()) for claim_id in there)

    async def decide(
        self,
        process_id: str,
        claim_id: str,
        given: NewReview,
        *,
        by: Caller = LOCAL,
    ) -> Review:
        """Decide between reviewers: the decision counts before their reviews, which stay.

        Raises:
            NotFound: There is no such process or claim.
            InputError: Fewer than two people reviewed it, or the decision breaks rules.
            NotAllowed: It is in the name of somebody else than the owner of the key.
        """
        from dataclasses import replace

        found = (await self._app.reviews.of_claims(process_id, [claim_id])).get(claim_id)
        if found is None or len(found.counting) < 2:
            raise InputError(
                f"Claim {claim_id!r} has fewer than two reviewers: there is nothing to decide.",
                code="nothing_to_decide",
            )
        decision = replace(given, adjudicates=True)
        return await self._app.reviews.add(process_id, claim_id, decision, by=by)

    async def export(
        self, process_id: str, format_name: AnnotationFormat, *, blind: bool = False
    ) -> Any:
        """Claims for an annotation tool, as JSON values.

        Args:
            process_id: The process.
            format_name: `label-studio` or `inception`.
            blind: Whether verdicts and reviews are left out.

        Raises:
            NotFound: There is no such process.
        """
        from veritrail_graph.graph.exporters.annotation import inception, label_studio

        claims = await self._to_annotate(process_id, blind=blind)
        if format_name == "label-studio":
            return label_studio(process_id, claims)
        process = await self._app.processes.get(process_id)
        about = {one.claim.node_id for one in claims}
        nodes = [name for name in process.terminals if name in about] or list(process.terminals)
        _, text = await self._app.nodes.text(process_id, nodes[0])
        return inception(text, [one for one in claims if one.claim.node_id == nodes[0]])

    async def _to_annotate(self, process_id: str, *, blind: bool) -> list[ClaimToAnnotate]:
        from veritrail_graph.graph.exporters.annotation import ClaimToAnnotate

        every = [one for one in await self._app.claims.all(process_id) if one.origin is None]
        judged = await self._app.claims.some(process_id, [one.claim_id for one in every])
        reviews: dict[str, list[Review]] = {}
        if not blind:
            for review in latest_of_each(await self._app.reviews.in_full(process_id)):
                reviews.setdefault(review.claim_id, []).append(review)
        found = []
        names = [one.verification_id for one in judged.values() if one.verification_id]
        trails = {}
        for start in range(0, len(names), 100):
            for outline in await self._app.verifications.outlines(names[start : start + 100]):
                trails[outline.verification.claim_id] = outline.verification
        for claim in every:
            trail = trails.get(claim.claim_id)
            cited = [
                (sentence.node_id, sentence.text)
                for iteration in (trail.iterations if trail else ())
                for sentence in iteration.evidence
            ]
            verdict = judged[claim.claim_id].verdict if claim.claim_id in judged else None
            found.append(
                ClaimToAnnotate(
                    claim.replace(label=None) if blind else claim,
                    verdict.value if verdict and not blind else None,
                    (trail.model or trail.engine) if trail else None,
                    list(dict.fromkeys(cited))[:_SENTENCES],
                    reviews.get(claim.claim_id, []),
                )
            )
        return found


def progress_of(
    one: Round, tasks: Sequence[tuple[str, str]], reviews: Sequence[Review]
) -> RoundProgress:
    """Return what is done of a round.

    Args:
        one: The round.
        tasks: Its claims with their reviewers.
        reviews: All reviews of the process.
    """
    counting = {(r.claim_id, r.reviewer): r for r in latest_of_each(reviews)}
    decided = {review.claim_id for review in reviews if review.adjudicates}
    said: dict[str, set[str]] = {}
    by_reviewer: dict[str, list[str]] = {name: [] for name in one.reviewers}
    for claim_id, reviewer in tasks:
        by_reviewer.setdefault(reviewer, []).append(claim_id)
        if (claim_id, reviewer) in counting:
            said.setdefault(claim_id, set()).add(counting[claim_id, reviewer].verdict.value)
    lines = []
    for name, claims in by_reviewer.items():
        done = [counting[claim, name] for claim in claims if (claim, name) in counting]
        blind = sum(first_blind(reviews, review) for review in done)
        lines.append(Progress(reviewer=name, assigned=len(claims), done=len(done), blind=blind))
    names = list(dict.fromkeys(claim_id for claim_id, _ in tasks))
    return RoundProgress(
        round=one,
        reviewers=lines,
        disputed=[name for name in names if len(said.get(name, ())) > 1 and name not in decided],
        decided=[name for name in names if name in decided],
    )


def first_blind(reviews: Sequence[Review], review: Review) -> bool:
    """Return whether the first review of a claim by this reviewer was blind."""
    own = [
        one
        for one in reviews
        if (one.claim_id, one.reviewer) == (review.claim_id, review.reviewer)
        and not one.adjudicates
    ]
    return bool(own) and bool(min(own, key=lambda one: one.order).blind)


def _comment(row: Any, key_name: str | None, by: Caller) -> Comment:
    if key_name is None and row["key_id"] == ENVIRONMENT.key_id:
        key_name = ENVIRONMENT.name
    is_mine = by.key_id is None or by.may(Scope.ADMIN) or row["key_id"] == by.key_id
    names = ("comment_id", "process_id", "claim_id", "author", "text", "created_at")
    return Comment(**{name: row[name] for name in names}, recorded_by=key_name, is_mine=is_mine)
