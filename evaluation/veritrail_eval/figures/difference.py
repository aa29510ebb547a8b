"""Measure the difference of two methods on the claims that both judge. Ours, not the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.confusion import Confusion, cell_of
from veritrail_eval.figures.figure import Figure, missing
from veritrail_eval.figures.mcnemar import McNemar
from veritrail_eval.figures.options import Resampling
from veritrail_eval.figures.scores import MethodScore, comparisons

Cells = tuple[int, int]
"""The cells of one claim for both methods."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The first method's macro F1 less the second's, on the claims that both are scored on.

    Attributes:
        claims: How many claims these are.
        difference: The difference.
        interval: Where it lies when these claims are resampled, both methods on the same draw.
        mcnemar: McNemar's test of both.
    """

    claims: int
    difference: Figure
    interval: Interval
    mcnemar: McNemar

    @property
    def is_beyond_chance(self) -> bool:
        """Return whether 0 lies outside the interval."""
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and (low > 0 or high < 0)


def paired_difference(first: MethodScore, second: MethodScore, how: Resampling) -> PairedDifference:
    """Compare two methods.

    Args:
        first: A method.
        second: Another one.
        how: Number of resamples and seed.
    """
    both = [claim for claim in first.outcomes if claim in second.outcomes]
    cells = [(cell_of(*first.outcomes[claim]), cell_of(*second.outcomes[claim])) for claim in both]
    (compared,) = comparisons([first, second])
    found = intervals(cells, _difference, how)["macro_f1"]
    counts: dict[Cells, int] = {}
    for pair in cells:
        counts[pair] = counts.get(pair, 0) + 1
    return PairedDifference(len(both), _difference(counts)["macro_f1"], found, compared.mcnemar)


def _difference(drawn: Mapping[Cells, int]) -> dict[str, Figure]:
    counts = [0] * 4, [0] * 4
    for pair, times in drawn.items():
        for place, cell in enumerate(pair):
            counts[place][cell] += times
    one, other = (Confusion(*cells).macro_f1 for cells in counts)
    if one.value is None or other.value is None:
        return {"macro_f1": missing(one.reason or other.reason or "")}
    return {"macro_f1": Figure(one.value - other.value)}
