"""A comparison of the verdicts of a judge that chooses, with its options in both orders."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Claim, Usage, Verdict
from veritrail_graph.verifier.decisions.steps import DecisionVerdict
from veritrail_graph.verifier.judge import LanguageModelJudge, SplitJudge
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judge, Judgement, ReadNode, Selection


@dataclass(slots=True)
class TurnedChoices:
    """The verdicts on the same evidence with the options in both orders.

    Attributes:
        verdicts: Each verdict with that of the other order.
        difference: The most by which the probability of Fully Supported differs.
        meter: Records what the other order costs.
    """

    verdicts: list[tuple[Verdict | None, Verdict | None]] = field(default_factory=list)
    difference: float = 0.0
    meter: Meter = field(default_factory=Meter)

    @property
    def same(self) -> int:
        """Return how many are the same."""
        return sum(one is other for one, other in self.verdicts)

    @property
    def usage(self) -> Usage:
        """Return what the other order cost."""
        return self.meter.total

    @property
    def words(self) -> str:
        """Return what the comparison found, in a sentence."""
        of = len(self.verdicts)
        return (
            f"With the options in the reverse order {self.same:,} of {of:,} verdicts are the same "
            f"({100 * self.same / of:.0f} %); the probability of Fully Supported differs by "
            f"{self.difference:.2f} at most."
        )

    def json_object(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "verdicts": len(self.verdicts),
            "same": self.same,
            "largest_difference": self.difference,
            "usage": self.usage.json_object(),
        }


@dataclass(frozen=True, slots=True)
class TurningJudge:
    """A judge that is asked for each verdict once more, with the options in the reverse order.

    Attributes:
        asked: The judge, whose verdicts count.
        other: Its verdicts with turned options.
        turned: The comparison.
    """

    asked: Judge
    other: DecisionVerdict
    turned: TurnedChoices = field(default_factory=TurnedChoices)

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self.asked.name

    @property
    def model(self) -> str | None:
        """Name of the model."""
        return self.asked.model

    @property
    def indicative(self) -> bool:
        """Return whether words are compared only."""
        return self.asked.indicative

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the judge."""
        return self.asked.settings

    def sub_claims(self, claim: Claim, meter: Meter) -> Coroutine[Any, Any, tuple[str, ...]]:
        """Those that the judge finds."""
        return self.asked.sub_claims(claim, meter)

    def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Coroutine[Any, Any, Selection]:
        """Select evidence as the judge does."""
        return self.asked.select_evidence(claim, nodes, meter)

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict, and compare it; a fault of the other order is no comparison."""
        first = await self.asked.judge(claim, found, meter)
        try:
            other = await self.other.judge(claim, found, self.turned.meter)
        except VeriTrailError:
            return first
        self.turned.verdicts.append((first.verdict, other.verdict))
        if first.score is not None and other.score is not None:
            gap = abs(first.score - other.score)
            self.turned.difference = max(self.turned.difference, gap)
        return first


def turning(judge: Judge) -> TurningJudge | None:
    """Return a judge that compares both orders of the options; None: it does not choose."""
    last = judge.verdicts if isinstance(judge, SplitJudge) else judge
    verdicts = last.verdicts if isinstance(last, LanguageModelJudge) else None
    if not isinstance(verdicts, DecisionVerdict):
        return None
    return TurningJudge(judge, replace(verdicts, is_turned=True))
