"""A claim to review, and the list of claims; what is hidden in blind mode.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.views.review_queue import Queue, ReviewState
from veritrail_graph.api.show.answer import ClaimInText, TextClaim, claim_in_text
from veritrail_graph.api.show.context import cited_in
from veritrail_graph.api.show.dialogue import listed_mark
from veritrail_graph.api.show.trail_view import Level, trail_view
from veritrail_graph.api.show.words import UNCHECKED, Mark, review_mark
from veritrail_graph.graph.evidence_nodes import EvidenceNode
from veritrail_graph.graph.model import (
    Claim,
    NodeRef,
    Process,
    Review,
    Reviewed,
    ReviewVerdict,
    Verification,
)
from veritrail_graph.graph.model.listed import JudgedClaim
from veritrail_graph.graph.reviewing import words_of

ROW_TEXT = 160
"""Code points of a claim in the list."""

REASON_SHOWN = 1_000


STAGES = 12
"""Stages that are shown at most."""

CLOSED = (4, 3, 600)
"""Nodes of a level, sentences of a node and code points of a sentence that are shown."""

OPENED = (40, 40, 6_000)
"""The same of a level that was opened."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The person who reviews, by name.

    Attributes:
        name: By name; None: not named yet.
        by_key: Whether it is the name of a key, which cannot be changed on a page.
    """

    name: str | None
    by_key: bool = False


@dataclass(frozen=True, slots=True)
class SaidView:
    """A review of a claim, as the page shows it.

    Attributes:
        reviewer: Who.
        mark: The verdict.
        reason: Why; may be empty.
        created_at: When.
        is_mine: Whether the reader of the page wrote it.
        differs: Whether it is another verdict than the model's now; None: hidden.
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
        mark: Its state; None: hidden.
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
    """The data that the page reads from the graph.

    Attributes:
        process: The process.
        claims: The claims of the list and the open one.
        reviewed: The summary of their reviews.
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
    """A line of the list: a claim."""
    found, reviewed = read.claims[claim_id], read.reviewed.get(claim_id)
    mine = mine_of(reviewed, who)
    hidden = is_hidden(found, reviewed, state, who)
    counting = reviewed.counting if reviewed else ()
    return RowView(
        claim_id=claim_id,
        text=cut(found.text, ROW_TEXT),
        href=state.to(claim_id).href,
        is_open=is_open,
        mark=None if hidden else listed_mark(found),
        mine=said_view(mine, found, who) if mine else None,
        others=len(counting) - (mine is not None),
        disputed=not hidden and reviewed is not None and reviewed.disputed,
        verification_id=found.verification_id if found.verdict is not None else None,
        words=words_of(found.text),
    )


def is_hidden(
    found: JudgedClaim, reviewed: Reviewed | None, state: ReviewState, who: Reviewer
) -> bool:
    """Return whether this reviewer must not know a result, or a category of a turn, yet."""
    has_result = found.status is not None and found.status.is_result
    is_judged = has_result or found.category is not None
    return state.blind and is_judged and mine_of(reviewed, who) is None


def said_view(review: Review, found: JudgedClaim, who: Reviewer) -> SaidView:
    """A review, for a reader who may know the model's verdict."""
    return SaidView(
        reviewer=review.reviewer,
        mark=review_mark(review.verdict),
        reason=cut(review.reason, REASON_SHOWN),
        created_at=review.created_at,
        is_mine=review.reviewer == who.name,
        differs=None if found.verdict is None else review.verdict.value != found.verdict.value,
    )


def mine_of(reviewed: Reviewed | None, who: Reviewer) -> Review | None:
    """Return what this reviewer says now."""
    counting = reviewed.counting if reviewed else ()
    return next((one for one in counting if one.reviewer == who.name), None)


Place = tuple[int, int]

SHOWN = 6_000
"""Code points of a text that are shown."""

LEAD = 1_500
"""Code points that are shown before the first place that is marked."""

SOURCES = 24
"""Source nodes that are named."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text.

    Attributes:
        text: The text.
        picked: Whether it is marked.
    """

    text: str
    picked: bool


@dataclass(frozen=True, slots=True)
class NodeInPlace:
    """A node that is read in place.

    Attributes:
        node_id: The node.
        stage: Its stage.
        name: What that is called; empty: the process does not say.
        pieces: Its text, or the part of it that is shown.
        cut_before: Whether more text is before.
        cut_after: Whether more text is behind.
        length: Code points of the whole text.
        sources: Nodes that it was made from, each with the address at which it is read.
        more: How many further nodes it was made from.
        closed: The address without it.
    """

    node_id: str
    stage: int
    name: str
    pieces: tuple[TextPiece, ...]
    cut_before: bool
    cut_after: bool
    length: int
    sources: tuple[tuple[str, str], ...]
    more: int
    closed: str


def reading_of(
    state: ReviewState,
    node: NodeRef,
    text: str,
    name: str,
    sources: tuple[Sequence[str], int],
    marked: Iterable[Place],
) -> NodeInPlace:
    """A node as it is read in place.

    Args:
        state: What the address says.
        node: The node.
        text: Its text.
        name: What its stage is called.
        sources: The first nodes that it was made from, and how many there are in all.
        marked: Places of the text that are marked; the first of them is in sight.
    """
    places = sorted(one for one in marked if 0 <= one[0] < one[1] <= len(text))
    start = max(0, places[0][0] - LEAD) if places else 0
    end = min(len(text), start + SHOWN)
    named = sources[0][:SOURCES]
    return NodeInPlace(
        node_id=node.node_id,
        stage=node.known_stage,
        name=name,
        pieces=tuple(_pieces(text, start, end, places)),
        cut_before=start > 0,
        cut_after=end < len(text),
        length=len(text),
        sources=tuple((one, state.with_node(one).href) for one in named),
        more=max(0, sources[1] - len(named)),
        closed=state.with_node(None).href,
    )


def marked_in(node_id: str, claim: Claim | None, trail: Verification | None) -> set[Place]:
    """Say what is marked in a node: the claim's own place, or the sentences that were selected."""
    if claim is not None and claim.node_id == node_id:
        if claim.start is None or claim.end is None:
            return set(claim.also)
        return {(claim.start, claim.end), *claim.also}
    cited = cited_in([trail]) if trail is not None else ()
    return {(one.start, one.end) for one in cited if one.node_id == node_id}


def _pieces(text: str, start: int, end: int, picked: Sequence[Place]) -> Iterable[TextPiece]:
    at = start
    for first, last in picked:
        first, last = max(first, at), min(last, end)
        if first >= last:
            continue
        if first > at:
            yield TextPiece(text[at:first], picked=False)
        yield TextPiece(text[first:last], picked=True)
        at = last
    if at < end:
        yield TextPiece(text[at:end], picked=False)


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
class ReviewLevel:
    """The evidence of one stage, cut unless it is opened.

    Attributes:
        level: The level.
        nodes: The nodes that are shown.
        sentences: Sentences of a node that are shown.
        longest: Code points of a sentence that are shown.
        is_cut: Whether opening the level shows more.
        is_open: Whether it is opened.
        is_sources: Whether it is the stage of the sources.
    """

    level: Level
    nodes: tuple[EvidenceNode, ...]
    sentences: int
    longest: int
    is_cut: bool
    is_open: bool
    is_sources: bool


def levels_of(
    verification: Verification | None,
    stages: Sequence[int],
    names: Mapping[int, str],
    *,
    top: int | None = None,
    opened: int | None = None,
    every: bool = False,
) -> tuple[ReviewLevel, ...]:
    """Levels from the sources to the answer.

    Args:
        verification: The verification with its trail; None: there is none.
        stages: The stages of the process.
        names: What they are called.
        top: The stage of the node that the claim is about; None: not known.
        opened: The stage that is shown whole.
        every: Whether stages without evidence are shown too, whether they were reached or not.
    """
    levels = trail_view(verification, names).levels if verification is not None else ()
    found = {level.stage: _without_verdict(level) for level in levels}
    below = {one for one in stages if every and (top is None or one < top)}
    shown = sorted(below | found.keys())
    if len(shown) > STAGES:  # the sources, and those next to the answer
        shown = [shown[0], *shown[1 - STAGES :]]
    lowest = min(stages, default=0)
    return tuple(
        _level(found.get(stage) or Level(stage, names.get(stage)), stage == opened, stage == lowest)
        for stage in shown
    )


def _without_verdict(level: Level) -> Level:
    """A level with its sentences only: a reviewer must not learn what the model made of them."""
    nodes = tuple(EvidenceNode(node.ref, 0, node.cited) for node in level.nodes)
    return Level(level.stage, level.name, nodes)


def _level(level: Level, is_open: bool, is_sources: bool) -> ReviewLevel:
    most, sentences, longest = OPENED if is_open else CLOSED
    is_cut = not is_open and (
        len(level.nodes) > most
        or any(len(node.cited) > sentences for node in level.nodes)
        or any(len(one.text) > longest for node in level.nodes for one in node.cited)
    )
    nodes = level.nodes[:most]
    return ReviewLevel(level, nodes, sentences, longest, is_cut, is_open, is_sources)


@dataclass(frozen=True, slots=True)
class OpenView:
    """The claim that is open.

    Attributes:
        row: Its line of the list.
        text: Its text.
        number: Its place in the list, counted from 1; None: it is none of the list.
        node_id: The node that it is about.
        in_text: The answer around it; None: that could not be read.
        hidden: Whether there is a verdict of the model that is hidden.
        mark: Its state; None: hidden.
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
    in_text: ClaimInText | None
    hidden: bool
    mark: Mark | None
    reasoning: str | None
    error_stages: tuple[int, ...]
    levels: tuple[ReviewLevel, ...]
    said: tuple[SaidView, ...]
    more_said: int
    claim_href: str | None


@dataclass(frozen=True, slots=True)
class SavedView:
    """A review that was just saved, beside the model's verdict, which may be shown now.

    Attributes:
        row: The claim.
        lacks_reason: Whether it differs from the model, and no reason was given.
    """

    row: RowView
    lacks_reason: bool


def saved_view(read: Read, state: ReviewState, claim_id: str, who: Reviewer) -> SavedView | None:
    """Return what was saved; None where the reviewer has said nothing of that claim."""
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
    return OpenView(
        row=row_of(read, state, found.claim_id, who, is_open=True),
        text=cut(found.text, CLAIM_SHOWN),
        number=_number(queue, found.claim_id),
        node_id=found.node_id,
        in_text=_in_text(read.text, found) if read.text else None,
        hidden=hidden,
        mark=None if hidden else listed_mark(found),
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
        claim_href=None if hidden else url("processes", state.process_id, "claims", found.claim_id),
    )


def _in_text(text: str, claim: Claim) -> ClaimInText:
    """A claim in its text, whatever its verdict is."""
    here = TextClaim(claim.claim_id, claim.text, UNCHECKED, claim.start, claim.end)
    return claim_in_text(text, here, AROUND)


def _said(
    found: JudgedClaim, reviewed: Reviewed | None, who: Reviewer, *, hidden: bool
) -> tuple[SaidView, ...]:
    """Own reviews first; those of others only where they cannot influence the reviewer."""
    if reviewed is None or hidden:
        return ()
    views = [said_view(review, found, who) for review in reviewed.counting]
    return tuple(sorted(views, key=lambda one: not one.is_mine))


def _number(queue: Queue, claim_id: str) -> int | None:
    listed = claim_id in queue.listed
    return queue.first + queue.listed.index(claim_id) + 1 if listed else None


def cut(text: str, longest: int) -> str:
    """A text that is no longer than that; what was cut off is shown as an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
