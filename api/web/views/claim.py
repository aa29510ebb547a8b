"""A claim as its page shows it: where it stands, how it was judged, and where it went wrong.

Source: VeriTrail 3.2 (verdicts, error localization); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.api.views.answer import AnswerText, TextClaim, answer_text, find_places
from veritrail_graph.api.views.texts import Place, part_of
from veritrail_graph.api.views.words import Mark, mark_now, review_mark
from veritrail_graph.api.web.views.excerpts import Clipped, clip
from veritrail_graph.graph.model import NodeRef, Review, Verification

AROUND = 600
"""Code points of the answer that are shown before and behind a claim."""

MOST_NODES = 12
"""Nodes at which something came in, or was carried on, that the head of the page names."""

REASON_BYTES = 800
"""Bytes of HTML that the reason of a review may come to."""

_SLACK = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several verifications of a claim.

    Attributes:
        verification_id: The verification.
        mark: How it ended.
        created_at: When it was made.
        judge: Who judged: the model, or the engine where there is none.
        q: Consecutive Not fully supported verdicts that stop the walk.
        is_shown: Whether it is the one that is shown.
    """

    verification_id: str
    mark: Mark
    created_at: str
    judge: str
    q: int
    is_shown: bool


@dataclass(frozen=True, slots=True)
class ErrorStop:
    """A node at which unsupported content came in, or that carried it on.

    Attributes:
        node_id: The node.
        stage: Its stage.
        stage_name: What the input calls it.
    """

    node_id: str
    stage: int
    stage_name: str | None


@dataclass(frozen=True, slots=True)
class ErrorView:
    """Where unsupported content came in, and which way it went on.

    Attributes:
        stages: The stages at which it came in, in words.
        introduced: The nodes at which it came in.
        more_introduced: How many further ones there are.
        inherited: Later nodes that only carried it on, the verified node last.
        more_inherited: How many further ones there are.
    """

    stages: tuple[str, ...]
    introduced: tuple[ErrorStop, ...]
    more_introduced: int
    inherited: tuple[ErrorStop, ...]
    more_inherited: int


@dataclass(frozen=True, slots=True)
class ClaimInText:
    """A claim where it stands in its text.

    Attributes:
        answer: The text around it, or its beginning where the place is not known.
        starts_later: Whether something of the text stands before what is shown.
        ends_earlier: Whether something stands behind it.
        is_found: Whether the claim's place is known.
        part: In which part of the text it stands.
    """

    answer: AnswerText
    starts_later: bool
    ends_earlier: bool
    is_found: bool
    part: int


@dataclass(frozen=True, slots=True)
class SaidReview:
    """A review of the claim.

    Attributes:
        review: The review.
        mark: What it says.
        reason: Why, cut where it is long.
        is_of_shown: Whether it is about the verification that is shown.
    """

    review: Review
    mark: Mark
    reason: Clipped
    is_of_shown: bool


def choices(verifications: Sequence[Verification], shown: str | None) -> tuple[Choice, ...]:
    """The verifications of a claim, newest first."""
    return tuple(
        Choice(
            one.verification_id,
            mark_now(one),
            one.created_at,
            one.model or one.engine,
            one.q,
            one.verification_id == shown,
        )
        for one in verifications
    )


def error_view(verification: Verification, names: Mapping[int, str]) -> ErrorView | None:
    """Where unsupported content came in; None where that is not known."""
    error = verification.error
    if not error.nodes:
        return None
    return ErrorView(
        tuple(names.get(stage) or f"stage {stage}" for stage in error.stages),
        _stops(error.nodes[:MOST_NODES], names),
        max(len(error.nodes) - MOST_NODES, 0),
        # The verified node is the last of them; where something is left out, it is not that.
        _stops(error.propagated[-MOST_NODES:], names),
        max(len(error.propagated) - MOST_NODES, 0),
    )


def _stops(refs: Sequence[NodeRef], names: Mapping[int, str]) -> tuple[ErrorStop, ...]:
    return tuple(ErrorStop(ref.node_id, ref.stage, names.get(ref.stage)) for ref in refs)


def claim_in_text(text: str, claim: TextClaim, around: int = AROUND) -> ClaimInText:
    """A claim with the text around it.

    Args:
        text: The whole text of its node.
        claim: The claim.
        around: Code points that are shown before and behind it.
    """
    place = _place(text, claim)
    if place is None:
        end = _edge(text, 2 * around, forwards=True)
        shown = answer_text(text[:end], [], size=max(end, 1))
        return ClaimInText(shown, False, end < len(text), False, 1)
    start = _edge(text, place[0] - around, forwards=False)
    end = _edge(text, min(place[1], place[0] + 4 * around) + around, forwards=True)
    here = TextClaim(claim.claim_id, claim.text, claim.mark, place[0] - start, place[1] - start)
    shown = answer_text(text[start:end], [here], size=max(end - start, 1))
    return ClaimInText(shown, start > 0, end < len(text), True, part_of(place[0], text))


def _place(text: str, claim: TextClaim) -> Place | None:
    for place in claim.places:
        if 0 <= place[0] < place[1] <= len(text):
            return place
    return find_places(text, [claim]).places.get(claim.claim_id)


def _edge(text: str, near: int, *, forwards: bool) -> int:
    """Where to cut a text near a place: between words."""
    if near <= 0:
        return 0
    if near >= len(text):
        return len(text)
    if forwards:
        place = text.find(" ", near, near + _SLACK)
        return place if place >= 0 else near
    place = text.rfind(" ", max(near - _SLACK, 0), near)
    return place + 1 if place >= 0 else near


def said_reviews(reviews: Sequence[Review], shown: str | None) -> tuple[SaidReview, ...]:
    """What people said of a claim, newest first."""
    return tuple(
        SaidReview(
            one,
            review_mark(one.verdict),
            clip(one.reason, REASON_BYTES),
            one.verification_id == shown,
        )
        for one in reviews
    )
