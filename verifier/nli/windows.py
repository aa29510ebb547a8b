"""Texts that are longer than a model reads: windows that overlap, and what they say together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from veritrail_graph.verifier.nli.port import Entailment

Span = tuple[int, int]

_WORD = re.compile(r"\S+")
_LONGEST_WORD = 200
"""Characters after which a run without a blank counts as several words."""


def windows(count: int, size: int, overlap: int) -> list[Span]:
    """Windows over `count` units: each of `size`, each sharing `overlap` with the one before.

    The last one ends with the units, and is as long as the others where there are enough units.

    Args:
        count: How many units there are.
        size: The most in a window; at least 1.
        overlap: How many two neighbours share; less than `size`.
    """
    if count <= size:
        return [(0, count)]
    step = size - min(overlap, size - 1)
    starts = [*range(0, count - size, step), count - size]
    return [(start, start + size) for start in starts]


def slices(text: str, units: Sequence[Span], size: int, overlap: int) -> list[str]:
    """The windows of a text whose units are at these offsets."""
    if not units:
        return [text]
    found = [
        text[units[start][0] : units[stop - 1][1]]
        for start, stop in windows(len(units), size, overlap)
    ]
    return list(dict.fromkeys(found))


def words(text: str) -> list[Span]:
    """Return where the words of a text are; a run without blanks is cut into several."""
    return [
        (start, min(start + _LONGEST_WORD, match.end()))
        for match in _WORD.finditer(text)
        for start in range(match.start(), match.end(), _LONGEST_WORD)
    ]


def over_premise(found: Iterable[Entailment]) -> Entailment:
    """Return what the windows of one premise say together: what one of them says is said.

    Each probability is that of the window that says it most; the neutral one is that of the window
    that is least silent. They need not add up to 1.
    """
    scores = list(found)
    return Entailment(
        max(one.entailment for one in scores),
        _most(min, [one.neutral for one in scores]),
        _most(max, [one.contradiction for one in scores]),
    )


def over_hypothesis(found: Iterable[Entailment]) -> Entailment:
    """Return the result for a hypothesis from its parts; it is entailed when each part is."""
    scores = list(found)
    return Entailment(
        min(one.entailment for one in scores),
        _most(max, [one.neutral for one in scores]),
        _most(max, [one.contradiction for one in scores]),
    )


def _most(choose: Callable[[list[float]], float], values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return choose(known) if known and len(known) == len(values) else None
