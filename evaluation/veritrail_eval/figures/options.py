"""Options of figures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from veritrail_graph.graph.errors import InputError

RESAMPLES = 1_000
ROOT_STAGE = 1


class Inconclusive(StrEnum):
    """A treatment of claims that are called Inconclusive. Source: VeriTrail footnote 7.

    `correct` and `incorrect` are the two checks of the footnote.
    """

    ANY = "any"
    OWN = "own"
    NOT_SUPPORTED = "not-supported"
    CORRECT = "correct"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Resampling:
    """Options of the resampling that gives intervals.

    Attributes:
        resamples: How often the units are drawn anew.
        seed: What the draws follow from: the same seed gives the same intervals.
    """

    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise InputError(f"--resamples {self.resamples}: there must be at least one")
