"""The review page: a claim with what was found for it, a form, and the list of claims.

In blind mode the model's verdict, and everything that tells it, is left out here, before any
template sees it, until the reviewer has given a verdict of their own.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.views.answer import word_for_word
from veritrail_graph.api.web.views.marks import Mark, mark_now
from veritrail_graph.api.web.views.review_levels import Level, cut, levels_of
from veritrail_graph.api.web.views.review_queue import Queue, ReviewState
from veritrail_graph.api.web.views.review_rows import (
    Read,
    Reviewer,
    RowView,
    SaidView,
    is_hidden,
    row_of,
    said_view,
)
from veritrail_graph.graph.model import Reviewed, ReviewVerdict
from veritrail_graph.graph.store.judged_claim import JudgedClaim

REASONING_SHOWN = 4_000
CLAIM_SHOWN = 4_000
AROUND = 400
"""Code points of the answer before and behind a claim."""

MOST_SAID = 12
"""Reviewers whose words stand with the open claim."""

JUDGED_BLIND = "Judged blind; no reason was given."
"""The reason of a blind verdict without one. Asking for a reason only where somebody differs from
the model would tell the model's verdict."""

CHOICES = (
    (1, ReviewVerdict.FULLY_SUPPORTED),
    (2, ReviewVerdict.NOT_FULLY_SUPPORTED),
    (3, ReviewVerdict.INCONCLUSIVE),
    (4, ReviewVerdict.UNCLEAR),
)
"""Key and verdict."""


@dataclass(frozen=True, slots=True)
class Around:
    """A claim within the text that it was made in.

    Attributes:
        before: Text before it.
        claim: The claim's own place; empty, where it is not known.
        after: Text behind it.
        cut_before: Whether more stands before.
        cut_after: Whether more stands behind.
    """

    before: str
    claim: str
    after: str
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True, slots=True)
class OpenView:
    """The claim that is open.

    Attributes:
        row: As it stands in the list.
        text: Its text.
        number: Its place in the list, counted from 1; None: it is none of the list.
        node_id: The node that it is about.
        around: The answer around it; None: that could not be read.
        hidden: Whether the model's verdict is there, and is not told.
        mark: How it stands; None: hidden.
        reasoning: The model's reasons; None: hidden, or there are none.
        error_stages: Where an error came in; none where that is hidden.
        levels: What was found.
        said: What people say, own words first; only those where the verdict is hidden.
        more_said: How many further reviewers have their say.
        claim_href: The page of the claim, which tells the verdict; None: hidden.
    """

    row: RowView
    text: str
    number: int | None
    node_id: str
    around: Around | None
    hidden: bool
    mark: Mark | None
    reasoning: str | None
    error_stages: tuple[int, ...]
    levels: tuple[Level, ...]
    said: tuple[SaidView, ...]
    more_said: int
    claim_href: str | None


@dataclass(frozen=True, slots=True)
class SavedView:
    """What was saved a moment ago, beside the model's verdict, which may be told now.

    Attributes:
        row: The claim.
        lacks_reason: Whether it differs from the model, and no reason was given.
    """

    row: RowView
    lacks_reason: bool


def saved_view(read: Read, state: ReviewState, claim_id: str, who: Reviewer) -> SavedView | None:
    """What was saved; None where the reviewer has said nothing of that claim."""
    if claim_id not in read.claims:
        return None
    row = row_of(read, state, claim_id, who)
    if row.mine is None:
        return None
    return SavedView(row, bool(row.mine.differs) and row.mine.reason == JUDGED_BLIND)


def open_view(read: Read, state: ReviewState, queue: Queue, who: Reviewer) -> OpenView | None:
    """The open claim; None where there is none."""
    if queue.claim is None or queue.claim not in read.claims:
        return None
    found, reviewed = read.claims[queue.claim], read.reviewed.get(queue.claim)
    hidden = is_hidden(found, reviewed, state, who)
    said = _said(found, reviewed, who, hidden=hidden)
    trail = read.verification
    claim = found.claim
    return OpenView(
        row=row_of(read, state, claim.claim_id, who, is_open=True),
        text=cut(claim.text, CLAIM_SHOWN),
        number=_number(queue, claim.claim_id),
        node_id=claim.node_id,
        around=around(read.text, claim.text, claim.start, claim.end) if read.text else None,
        hidden=hidden,
        mark=None if hidden else mark_now(found),
        reasoning=None if hidden or trail is None else cut(trail.reasoning or "", REASONING_SHOWN),
        error_stages=() if hidden else found.error_stages,
        levels=levels_of(
            trail,
            sorted(read.process.stages),
            read.process.stage_names,
            top=read.top,
            opened=state.level,
            every=hidden,
        ),
        said=said[:MOST_SAID],
        more_said=max(0, len(said) - MOST_SAID),
        claim_href=None if hidden else url("processes", state.process_id, "claims", claim.claim_id),
    )


def around(text: str, claim: str, start: int | None, end: int | None) -> Around:
    """A claim within its text: where its offsets say or, without them, where its whole words do."""
    if start is None or end is None:
        start, end = word_for_word(text, claim.strip()) or (0, 0)
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    before, after = text[first:start], text[end:last]
    if first and " " in before:  # no word is cut in two
        before = before.partition(" ")[2]
    if last < len(text) and " " in after:
        after = after.rpartition(" ")[0]
    own = cut(text[start : min(end, start + CLAIM_SHOWN + 1)], CLAIM_SHOWN)
    return Around(before, own, after, first > 0, last < len(text))


def _said(
    found: JudgedClaim, reviewed: Reviewed | None, who: Reviewer, *, hidden: bool
) -> tuple[SaidView, ...]:
    """Own words first; nobody else's where they would tell the verdict, or lean on a judgement."""
    if reviewed is None or hidden:
        return ()
    views = [said_view(review, found, who) for review in reviewed.counting]
    return tuple(sorted(views, key=lambda one: not one.is_mine))


def _number(queue: Queue, claim_id: str) -> int | None:
    listed = claim_id in queue.listed
    return queue.first + queue.listed.index(claim_id) + 1 if listed else None
