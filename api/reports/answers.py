"""The verified texts of a report, with their claims in place.

Source: VeriTrail 3.2 (what a verdict is about).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_graph.api.reports.material import CheckedClaim
from veritrail_graph.api.reports.showing import mark_of_claim
from veritrail_graph.api.reports.trails import Origin
from veritrail_graph.api.web.views.answer import Segment, TextClaim, answer_text

MOST_TEXTS = 5
"""Verified nodes whose texts stand in a file: those with most claims."""

MOST_PARTS = 5
"""Parts of such a text (`api.web.views.text_parts.PART`)."""


@dataclass(frozen=True, slots=True)
class FiledAnswer:
    """A verified text.

    Attributes:
        node_id: Its node.
        segments: The text, in pieces.
        shown: Characters that are shown.
        length: Characters that there are.
        missing: Claims that have no place in it.
        undrawn: Places of claims that are not underlined.
    """

    node_id: str
    segments: tuple[Segment, ...]
    shown: int
    length: int
    missing: int
    undrawn: int


async def read_answers(origin: Origin, claims: Sequence[CheckedClaim]) -> list[FiledAnswer]:
    """The texts that most claims are about.

    Args:
        origin: Where the report is made from.
        claims: Its claims.
    """
    by_node = Counter(one.claim.node_id for one in claims)
    names = [name for name, _ in by_node.most_common(MOST_TEXTS)]
    texts = await origin.texts(names)
    return [_answer(name, texts[name], claims) for name in names if name in texts]


def _answer(node_id: str, text: str, claims: Sequence[CheckedClaim]) -> FiledAnswer:
    placed = [
        TextClaim(
            one.claim.claim_id,
            one.claim.text,
            mark_of_claim(one),
            one.claim.start,
            one.claim.end,
            one.claim.also,
            one.number,
        )
        for one in claims
        if one.claim.node_id == node_id
    ]
    first = answer_text(text, placed)
    further = range(2, min(first.parts, MOST_PARTS) + 1)
    parts = [first, *(answer_text(text, placed, part) for part in further)]
    segments = tuple(segment for part in parts for segment in part.segments)
    return FiledAnswer(
        node_id=node_id,
        segments=segments,
        shown=sum(len(segment.text) for segment in segments),
        length=len(text),
        missing=len(first.missing) + len(first.not_looked_for),
        undrawn=sum(part.undrawn for part in parts),
    )
