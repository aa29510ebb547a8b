"""Krippendorff's alpha: the agreement of any number of annotators, with values missing.

Source: K. Krippendorff, Content Analysis, 2013, 12.3; used by VeriTrail B.2.3 for its labels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Literal

from veritrail_eval.figures.figure import Figure, missing

Level = Literal["nominal", "ordinal"]
Unit = tuple[tuple[int, int], ...]
"""The values of one unit: each value, and how many annotators gave it, ordered by value."""


def unit_of(values: Iterable[int]) -> Unit:
    """The unit that has these values."""
    return tuple(sorted(Counter(values).items()))


def krippendorff_alpha(units: Mapping[Unit, int], level: Level) -> Figure:
    """One minus observed by expected disagreement: 1 is perfect, 0 is chance.

    Args:
        units: How often each unit occurs. A unit with one value takes no part.
        level: `nominal`: different values differ equally. `ordinal`: the order of the integers
            counts, and how many values lie between two.
    """
    pairs: defaultdict[tuple[int, int], float] = defaultdict(float)
    for unit, times in units.items():
        size = sum(count for _, count in unit)
        if size < 2:
            continue
        for one, count in unit:
            for other, others in unit:
                both = count * (others - (one == other))
                pairs[one, other] += times * both / (size - 1)
    marginal: defaultdict[int, float] = defaultdict(float)
    for (one, _), weight in pairs.items():
        marginal[one] += weight
    total = sum(marginal.values())
    if not total:
        return missing("no claim has labels of two annotators")
    if len(marginal) < 2:
        return missing("one label only")
    distance = _DISTANCES[level](marginal)
    observed = sum(weight * distance(*pair) for pair, weight in pairs.items())
    expected = sum(
        marginal[one] * marginal[other] * distance(one, other)
        for one in marginal
        for other in marginal
    )
    return Figure(1 - (total - 1) * observed / expected)


Distance = Callable[[int, int], float]


def _nominal(_marginal: Mapping[int, float]) -> Distance:
    return lambda one, other: float(one != other)


def _ordinal(marginal: Mapping[int, float]) -> Distance:
    values: Sequence[int] = sorted(marginal)
    sums = list(accumulate((marginal[value] for value in values), initial=0.0))
    middle = {  # values below this one, and half of its own
        value: sums[place] + marginal[value] / 2 for place, value in enumerate(values)
    }
    return lambda one, other: (middle[one] - middle[other]) ** 2


_DISTANCES: Mapping[Level, Callable[[Mapping[int, float]], Distance]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
}
