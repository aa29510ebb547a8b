"""Say where an error came in: the culprit by its value, and the pair of sentences.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import MarkedSentence, ValuePlace
from veritrail_graph.graph.word_diff import Piece, marked_pieces

BY_VALUE = "found by its value"
"""How the place was found where no model judged."""
OFFERED = "offered by its value: the verdicts of the model tell no stage"
"""How it was found where a model judged, and the interim verdicts tell no place."""
BY_SIDES = "found by the sides of its evidence: the verdicts of the model tell no stage"
"""How it was found where interim verdicts tell no place, and sentences for and against do."""
NODES_NAMED = 3
"""Candidates that are named in a line."""
AROUND = 120
"""Characters that are shown before and behind the words that matter."""

_NO_NAMES: Mapping[int, str] = MappingProxyType({})


class Located(Protocol):
    """A verification, or a claim with the one that counts."""

    @property
    def value_place(self) -> ValuePlace | None:
        """Return where a value came in."""
        ...

    @property
    def error_stages(self) -> Sequence[int]:
        """The stages of its place by the verdicts, or by the value where no model judged."""
        ...

    @property
    def indicative(self) -> bool | None:
        """Return whether no model judged."""
        ...


def how_located(one: Located) -> str | None:
    """Return how the place of an error was found; None: by the verdicts, as the paper has it."""
    if one.value_place is None:
        return None
    if not one.error_stages:
        return OFFERED
    return BY_VALUE if one.indicative else None


def went_wrong(one: Located, names: Mapping[int, str] = _NO_NAMES) -> str | None:
    """Return where a value came in: `went wrong in sum (summary, stage 2), found by its value`.

    Args:
        one: The verification.
        names: What the stages are called.
    """
    place = one.value_place
    if place is None:
        return None
    stage = place.wrote.stage  # candidates are equally near: they have one stage
    name = names.get(stage) if stage is not None else None
    where = ", ".join(part for part in (name, f"stage {stage}") if part)
    shown = ", ".join(place.node_ids[:NODES_NAMED])
    more = len(place.node_ids) - NODES_NAMED
    if place.culprit is None:
        left = f" and {more:,} more" if more > 0 else ""
        shown = f"one of {counted(len(place.node_ids), 'node')}: {shown}{left}"
    how = how_located(one)
    return f"went wrong in {shown} ({where})" + (f", {how}" if how else "")


def quote_pieces(said: MarkedSentence, around: int = AROUND) -> tuple[Piece, ...]:
    """A sentence in pieces, the words that matter marked; a long one is cut around them.

    Args:
        said: The sentence.
        around: Characters that are kept before the first of them and behind the last.
    """
    text, marks = said.text, sorted(said.marked)
    first, last = (marks[0][0], marks[-1][1]) if marks else (0, 0)
    start = 0 if first <= around else first - around
    end = len(text) if len(text) - last <= around else last + around
    return cut_pieces(text, marks, start, end)


def cut_pieces(
    text: str, marks: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[Piece, ...]:
    """Return the part of a text from one place to another in pieces, with signs where it goes on.

    Args:
        text: The text.
        marks: Where the words that matter begin and end, in order.
        start: Where the part begins.
        end: Where it ends.
    """
    before = (Piece("… "),) if start else ()
    behind = (Piece(" …"),) if end < len(text) else ()
    return (*before, *marked_pieces(text, marks, start, end), *behind)


def quote_text(said: MarkedSentence, around: int = AROUND) -> str:
    """Return the same as text, the words that matter between asterisks."""
    return "".join(
        f"*{one.text}*" if one.is_changed else one.text for one in quote_pieces(said, around)
    )
