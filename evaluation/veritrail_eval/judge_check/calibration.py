"""Calibration: whether the probabilities that a judge gives are what they say.

Of the pairs to which it gives 0.9, nine of ten should be supported. Two figures and a picture say
how far it is from that: G. W. Brier's score, the expected calibration error over ten equal parts of
the scale, and these parts one by one. Beside the error stands what a judge would have that is
calibrated perfectly and gives the same probabilities: with few pairs that is not 0.

Source: Brier 1950; Naeini et al. 2015 (expected calibration error); VeriTrail E.3 (the score).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_eval.judge_check.figures import Judged
from veritrail_eval.judge_check.pairs import LABELS

PARTS = 10
DRAWS = 1_000
_BAR = 20
_SUPPORTED = LABELS[0]


@dataclass(frozen=True, slots=True)
class Tenth:
    """A part of the scale, and the pairs whose probability lies in it.

    Attributes:
        start: Where it begins; it ends a tenth later.
        pairs: How many pairs there are.
        said: The mean of their probabilities.
        supported: The share of them that is supported.
    """

    start: float
    pairs: int
    said: float
    supported: float

    @property
    def words(self) -> str:
        """Return where it lies."""
        return f"{self.start:.1f} to {self.start + 1 / PARTS:.1f}"

    @property
    def bar(self) -> str:
        """Draw the share that is supported as a bar, with a mark where the probability says."""
        filled = round(self.supported * _BAR)
        cells = ["█" if place < filled else "·" for place in range(_BAR)]
        cells[min(int(self.said * _BAR), _BAR - 1)] = "|"
        return "".join(cells)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of a judge on pairs.

    Attributes:
        pairs: How many of them have a probability.
        brier: The mean square of how far the probabilities are from the labels: 0 is best, and
            0.25 what always saying 0.5 gets.
        error: The expected calibration error.
        chance: What 95 of 100 judges with these probabilities would have at most, were they
            calibrated perfectly.
        parts: The parts of the scale that have pairs.
    """

    pairs: int
    brier: float
    error: float
    chance: float
    parts: tuple[Tenth, ...]

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> Calibration | None:
        """Return that of a judge on pairs; None: it gave no probabilities."""
        given = [
            (one.verification.score, one.pair.label is _SUPPORTED)
            for one in judged
            if one.verification.score is not None and one.verification.status.is_result
        ]
        if not given:
            return None
        scores = [score for score, _ in given]
        labels = [label for _, label in given]
        draw = random.Random(0)  # noqa: S311  # the same figure at each call
        errors = sorted(
            calibration_error(scores, [draw.random() < score for score in scores])
            for _ in range(DRAWS)
        )
        return cls(
            len(given),
            sum((score - label) ** 2 for score, label in given) / len(given),
            calibration_error(scores, labels),
            errors[int(0.95 * DRAWS)],
            parts_of(scores, labels),
        )

    @property
    def is_off(self) -> bool:
        """Return whether the error is more than chance explains."""
        return self.error > self.chance

    @property
    def words(self) -> str:
        """Return what the figures mean, in a sentence."""
        means = "more than chance explains" if self.is_off else "within what chance explains"
        return (
            f"Probabilities of {self.pairs:,} pairs: Brier score {self.brier:.3f}, expected "
            f"calibration error {self.error:.3f}, {means} (up to {self.chance:.3f})."
        )

    def json_object(self) -> dict[str, Any]:
        """The figures as JSON."""
        return {
            "pairs": self.pairs,
            "brier": self.brier,
            "expected_calibration_error": self.error,
            "perfect_at_most": self.chance,
            "parts": [
                {
                    "from": one.start,
                    "to": round(one.start + 1 / PARTS, 1),
                    "pairs": one.pairs,
                    "said": one.said,
                    "supported": one.supported,
                }
                for one in self.parts
            ],
        }


def parts_of(scores: Sequence[float], labels: Sequence[bool]) -> tuple[Tenth, ...]:
    """The parts of the scale that have pairs; 1 belongs to the last one."""
    found: dict[int, list[tuple[float, bool]]] = {}
    for score, label in zip(scores, labels, strict=True):
        found.setdefault(min(int(score * PARTS), PARTS - 1), []).append((score, label))
    return tuple(
        Tenth(
            place / PARTS,
            len(some),
            sum(score for score, _ in some) / len(some),
            sum(label for _, label in some) / len(some),
        )
        for place, some in sorted(found.items())
    )


def calibration_error(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The mean distance of shares from what probabilities say, each part by its pairs."""
    parts = parts_of(scores, labels)
    return sum(one.pairs * abs(one.said - one.supported) for one in parts) / len(scores)
