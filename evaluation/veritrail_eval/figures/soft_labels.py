"""Probabilities beside the labels of several annotators, who need not agree.

The soft label of a claim is the share of its annotators who say Fully Supported. How far a
probability is from it, and whether a method is unsure where annotators differ, are the figures;
a predictor that always says the mean of the soft labels stands beside them.

Source: VeriTrail B.2.2 (the distribution of labels is kept); the figures are ours (Brier 1950;
Uma et al. 2021, "Learning from Disagreement", for cross-entropy with soft labels).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log
from typing import NamedTuple

from veritrail_eval.figures.auroc import auroc_of_counts
from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.divergence import rank_correlation
from veritrail_eval.figures.figure import Figure, missing
from veritrail_eval.figures.options import Resampling

LEAST = 0.01
"""The least probability of either answer in a cross-entropy; without it one that is wrong and
certain makes the figure infinite."""
_DIGITS = 9
"""Digits of doubts: one of three and what two of three leave are the same."""
NO_CLAIMS = "no claim has both a probability and several annotators"
AS_SURE = "the method is equally sure of all claims, or annotators agree equally on all"
ALL_AGREE = "annotators agree on all claims, or on none"


class SoftLabelled(NamedTuple):
    """A claim with a probability and the labels of several annotators.

    Attributes:
        probability: The probability of Fully Supported that a method gives.
        supported: The share of the annotators who say so: the soft label.
        majority: The largest share of annotators with one label.
    """

    probability: float
    supported: float
    majority: float


@dataclass(frozen=True)
class SoftLabelFigures:
    """The figures of a method on claims with several annotators.

    Attributes:
        claims: How many claims there are.
        figures: `brier`, `cross_entropy`; the same of the constant predictor with `constant_`
            before it; `brier_gain`, by how much the method is nearer than that; `entropy`, the
            cross-entropy of the annotators' own shares, below which none can be; `correlation` of
            the method's doubt with the annotators' disagreement; `auroc_disagreed`, how likely a
            claim with disagreement has more doubt than one without.
        intervals: 95 %, over the claims.
    """

    claims: int
    figures: Mapping[str, Figure]
    intervals: Mapping[str, Interval]

    @classmethod
    def of(cls, claims: Sequence[SoftLabelled], how: Resampling) -> SoftLabelFigures:
        """Make the figures, with intervals by resampling claims."""
        return cls(len(claims), figures_of(Counter(claims)), intervals(claims, figures_of, how))


def figures_of(claims: Mapping[SoftLabelled, int]) -> dict[str, Figure]:
    """The figures of claims, each with how often it counts."""
    total = sum(claims.values())
    if not total:
        return dict.fromkeys(_NAMES, missing(NO_CLAIMS))
    constant = _mean(claims, total, lambda one: one.supported)
    brier = _mean(claims, total, lambda one: (one.probability - one.supported) ** 2)
    constant_brier = _mean(claims, total, lambda one: (constant - one.supported) ** 2)
    values = {
        "brier": brier,
        "constant_brier": constant_brier,
        "brier_gain": constant_brier - brier,
        "cross_entropy": _mean(
            claims, total, lambda one: cross_entropy(one.probability, one.supported)
        ),
        "constant_cross_entropy": _mean(
            claims, total, lambda one: cross_entropy(constant, one.supported)
        ),
        "entropy": _mean(claims, total, lambda one: _entropy(one.supported)),
    }
    doubts: Counter[tuple[float, float]] = Counter()
    disagreed: Counter[tuple[float, bool]] = Counter()
    for one, count in claims.items():
        doubts[_doubt(one), round(1 - one.majority, _DIGITS)] += count
        disagreed[_doubt(one), one.majority < 1] += count
    ranked = auroc_of_counts(disagreed)
    return {
        **{name: Figure(value) for name, value in values.items()},
        "correlation": rank_correlation(doubts, AS_SURE),
        "auroc_disagreed": missing(ALL_AGREE) if ranked.value is None else ranked,
    }


_NAMES = (
    "brier", "constant_brier", "brier_gain", "cross_entropy", "constant_cross_entropy", "entropy",
    "correlation", "auroc_disagreed",
)  # fmt: skip


def cross_entropy(probability: float, supported: float) -> float:
    """The cross-entropy of a probability and a soft label, in nats."""
    bounded = min(max(probability, LEAST), 1 - LEAST)
    return -supported * log(bounded) - (1 - supported) * log(1 - bounded)


def _entropy(supported: float) -> float:
    return -fsum(share * log(share) for share in (supported, 1 - supported) if share)


def _doubt(one: SoftLabelled) -> float:
    """The probability of the answer that the method does not give."""
    return round(min(one.probability, 1 - one.probability), _DIGITS)


def _mean(
    claims: Mapping[SoftLabelled, int], total: int, of: Callable[[SoftLabelled], float]
) -> float:
    return fsum(count * of(one) for one, count in claims.items()) / total
