"""Numbers of things, calls, tokens and money in words, said once for reports and terminals.

Source: VeriTrail D (computational cost).
"""

from __future__ import annotations

from veritrail_graph.graph.model import Usage

UNKNOWN = "unknown"
"""What stands for a cost that is not known; it is never 0."""


def counted(number: int, what: str) -> str:
    """A number of things: `1 claim`, `2 claims`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cost_words(usage: Usage) -> str:
    """A cost in dollars; `unknown` where the price of any call is not known."""
    if usage.cost_usd is not None:
        return money_words(usage.cost_usd)
    is_free = usage.calls == 0 and not usage.unpriced_calls
    return money_words(0.0) if is_free else UNKNOWN


def money_words(dollars: float) -> str:
    """An amount of dollars, with as many digits as a single call needs."""
    if dollars == 0:
        return "$0"
    if dollars < 0.0001:
        return "< $0.0001"
    return f"${dollars:,.4f}" if dollars < 1 else f"${dollars:,.2f}"


def step_words(step: str) -> str:
    """The name of a step as a person says it."""
    return step.replace("sub_claim", "sub-claim").replace("_", " ")


def usage_words(usage: Usage) -> str:
    """Calls, tokens and money on one line."""
    parts = [counted(usage.calls, "call")]
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
