"""What claims cost, as a person reads it: a line a claim, a total, the average.

Source: VeriTrail D, Table 2 (average cost per claim).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from veritrail_graph.api.cli.terminal import verdict_words
from veritrail_graph.api.views.costs import UNKNOWN, cost_words, money_words
from veritrail_graph.api.views.texts import one_line
from veritrail_graph.graph.model import total_usage

if TYPE_CHECKING:
    from veritrail_graph.graph.model import Usage, Verification

_CLAIM_SHOWN = 60
_COUNTS = ("calls", "from cache", "input", "cached input", "output")


def cost_table(verifications: Sequence[Verification], most: int | None = None) -> Table:
    """What each claim cost, all together, and a claim on average.

    Args:
        verifications: The verifications of a run.
        most: Show at most so many claims, the first ones; None: all. The total counts all.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for name in (*_COUNTS, "cost"):
        table.add_column(name, justify="right", overflow="fold")
    shown = verifications if most is None else verifications[:most]
    for one in shown:
        words, style = verdict_words(one.verdict, one.status)
        claim = Text(one_line(one.claim, _CLAIM_SHOWN))
        table.add_row(claim, Text(words, style=style), *_counts(one.usage), cost_words(one.usage))
    if len(shown) < len(verifications):
        table.add_row(Text(f"… and {len(verifications) - len(shown):,} more", style="dim"))
    total = total_usage(verifications)
    number = len(verifications)
    label = f"{number:,} claim{'' if number == 1 else 's'}"
    table.add_section()
    table.add_row(Text(label, style="bold"), "", *_counts(total), cost_words(total))
    if number:
        table.add_row(Text("a claim on average", style="bold"), "", *_average(total, number))
    return table


def _counts(usage: Usage) -> list[str]:
    return [f"{count:,}" for count in _numbers(usage)]


def _numbers(usage: Usage) -> tuple[int, ...]:
    return (
        usage.calls,
        usage.cached_calls,
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.output_tokens,
    )


def _average(total: Usage, number: int) -> list[str]:
    """A claim's share of the total; unknown money stays unknown."""
    money = cost_words(total)
    if total.cost_usd is not None and money != UNKNOWN:
        money = money_words(total.cost_usd / number)
    return [*(f"{count / number:,.1f}" for count in _numbers(total)), money]
