"""Verdicts from a scorer: an NLI model, or a checker such as MiniCheck, in the prompt's place.

A scorer is any callable that is given a claim and a text and says how likely the text is to
entail or to contradict it. Evidence selection stays as it is.

Source: VeriTrail G (the verdict step is modular), 4.2 (NLI baselines).
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from veritrail_graph.graph.model import Claim, Verdict
from veritrail_graph.verifier.bill import Bill
from veritrail_graph.verifier.ports import Found, JudgeError, Judgement
from veritrail_graph.verifier.verdict import in_frontier_order, summaries_of

Probabilities = Mapping[str, float]
"""`entailment` and, where the scorer tells it, `contradiction`: each from 0 to 1."""

Scorer = Callable[[str, str], Probabilities | Awaitable[Probabilities]]
"""(claim, evidence) to probabilities."""


@dataclass(frozen=True, slots=True)
class ScoredVerdict:
    """Gives verdicts by a scorer: each piece of evidence is scored, the strongest decides.

    Fully Supported when a piece entails the claim; Inconclusive when another contradicts it
    at the same time; else Not Fully Supported. The score is the highest entailment.

    Attributes:
        score: The scorer.
        name: What it is called, for the trail.
        threshold: From which probability on it counts.
    """

    score: Scorer
    name: str
    threshold: float = 0.5

    @property
    def settings(self) -> dict[str, object]:
        """What decides the verdicts, as JSON."""
        return {"scorer": self.name, "threshold": self.threshold}

    async def judge(self, claim: Claim, found: Found, bill: Bill) -> Judgement:
        """Give a verdict from the strongest piece of evidence.

        Raises:
            JudgeError: The scorer failed, or gave no probabilities.
        """
        del bill
        pieces = [root.text for root in in_frontier_order(found.roots)] + summaries_of(found)
        scores = [await self._scored(claim.text, piece) for piece in pieces]
        entailed = _strongest(scores, "entailment")
        denied = _strongest(scores, "contradiction")
        verdict = _verdict(entailed >= self.threshold, denied >= self.threshold)
        reason = (
            f"{self.name}: of {len(pieces)} piece(s) of evidence the strongest entails the claim "
            f"at {entailed:.2f}, the strongest against it contradicts it at {denied:.2f} "
            f"(threshold {self.threshold:.2f})"
        )
        return Judgement(verdict, reason, entailed)

    async def _scored(self, claim: str, evidence: str) -> Probabilities:
        try:
            if inspect.iscoroutinefunction(self.score):
                scored = await self.score(claim, evidence)
            else:  # a model on this machine: the event loop goes on meanwhile
                scored, fault = await asyncio.to_thread(self._called, claim, evidence)
                if fault is not None:
                    raise fault
                if inspect.isawaitable(scored):
                    scored = await scored
        except Exception as error:  # somebody else's code: its fault is this claim's
            raise JudgeError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        if not isinstance(scored, Mapping) or not _is_probability(scored.get("entailment")):
            raise JudgeError(f"{self.name} gave no probability `entailment` from 0 to 1")
        if not _is_probability(scored.get("contradiction", 0.0)):
            raise JudgeError(f"{self.name} gave no probability `contradiction` from 0 to 1")
        return scored

    def _called(self, claim: str, evidence: str) -> tuple[Any, Exception | None]:
        """The result or the fault: a future cannot take every exception (StopIteration)."""
        try:
            return self.score(claim, evidence), None
        except Exception as error:  # noqa: BLE001  # raised again by whoever waits
            return None, error


def _strongest(scores: Sequence[Probabilities], name: str) -> float:
    return max((float(score.get(name, 0.0)) for score in scores), default=0.0)


def _verdict(supported: bool, denied: bool) -> Verdict:
    if supported:
        return Verdict.INCONCLUSIVE if denied else Verdict.FULLY_SUPPORTED
    return Verdict.NOT_FULLY_SUPPORTED


def _is_probability(value: object) -> bool:
    """Whether a value is a number from 0 to 1; those of NumPy count, a bool does not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return 0.0 <= float(value) <= 1.0  # NaN is not
