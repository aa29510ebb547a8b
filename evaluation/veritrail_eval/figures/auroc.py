"""Soft prediction: the area under the ROC curve. Source: VeriTrail E.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from veritrail_eval.figures.confusion import NO_CLAIMS, ONE_CLASS
from veritrail_eval.figures.figure import Figure, missing


def auroc(scored: Iterable[tuple[float, bool]]) -> Figure:
    """The probability that a supported claim has a higher score than one that is not.

    A tie counts half. Fully Supported is the positive class here, because the score is its
    probability.

    Args:
        scored: The score of each claim, and whether its label is Fully Supported.
    """
    return auroc_of_counts(Counter(scored))


def auroc_of_counts(counts: Mapping[tuple[float, bool], int]) -> Figure:
    """Return the same, of how many claims have each score and label."""
    below = wins = 0  # claims not supported with a lower score; twice the pairs that are in order
    positives = 0
    for score in sorted({score for score, _ in counts}):
        supported = counts.get((score, True), 0)
        unsupported = counts.get((score, False), 0)
        wins += supported * (2 * below + unsupported)
        below += unsupported
        positives += supported
    if not positives or not below:
        return missing(ONE_CLASS if positives or below else NO_CLAIMS)
    return Figure(wins / (2 * positives * below))
