"""Precision, recall and F1 of the source sentences of one sentence, and their macro averages.

Source: Error-tolerant attribution 5 (sentence-level macro averages); formats.md 8 (empty sets).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from typing import NamedTuple

from veritrail_eval.figures.figure import Figure, mean

NO_SENTENCES = "no sentences"


class Overlap(NamedTuple):
    """The overlap of two sets of source sentences.

    Attributes:
        precision: The share of the predicted ones that are in gold.
        recall: The share of those in gold that were predicted.
        f1: Their harmonic mean.
    """

    precision: float
    recall: float
    f1: float


def overlap(gold: Set[Hashable], predicted: Set[Hashable]) -> Overlap:
    """The three figures; 1 where both sets are empty, 0 where one is."""
    if not gold and not predicted:
        return Overlap(1.0, 1.0, 1.0)
    common = len(gold & predicted)
    if not common:
        return Overlap(0.0, 0.0, 0.0)
    # 2 PR / (P + R), without the rounding of P and R
    f1 = 2 * common / (len(gold) + len(predicted))
    return Overlap(common / len(predicted), common / len(gold), f1)


def intersection_over_union(first: Set[Hashable], second: Set[Hashable]) -> float:
    """The size of the intersection over that of the union; 1 where both are empty."""
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def macro(counts: Mapping[Overlap, int]) -> dict[str, Figure]:
    """The means over sentences, by the names of the contract.

    Args:
        counts: How often each overlap occurs.
    """
    every = [one for one, count in counts.items() for _ in range(count)]
    return {
        f"macro_{name}": mean((getattr(one, name) for one in every), NO_SENTENCES)
        for name in Overlap._fields
    }
