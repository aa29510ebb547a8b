"""Operations of teams: comments on claims, rounds of review, decisions between reviewers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from veritrail_graph.api.app.teamwork import Comment, CommentList, Round, RoundList
from veritrail_graph.api.client.answers import Review
from veritrail_graph.api.client.calls import Call
from veritrail_graph.api.client.carrying import CarriedOut

_PROCESS = "/v1/processes/{}"
_CLAIM = "/v1/processes/{}/claims/{}"

DecisionVerdict = Literal["FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE", "UNCLEAR"]


class TeamOperations(CarriedOut):
    """Comments, rounds and decisions."""

    async def comments(self, process_id: str, claim_id: str) -> CommentList:
        """The comments on a claim, oldest first."""
        call = Call("comments", "GET", f"{_CLAIM}/comments", (process_id, claim_id))
        return await self._one(call, CommentList)

    async def comment(
        self, process_id: str, claim_id: str, text: str, *, author: str | None = None
    ) -> Comment:
        """Comment on a claim; no verdict and no review changes.

        Args:
            process_id: The process.
            claim_id: The claim.
            text: What is said.
            author: Who says it; default: the name of the key, or in process the login.
        """
        body = {"text": text, **({"author": author} if author is not None else {})}
        ids = (process_id, claim_id)
        call = Call("comment", "POST", f"{_CLAIM}/comments", ids, {}, body, is_repeatable=False)
        return await self._one(call, Comment)

    async def review_rounds(self, process_id: str) -> RoundList:
        """The rounds of review, newest first, with what is done of each."""
        call = Call("review_rounds", "GET", f"{_PROCESS}/review-rounds", (process_id,))
        return await self._one(call, RoundList)

    async def begin_round(
        self,
        process_id: str,
        reviewers: Sequence[str],
        size: int,
        *,
        each: int = 1,
        name: str = "",
        seed: int = 0,
    ) -> Round:
        """Draw claims by lot, stratified by verdict, and assign them to reviewers.

        Args:
            process_id: The process.
            reviewers: Their names, as their reviews have them.
            size: How many claims are drawn.
            each: Reviewers of a claim.
            name: What the round is called.
            seed: The same seed draws the same claims.
        """
        body = {
            "reviewers": list(reviewers),
            "size": size,
            "each": each,
            "name": name,
            "seed": seed,
        }
        path, ids = f"{_PROCESS}/review-rounds", (process_id,)
        call = Call("begin_round", "POST", path, ids, {}, body, is_repeatable=False)
        return await self._one(call, Round)

    async def decide(
        self,
        process_id: str,
        claim_id: str,
        *,
        verdict: DecisionVerdict,
        reason: str,
        reviewer: str | None = None,
    ) -> Review:
        """Decide between reviewers: the decision counts before their reviews, which stay."""
        given = {"verdict": verdict, "reason": reason, "reviewer": reviewer}
        body = {name: value for name, value in given.items() if value is not None}
        path, ids = f"{_CLAIM}/reviews:decide", (process_id, claim_id)
        call = Call("decide", "POST", path, ids, {}, body, is_repeatable=False)
        return await self._one(call, Review)
