"""Claims as the list of the review page shows them, and what is not told of them in blind mode.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_graph.api.web.views.marks import Mark, mark_now, said_mark
from veritrail_graph.api.web.views.review_levels import cut
from veritrail_graph.api.web.views.review_queue import Queue, ReviewState
from veritrail_graph.graph.model import Process, Review, Reviewed, Verification
from veritrail_graph.graph.reviewing import words_of
from veritrail_graph.graph.store.judged_claim import JudgedClaim

ROW_TEXT = 160
"""Code points of a claim in the list."""

REASON_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who reviews.

    Attributes:
        name: By name; None: nobody has said yet.
        by_key: Whether it is the name of a key, which nobody can change on a page.
    """

    name: str | None
    by_key: bool = False


@dataclass(frozen=True, slots=True)
class SaidView:
    """What somebody says of a claim.

    Attributes:
        reviewer: Who.
        mark: The verdict.
        reason: Why; may be empty.
        created_at: When.
        is_mine: Whether it is the word of whoever looks at the page.
        differs: Whether it is another verdict than the model's now; None: not to be told.
    """

    reviewer: str
    mark: Mark
    reason: str
    created_at: str
    is_mine: bool
    differs: bool | None


@dataclass(frozen=True, slots=True)
class RowView:
    """A claim in the list.

    Attributes:
        claim_id: The claim.
        text: Its text, cut.
        href: Where it is opened.
        is_open: Whether it is.
        mark: How it stands; None: hidden.
        mine: What this reviewer says, if anything.
        others: How many others have reviewed it.
        disputed: Whether reviewers disagree; False where that is hidden.
        verification_id: What a rating is about; None: there is nothing to rate.
        words: A sign for the text that is looked at.
    """

    claim_id: str
    text: str
    href: str
    is_open: bool
    mark: Mark | None
    mine: SaidView | None
    others: int
    disputed: bool
    verification_id: str | None
    words: str


@dataclass(frozen=True, slots=True)
class Read:
    """What is read from the graph for the page.

    Attributes:
        process: The process.
        claims: The claims of the list and the open one.
        reviewed: What their reviews come to.
        verification: The open one's, with the nodes that have evidence.
        text: The text of the node that the open one is about.
        top: The stage of that node.
    """

    process: Process
    claims: Mapping[str, JudgedClaim]
    reviewed: Mapping[str, Reviewed]
    verification: Verification | None = None
    text: str | None = None
    top: int | None = None


def rows_of(read: Read, state: ReviewState, queue: Queue, who: Reviewer) -> list[RowView]:
    """The list; a claim that was removed meanwhile is left out."""
    return [
        row_of(read, state, claim_id, who, is_open=claim_id == queue.claim)
        for claim_id in queue.listed
        if claim_id in read.claims
    ]


def row_of(
    read: Read, state: ReviewState, claim_id: str, who: Reviewer, *, is_open: bool = False
) -> RowView:
    """A claim as it stands in the list."""
    found, reviewed = read.claims[claim_id], read.reviewed.get(claim_id)
    mine = mine_of(reviewed, who)
    hidden = is_hidden(found, reviewed, state, who)
    counting = reviewed.counting if reviewed else ()
    return RowView(
        claim_id=claim_id,
        text=cut(found.claim.text, ROW_TEXT),
        href=state.to(claim_id).href,
        is_open=is_open,
        mark=None if hidden else mark_now(found),
        mine=said_view(mine, found, who) if mine else None,
        others=len(counting) - (mine is not None),
        disputed=not hidden and reviewed is not None and reviewed.disputed,
        verification_id=found.verification_id,
        words=words_of(found.claim.text),
    )


def is_hidden(
    found: JudgedClaim, reviewed: Reviewed | None, state: ReviewState, who: Reviewer
) -> bool:
    """Whether there is a verdict that this reviewer is not to know yet."""
    return state.blind and found.verdict is not None and mine_of(reviewed, who) is None


def said_view(review: Review, found: JudgedClaim, who: Reviewer) -> SaidView:
    """What somebody says, for whoever may know the model's verdict."""
    return SaidView(
        reviewer=review.reviewer,
        mark=said_mark(review.verdict),
        reason=cut(review.reason, REASON_SHOWN),
        created_at=review.created_at,
        is_mine=review.reviewer == who.name,
        differs=None if found.verdict is None else review.verdict.value != found.verdict.value,
    )


def mine_of(reviewed: Reviewed | None, who: Reviewer) -> Review | None:
    """What this reviewer says now."""
    counting = reviewed.counting if reviewed else ()
    return next((one for one in counting if one.reviewer == who.name), None)
