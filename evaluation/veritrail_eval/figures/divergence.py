"""Measure how alike two distributions or rankings are. Source: VeriTrail H.2."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, sqrt

from veritrail_eval.figures.figure import Figure, missing


def jensen_shannon(first: Sequence[float], second: Sequence[float]) -> Figure:
    """The Jensen-Shannon divergence to base 2, from 0 (equal) to 1 (nothing in common).

    It is the divergence, which is the square of the distance of the same name. Rates of several
    stages a claim need not add up to 1, so both are divided by their sums.

    Args:
        first: Weights that are not negative.
        second: As many weights, in the same order.
    """
    sums = sum(first), sum(second)
    if not all(sums):
        return missing("all rates are 0")
    total = 0.0
    for one, other in zip(first, second, strict=True):
        p, q = one / sums[0], other / sums[1]
        total += _part(p, (p + q) / 2) + _part(q, (p + q) / 2)
    return Figure(min(1.0, max(0.0, total / 2)))


def _part(share: float, middle: float) -> float:
    return share * log2(share / middle) if share else 0.0


def spearman(first: Sequence[float], second: Sequence[float]) -> Figure:
    """Spearman's rank correlation, from -1 to 1; ties get the mean of their ranks.

    Args:
        first: Values.
        second: As many values, in the same order.
    """
    if len(first) < 2:
        return missing("fewer than two stages")
    one, other = _centred_ranks(first), _centred_ranks(second)
    spread = sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    if not spread:
        return missing("the same rate at every stage")
    return Figure(max(-1.0, min(1.0, sum(a * b for a, b in zip(one, other, strict=True)) / spread)))


def _centred_ranks(values: Sequence[float]) -> list[float]:
    below = [sum(other < value for other in values) for value in values]
    equal = [sum(other == value for other in values) for value in values]
    middle = (len(values) - 1) / 2
    return [a + (b - 1) / 2 - middle for a, b in zip(below, equal, strict=True)]
