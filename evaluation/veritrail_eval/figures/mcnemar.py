"""McNemar's test: two methods on the same claims, and whether their errors differ.

Ours; the paper has no such test.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, erfc, sqrt
from typing import Literal

from veritrail_eval.figures.figure import Figure, missing

EXACT_UP_TO = 1_000
"""Claims that only one method has right; beyond these the chi-squared approximation is as good."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """The test of two methods on the claims that both were scored on.

    Attributes:
        b: Claims that only the first method has right.
        c: Claims that only the second method has right.
        claims: Claims that both were scored on; None: not counted, and there are some.
        unit: What is scored in place of claims, such as `turn`.
    """

    b: int
    c: int
    claims: int | None = None
    unit: str = "claim"

    @property
    def test(self) -> Literal["exact", "chi2"]:
        """The exact binomial test, or chi-squared with continuity correction."""
        return "exact" if self.b + self.c <= EXACT_UP_TO else "chi2"

    @property
    def p_value(self) -> Figure:
        """Return how likely a difference at least as large is by chance."""
        if self.claims == 0:
            return missing(f"no {self.unit} is scored for both methods")
        if self.b + self.c == 0:
            return missing(f"both methods are right and wrong on the same {self.unit}s")
        return Figure(exact(self.b, self.c) if self.test == "exact" else chi2(self.b, self.c))


def exact(b: int, c: int) -> float:
    """The two-sided p-value of the binomial test of b among b + c, each equally likely."""
    least = sum(comb(b + c, k) for k in range(min(b, c) + 1))
    return min(1.0, least / (1 << (b + c - 1)))


def chi2(b: int, c: int) -> float:
    """The p-value of (|b - c| - 1)^2 / (b + c) with one degree of freedom."""
    return erfc(sqrt((abs(b - c) - 1) ** 2 / (b + c) / 2))
