"""Intervals by resampling: the percentile bootstrap.

Source: VeriTrail H.1 (1,000 resamples, 95 %).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from veritrail_eval.figures.figure import Figure
from veritrail_eval.figures.options import Resampling

LEVEL = 0.95

Unit = TypeVar("Unit", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval that holds a figure in 95 % of the resamples.

    Attributes:
        low: The 2.5th percentile; None where no resample has the figure.
        high: The 97.5th percentile.
        undefined: Resamples that do not have the figure, such as those with one class only.
    """

    low: float | None
    high: float | None
    undefined: int = 0

    def as_json(self) -> list[float] | None:
        """Both ends; None where there are none."""
        return None if self.low is None or self.high is None else [self.low, self.high]


def intervals(
    units: Sequence[Unit],
    figures: Callable[[Mapping[Unit, int]], Mapping[str, Figure]],
    how: Resampling,
) -> dict[str, Interval]:
    """The interval of each figure, units drawn with replacement, as many as there are.

    Args:
        units: What is drawn. Equal units count together, so that figures are made of counts.
        figures: Makes the figures of how often each unit was drawn; always the same names.
        how: Number of resamples and seed.
    """
    found: dict[str, list[float]] = {name: [] for name in figures(Counter(units))}
    for drawn in resamples(units, how):
        for name, one in figures(drawn).items():
            if one.value is not None:
                found[name].append(one.value)
    return {name: _interval(values, how.resamples) for name, values in found.items()}


def resamples(units: Sequence[Unit], how: Resampling) -> Iterator[Mapping[Unit, int]]:
    """Yield how often each unit was drawn, resample by resample; none without units."""
    draw = random.Random(how.seed)  # noqa: S311  # statistics, not secrets
    for _ in range(how.resamples if units else 0):
        yield Counter(draw.choices(units, k=len(units)))


def _interval(values: list[float], resamples: int) -> Interval:
    if not values:
        return Interval(None, None, resamples)
    values.sort()
    tail = (1 - LEVEL) / 2
    return Interval(percentile(values, tail), percentile(values, 1 - tail), resamples - len(values))


def percentile(ordered: Sequence[float], at: float) -> float:
    """The value at a share from 0 to 1 of ordered values, in a straight line between neighbours.

    Args:
        ordered: At least one value, the smallest first.
        at: The share.
    """
    place = at * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
