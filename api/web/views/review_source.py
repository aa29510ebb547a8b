"""A node read in place while one reviews, with what it was made from; it tells no verdict.

Source: VeriTrail 2 (a node is a text span; src).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veritrail_graph.api.web.views.review_queue import ReviewState
from veritrail_graph.graph.model import Claim, NodeRef, Verification

Place = tuple[int, int]

SHOWN = 6_000
"""Code points of a text that are shown."""

LEAD = 1_500
"""Code points that are shown before the first place that is marked."""

SOURCES = 24
"""Source nodes that are named."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text.

    Attributes:
        text: The text.
        picked: Whether it is marked.
    """

    text: str
    picked: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A node that is read in place.

    Attributes:
        node_id: The node.
        stage: Its stage.
        name: What that is called; empty: the process does not say.
        pieces: Its text, or the part of it that is shown.
        cut_before: Whether more stands before.
        cut_after: Whether more stands behind.
        length: Code points of the whole text.
        sources: Nodes that it was made from, each with the address at which it is read.
        more: How many further nodes it was made from.
        closed: The address without it.
    """

    node_id: str
    stage: int
    name: str
    pieces: tuple[Piece, ...]
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
) -> Reading:
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
    return Reading(
        node_id=node.node_id,
        stage=node.stage,
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
    """What is marked in a node: the claim's own place, or the sentences that were selected."""
    if claim is not None and claim.node_id == node_id:
        if claim.start is None or claim.end is None:
            return set(claim.also)
        return {(claim.start, claim.end), *claim.also}
    rounds = trail.iterations if trail is not None else ()
    found = (
        cited.sentence
        for each in rounds
        for evidence in each.evidence
        for cited in evidence.sentences
    )
    return {(one.start, one.end) for one in found if one.node_id == node_id}


def _pieces(text: str, start: int, end: int, picked: Sequence[Place]) -> Iterable[Piece]:
    at = start
    for first, last in picked:
        first, last = max(first, at), min(last, end)
        if first >= last:
            continue
        if first > at:
            yield Piece(text[at:first], picked=False)
        yield Piece(text[first:last], picked=True)
        at = last
    if at < end:
        yield Piece(text[at:end], picked=False)
