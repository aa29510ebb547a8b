"""Test whether two predictions differ by more than chance: the paired bootstrap over sentences.

Source: Error-tolerant attribution 5, footnote 3 (bootstrapping, threshold 0.01).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from veritrail_eval.attribution.overlap import Overlap
from veritrail_eval.attribution.score import AttributionScore
from veritrail_eval.figures.bootstrap import resamples
from veritrail_eval.figures.figure import Figure, missing, with_reasons
from veritrail_eval.figures.options import Resampling

THRESHOLD = 0.01
"""A difference with a p-value below this is significant."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A macro figure of two predictions on the same sentences.

    Attributes:
        first: The figure of the first.
        second: The figure of the second.
        p_value: How likely such a difference is by chance, both directions together.
    """

    first: float
    second: float
    p_value: Figure

    @property
    def significant(self) -> bool | None:
        """Return whether the difference is significant; None where that cannot be said."""
        return None if self.p_value.value is None else self.p_value.value < THRESHOLD


def differences(
    first: Sequence[Overlap], second: Sequence[Overlap], how: Resampling
) -> dict[str, Difference]:
    """Compare two predictions, by the names of the macro figures.

    In each resample the sentences are drawn anew, for both predictions the same. The p-value is
    twice the share of resamples in which the difference is zero or has the less frequent sign;
    one resample is added to each side, so that it is never 0.

    Args:
        first: The figures of the sentences by the first prediction.
        second: Those of the same sentences by the second.
        how: Number of resamples and seed.
    """
    units = [
        Overlap(*(one - other for one, other in zip(*pair, strict=True)))
        for pair in zip(first, second, strict=True)
    ]
    below = [0] * len(Overlap._fields)
    above = [0] * len(Overlap._fields)
    for drawn in resamples(units, how):
        for place in range(len(Overlap._fields)):
            total = fsum(unit[place] * count for unit, count in drawn.items())
            below[place] += total <= 0
            above[place] += total >= 0
    return {
        f"macro_{name}": Difference(
            _mean(first, place), _mean(second, place), _p_value(below[place], above[place], how)
        )
        for place, name in enumerate(Overlap._fields)
        if units
    }


def _mean(overlaps: Sequence[Overlap], place: int) -> float:
    return fsum(one[place] for one in overlaps) / len(overlaps)


def _p_value(below: int, above: int, how: Resampling) -> Figure:
    if 2 / (how.resamples + 1) >= THRESHOLD:
        return missing(f"{how.resamples} resamples are too few for a threshold of {THRESHOLD}")
    return Figure(min(1.0, 2 * (min(below, above) + 1) / (how.resamples + 1)))


def comparison(
    first: AttributionScore, second: AttributionScore, how: Resampling
) -> dict[str, Any]:
    """Two predictions of the same gold: their macro figures, and whether they differ.

    Args:
        first: The score of one prediction.
        second: The score of the other, over the same gold.
        how: Number of resamples and seed.
    """
    found = differences(
        list(first.overlaps.values()), [second.overlaps[name] for name in first.overlaps], how
    )
    document: dict[str, Any] = {
        "threshold": THRESHOLD,
        "resamples": how.resamples,
        "missing": len(second.missing),
        "figures": {
            name: {
                "first": one.first,
                "second": one.second,
                "p_value": one.p_value.value,
                "significant": one.significant,
            }
            for name, one in found.items()
        },
    }
    reasons = {f"{name}.p_value": one.p_value for name, one in found.items()}
    return with_reasons(document, reasons)
