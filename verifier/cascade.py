"""Two judges for verdicts: a cheap one first, a strong one where it would matter.

Ours, opt in. The rule: the verdict of the first judge counts where it is Fully Supported and sure,
which means that every sample gave it. In every other case the second judge is asked about the
same evidence, and its verdict counts: where the first one would say Not Fully Supported, where it
says Inconclusive, where its samples differ, and where it has no valid answer.

Source: ours; docs/adr/0042-cascade.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from veritrail_graph.graph.model import Claim, Verdict
from veritrail_graph.verifier.models.port import (
    AnswerTooLong,
    Meter,
    NeverValid,
    RequestRejected,
)
from veritrail_graph.verifier.ports import Found, JudgeError, Judgement
from veritrail_graph.verifier.verdict import PromptVerdict

RULE = "unless fully supported and sure"
"""When the second judge is asked, as the settings of a trail have it."""
SURE_PROBABILITY = 0.95
"""From which probability on a first judge that gives one is sure."""
NO_ANSWER = (NeverValid, RequestRejected, AnswerTooLong, JudgeError)
"""Faults of the first judge that the second one may not have."""


@dataclass(frozen=True, slots=True)
class CascadeVerdict:
    """Gives verdicts by two judges.

    Attributes:
        first: Asked about everything.
        second: Asked where the first one is not sure that the claim is Fully Supported.
        sure_from: From which score on the first one is sure; 1: every sample gave the verdict.
    """

    first: PromptVerdict
    second: PromptVerdict
    sure_from: float = 1.0

    @property
    def settings(self) -> dict[str, object]:
        """Return what decides the verdicts, as JSON."""
        return {
            **self.first.settings,
            "escalate_to": {**self.second.settings, "rule": RULE, **self._sure},
        }

    @property
    def _sure(self) -> dict[str, float]:
        return {} if self.sure_from == 1.0 else {"sure_from": self.sure_from}

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict.

        Raises:
            VeriTrailError: None could be had.
        """
        first: Judgement | None = None
        try:
            first = await self.first.judge(claim, found, meter)
        except NO_ANSWER as error:
            why = f"no valid answer: {error}"
        else:
            why = first.reasoning
            if is_sure(first, self.sure_from):
                return replace(first, judged_by=self.first.step.model.model)
        return replace(
            await self.second.judge(claim, found, meter),
            judged_by=self.second.step.model.model,
            first_verdict=first.verdict if first is not None else None,
            first_reasoning=why,
        )


def is_sure(judgement: Judgement, sure_from: float = 1.0) -> bool:
    """Return whether a verdict of the first judge counts: Fully Supported, and sure."""
    is_agreed = judgement.score is None or judgement.score >= sure_from
    return judgement.verdict is Verdict.FULLY_SUPPORTED and is_agreed
