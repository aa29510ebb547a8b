"""Verifications on the terminal: a table of verdicts, a trail as a tree, what a run cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.text import Text

from veritrail_graph.api.cli.terminal import table, verdict_words
from veritrail_graph.api.show.costs import UNKNOWN, cost_words, money_words
from veritrail_graph.api.show.terminal import SHORT, WHOLE, laid_out, tree
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.trail import Beside, shown
from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.verifications import stage_cell
from veritrail_graph.graph.model import Status, Verdict

if TYPE_CHECKING:
    from rich.table import Table
    from rich.tree import Tree

    from veritrail_graph.graph.model import Review, RunUsage, Usage, Verification
    from veritrail_graph.graph.model.attribution import CarriedSentence


_RANKS = {
    Verdict.FULLY_SUPPORTED: 0,
    Verdict.INCONCLUSIVE: 1,
    Verdict.NOT_FULLY_SUPPORTED: 3,
}
_WITHOUT_VERDICT = {Status.UNDECIDED: 2}
_FAILED = 4
COLUMNS_LEFT_OUT = ("verification", "output", "input", "calls")
"""Columns of a run that a narrow terminal leaves out, the first ones first."""


def show_results(verifications: Sequence[Verification]) -> None:
    """One line a claim: claim_id, verdict, stage, cost and text; what needs attention comes last.

    That is nearest to the prompt. Calls, tokens and the id of the verification are shown where
    there is room.
    """
    has_cost = any(one.usage.calls or one.usage.cached_calls for one in verifications)
    columns = ("claim_id", "verdict", "stage")
    counts = ("calls", "input", "output", "cost") if has_cost else ()
    rows: list[list[str | Text]] = []
    for one in sorted(verifications, key=attention):
        spent: list[str] = []
        if has_cost:
            usage = one.usage
            numbers = (usage.calls, usage.input_tokens, usage.output_tokens)
            spent = [*(f"{number:,}" for number in numbers), cost_words(usage)]
        verdict = Text(*verdict_words(one.verdict, one.status))
        texts = (one_line(one.claim), one.verification_id)
        rows.append([one.claim_id, verdict, stage_cell(one), *spent, *texts])
    names = (*columns, *counts, "claim", "verification")
    table(names, rows, counts, ["claim"], COLUMNS_LEFT_OUT)


def attention(one: Verification) -> int:
    """Return how much a result needs attention; failures the most."""
    if one.verdict is not None:
        return _RANKS[one.verdict]
    return _WITHOUT_VERDICT.get(one.status, _FAILED)


def trail_tree(
    verification: Verification,
    *,
    whole: bool = True,
    carried: Sequence[CarriedSentence] = (),
    reviews: Sequence[Review] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> Tree:
    """Show a verification with its trail on the terminal.

    Args:
        verification: The verification.
        whole: Show everything; else details are left out, and long lists say how much is.
        carried: What its error nodes did with their sources, as far as that was attributed.
        reviews: Reviews of its claim, newest first.
        names: What people call its nodes, by node_id.
    """
    beside = Beside(reviews=reviews, names=names)
    document = shown(trail_view(verification, carried=carried), beside)
    return tree(document, WHOLE if whole else SHORT)


_COUNTS = ("calls", "from cache", "input", "cached input", "output")


def cost_table(
    verifications: Sequence[Verification], spent: RunUsage, explained: Usage | None = None
) -> Table:
    """Say what a run cost, and a finished claim on average; what each claim cost is in its own row.

    Args:
        verifications: Those that the run made.
        spent: What the run cost, retries and extraction included.
        explained: What the attribution of the sentences cost that carried claims; None: there was
            none.
    """
    rows: list[list[str | Text]] = []
    if explained is not None and (explained.calls or explained.cached_calls):
        rows.append(["error nodes", *_counts(explained), cost_words(explained)])
    number = len(verifications)
    label = f"{number:,} claim{'' if number == 1 else 's'}"
    rows.append([Text(label, style="bold"), *_counts(spent.usage), cost_words(spent.usage)])
    if spent.finished:
        average = _average(spent.usage, spent.finished)
        rows.append([Text("average", style="bold"), *average])
    numbers = (*_COUNTS, "cost")
    return laid_out(("this run", *numbers), rows, right=numbers)


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
