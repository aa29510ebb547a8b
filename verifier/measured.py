"""The measured accuracy of engines without a model, shown beside their verdicts.

They are measured, not made: those of the 240 pairs by `veritrail judge check`, which a test does
again, those of public data sets as docs/judge-check.md says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import Verdict

__all__ = ["Measured", "Precision"]


@dataclass(frozen=True, slots=True)
class Precision:
    """The precision of one verdict: the share of its uses that were right.

    Attributes:
        given: How often it was given.
        right: How often people had labelled the claim so.
    """

    given: int
    right: int

    def json_object(self) -> dict[str, Any]:
        """Both counts and their share."""
        share = round(self.right / self.given, 3) if self.given else None
        return {"given": self.given, "right": self.right, "share": share}


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures measured of one engine.

    Attributes:
        pairs: The pairs of `veritrail judge check`.
        decided: How many of them it decides.
        balanced_accuracy: On those; None where so few are decided that it says nothing.
        claims: The claims of public data sets, with labels of people, that no rule was made on.
        claims_decided: How many of these it decides.
        precisions: How often each verdict on these is right.
    """

    pairs: int
    decided: int
    balanced_accuracy: float | None
    claims: int
    claims_decided: int
    precisions: Mapping[Verdict, Precision]

    def json_object(self) -> dict[str, Any]:
        """The figures as JSON: shares of the pairs, and of the public claims."""
        return {
            "balanced_accuracy": self.balanced_accuracy,
            "decided": round(self.decided / self.pairs, 3),
            "pairs": self.pairs,
            "public": {
                "claims": self.claims,
                "decided": round(self.claims_decided / self.claims, 3),
                "verdicts": {
                    verdict.value: found.json_object() for verdict, found in self.precisions.items()
                },
            },
        }

    @property
    def words(self) -> str:
        """Return the same in a sentence."""
        supported = self.precisions[Verdict.FULLY_SUPPORTED]
        unsupported = self.precisions[Verdict.NOT_FULLY_SUPPORTED]
        return (
            f"on {self.claims:,} public claims with labels of people it decides "
            f"{100 * self.claims_decided / self.claims:.0f} %; of these its Fully Supported is "
            f"right {supported.right:,} times of {supported.given:,}, its Not Fully Supported "
            f"{unsupported.right:,} of {unsupported.given:,}"
        )
