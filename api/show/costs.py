"""Numbers, calls, tokens and money in words; an unknown price is never shown as 0.

Source: VeriTrail D (computational cost); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import StepRecord, Usage, Verification

UNKNOWN = "unknown"
"""What is shown for a cost that is not known; it is never 0."""


def share_words(share: float) -> str:
    """A share of the nodes of a process, in words."""
    percent = 100 * share
    return f"{percent:.2g} % of the nodes" if percent < 10 else f"{percent:.0f} % of the nodes"


def cost_words(usage: Usage) -> str:
    """A cost in dollars; `unknown` where the price of any call is not known."""
    if usage.cost_usd is not None:
        return money_words(usage.cost_usd)
    # Of a shared call, which counts for one claim, others have a part of the tokens alone.
    is_free = not (usage.calls or usage.unpriced_calls or usage.output_tokens)
    return money_words(0.0) if is_free else UNKNOWN


def money_words(dollars: float) -> str:
    """An amount of dollars, with as many digits as a single call needs."""
    if dollars == 0:
        return "$0"
    if dollars < 0.0001:
        return "< $0.0001"
    return f"${dollars:,.4f}" if dollars < 1 else f"${dollars:,.2f}"


def way_words(way: str, share: int = 1) -> str:
    """A way to ask as a person says it."""
    together = f"shared prompts of {share}"
    return {
        "live": "live",
        "cached_prefixes": "live, cached prefixes",
        "batch": "in batches",
        "shared": together,
        "shared_batch": f"{together}, in batches",
        "cascade": "cascade of two judges",
        "shared_batch_cascade": f"{together}, in batches, cascade",
    }[way]


def step_words(step: str) -> str:
    """The name of a step as a person says it."""
    return step.replace("sub_claim", "sub-claim").replace("_", " ")


def usage_words(usage: Usage) -> str:
    """Calls, tokens and money on one line."""
    if not (usage.calls or usage.cached_calls):
        return "no call"
    in_batches = f" ({usage.batch_calls:,} in batches)" if usage.batch_calls else ""
    parts = [counted(usage.calls, "call") + in_batches]
    if usage.cached_calls:
        parts.append(f"{usage.cached_calls:,} from the cache of answers")
    cached = usage.cached_input_tokens
    parts.append(
        f"{usage.input_tokens:,} input tokens" + (f" ({cached:,} cached)" if cached else "")
    )
    thought = usage.reasoning_tokens
    parts.append(
        f"{usage.output_tokens:,} output tokens" + (f" ({thought:,} reasoning)" if thought else "")
    )
    parts.append(f"cost {cost_words(usage)}")
    return ", ".join(parts)


NOTHING_ASKED = "no model was asked"
NOTHING_ANSWERED = "no model has answered"
RECORDED = "nothing: the answers were recorded before"
ALL_CACHED = "nothing, all from the cache"


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of some calls to models, and whether it is known.

    Attributes:
        usage: The figures.
        known: Whether the price of every call is known; where nothing was asked, that is so too.
        asked: Whether any model was asked.
        modelled: Whether models judge here at all, also where none has answered yet.
    """

    usage: Usage
    known: bool
    asked: bool
    modelled: bool = False

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None where they are not known."""
        if not self.asked:
            return 0.0
        return self.usage.cost_usd if self.known else None

    @property
    def words(self) -> str | None:
        """Return what to say in place of a sum; None where there is a sum."""
        if not self.asked:
            if self.usage.cached_calls:
                return ALL_CACHED
            if self.usage.cost_usd is not None and self.modelled:
                return RECORDED  # there were answers, and none of them was a call
            return NOTHING_ANSWERED if self.modelled else NOTHING_ASKED
        return None if self.known else UNKNOWN


@dataclass(frozen=True, slots=True)
class StepCost:
    """The cost of the steps of one kind.

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


def spent(usage: Usage, *, modelled: bool, unmetered: bool = False) -> Spent:
    """Return what calls came to.

    Args:
        usage: The figures; that there are none does not say that no model was asked.
        modelled: Whether models judge here.
        unmetered: Whether a model gave a verdict that does not say what it took.
    """
    is_metered = bool(usage.calls or usage.unpriced_calls or usage.cost_usd or usage.output_tokens)
    if not is_metered and not unmetered:
        return Spent(usage, known=True, asked=False, modelled=modelled)
    known = usage.cost_usd is not None and not usage.unpriced_calls and not unmetered
    return Spent(usage, known, True, modelled)


def spent_by(verification: Verification) -> Spent:
    """Return what a verification came to."""
    usage, is_modelled = verification.usage, not verification.indicative
    is_silent = usage.cost_usd is None and not (
        usage.calls or usage.cached_calls or usage.output_tokens
    )
    has_verdict = verification.verdict is not None
    unmetered = is_modelled and has_verdict and is_silent
    return spent(usage, modelled=is_modelled, unmetered=unmetered)


def spent_together(verifications: Sequence[Verification], usage: Usage) -> Spent:
    """Return what several verifications came to, where `usage` is their sum."""
    each = [spent_by(one) for one in verifications]
    unmetered = any(one.asked and not one.usage.calls and not one.known for one in each)
    return spent(usage, modelled=any(one.modelled for one in each), unmetered=unmetered)


def by_step(steps: Iterable[StepRecord]) -> tuple[StepCost, ...]:
    """Say what a verification spent, by step, model and prompt, in the order in which they came."""
    found: dict[tuple[str, str, str], Usage] = {}
    for step in steps:
        key = (step.step, step.model, step.prompt)
        found[key] = found.get(key, Usage()) + step.usage
    return tuple(
        StepCost(_headed(step_words(name)), model, prompt, spent(usage, modelled=True))
        for (name, model, prompt), usage in found.items()
    )


def _headed(words: str) -> str:
    return words[:1].upper() + words[1:]
