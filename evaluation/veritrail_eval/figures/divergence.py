"""Measure how alike two distributions or rankings are. Source: VeriTrail H.2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
    return rank_correlation(
        Counter(zip(first, second, strict=True)), "the same rate at every stage"
    )


def rank_correlation(pairs: Mapping[tuple[float, float], int], reason: str) -> Figure:
    """Spearman's rank correlation of pairs, each with how often it is there.

    Args:
        pairs: The pairs.
        reason: Why there is none, where all values of a side are the same.
    """
    sides: list[Counter[float]] = [Counter(), Counter()]
    for pair, count in pairs.items():
        for side, value in zip(sides, pair, strict=True):
            side[value] += count
    first, second = map(_centred_ranks, sides)
    spread = sqrt(
        sum(count * first[value] ** 2 for value, count in sides[0].items())
        * sum(count * second[value] ** 2 for value, count in sides[1].items())
    )
    if not spread:
        return missing(reason)
    together = sum(count * first[one] * second[other] for (one, other), count in pairs.items())
    return Figure(max(-1.0, min(1.0, together / spread)))


def _centred_ranks(values: Mapping[float, int]) -> dict[float, float]:
    """The rank of each value without the mean of all ranks."""
    middle, below, found = (sum(values.values()) - 1) / 2, 0, {}
    for value, count in sorted(values.items()):
        found[value] = below + (count - 1) / 2 - middle
        below += count
    return found
