"""What checks cost, in words: a price that is not known is said to be unknown, and is never 0.

Source: VeriTrail D (cost); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graph.model import StepRecord, Usage

UNKNOWN = "unknown"
NOTHING_ASKED = "no model was asked"


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls to models came to.

    Attributes:
        usage: The figures.
        known: Whether the price of every call is known; where nothing was asked, that is so too.
        asked: Whether any model was asked.
    """

    usage: Usage
    known: bool
    asked: bool

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None where they are not known."""
        if not self.asked:
            return 0.0
        return self.usage.cost_usd if self.known else None

    @property
    def words(self) -> str | None:
        """What to say in place of a sum; None where there is a sum."""
        if not self.asked:
            return NOTHING_ASKED
        return None if self.known else UNKNOWN


@dataclass(frozen=True, slots=True)
class StepCost:
    """What the steps of one kind came to.

    Attributes:
        name: The step in words.
        model: The model that was asked.
        prompt: Name and version of the prompt.
        spent: What it cost.
    """

    name: str
    model: str
    prompt: str
    spent: Spent


_STEPS = {
    "claim_selection": "Choosing sentences with claims",
    "claim_disambiguation": "Making claims unambiguous",
    "claim_decomposition": "Taking claims out of sentences",
    "sub_claim_decomposition": "Taking the claim apart",
    "evidence_selection": "Selecting evidence",
    "verdict": "Giving verdicts",
}


def spent(usage: Usage) -> Spent:
    """What calls came to."""
    asked = usage.calls > 0 or usage.unpriced_calls > 0
    if not asked and usage.cached_calls:
        return Spent(usage, known=True, asked=False)
    return Spent(usage, usage.cost_usd is not None and not usage.unpriced_calls, asked)


def by_step(steps: Iterable[StepRecord]) -> tuple[StepCost, ...]:
    """What a verification spent, by step, model and prompt, in the order in which they came."""
    found: dict[tuple[str, str, str], Usage] = {}
    for step in steps:
        key = (step.step, step.model, step.prompt)
        found[key] = found.get(key, Usage()) + step.usage
    return tuple(
        StepCost(_STEPS.get(name, name), model, prompt, spent(usage))
        for (name, model, prompt), usage in found.items()
    )
