"""Print the likely cost of `veritrail eval run` before it asks anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.terminal import long_work, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import InputError, VeriTrailError

if TYPE_CHECKING:
    from veritrail_eval.app.estimate import EstimatedConfiguration, RunEstimate
    from veritrail_eval.app.runs import MatrixWork
    from veritrail_graph.graph.model import Usage


async def estimated(work: MatrixWork) -> RunEstimate:
    """The likely cost of what a run has to do; no model is asked.

    Raises:
        VeriTrailError: A data set, a parameter or a setting is wrong.
    """
    with long_work() as shown:
        return await work.estimate(shown.update)


async def likely_cost(work: MatrixWork) -> RunEstimate | None:
    """Return the same before a run; None where a method does not work with assumed answers.

    Raises:
        InputError: A data set, a parameter or a setting is wrong: the run could not be made.
    """
    try:
        return await estimated(work)
    except InputError:
        raise
    except VeriTrailError as error:
        say(f"What it will cost is not known before: {error}", "yellow")
        return None


def estimate_json(output: Path, estimate: RunEstimate) -> dict[str, Any]:
    """An estimate as JSON."""
    from veritrail_eval.app.estimate import assumptions

    return {
        "directory": str(output),
        "outcomes": estimate.claims,
        "known": estimate.known,
        "assumptions": assumptions(),
        "configurations": [_row_json(row) for row in estimate.rows],
        "total": _usage_json(estimate.usage),
        "notes": list(estimate.notes),
    }


def _row_json(row: EstimatedConfiguration) -> dict[str, Any]:
    return {
        "dataset": row.dataset,
        "configuration_id": row.configuration.configuration_id,
        "title": row.configuration.title,
        "claims": row.claims,
        **_usage_json(row.usage),
    }


def _usage_json(usage: Usage) -> dict[str, Any]:
    is_free = not usage.calls
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": 0.0 if is_free else usage.cost_usd,
    }


def show_estimate(estimate: RunEstimate) -> None:
    """Print an estimate as a table."""
    for note in estimate.notes:
        say(one_line(clean(note)), "yellow")
    if not estimate.rows:
        say("Nothing is left to judge, so nothing would be paid.", "bold")
        return
    say(f"{_about(estimate)}: an estimate, no call was made.", "bold")
    rows = [
        [row.dataset, row.configuration.title, f"{row.claims:,}", *_figures(row.usage)]
        for row in estimate.rows
    ]
    if len(rows) > 1:
        rows.append(["", "all", f"{estimate.claims:,}", *_figures(estimate.usage)])
    right = ("outcomes", "calls", "input", "output", "cost")
    table(("data set", "configuration", *right), rows, right=right)
    say(
        "Likely figures: a few claims of every process are judged with assumed answers, and "
        "scaled. Repeated calls, and answers that an earlier run or configuration has kept, are "
        "not counted apart. Models on this machine cost nothing.",
        "dim",
    )
    if estimate.usage.calls and estimate.usage.cost_usd is None:
        say("A price is not known, so neither is the cost; give it with --price.", "yellow")


def tell_before(estimate: RunEstimate | None, budget: float | None) -> None:
    """Say in a line what a run that asks paid models is likely to cost."""
    if estimate is None or not estimate.usage.calls:
        return
    say_likely(f"{_about(estimate)}: likely", estimate.usage, "configuration", budget)


def say_likely(about: str, usage: Usage, by: str, budget: float | None) -> None:
    """Say in a line what a run is likely to cost, and whether the budget is smaller.

    Args:
        about: What the line begins with.
        usage: The likely calls, tokens and money.
        by: What --estimate shows one by one.
        budget: USD that the run may cost; None: no limit.
    """
    from veritrail_graph.api.show.costs import cost_words

    tokens = usage.input_tokens + usage.output_tokens
    cost = "cost unknown" if usage.cost_usd is None else f"about {cost_words(usage)}"
    say(
        f"{about} {usage.calls:,} calls, {tokens:,} tokens, {cost}. --estimate shows it by {by}.",
        "dim",
    )
    if budget is not None and usage.cost_usd is not None and usage.cost_usd > budget:
        say("That is more than the budget: the run will stop on its way.", "yellow")


def _about(estimate: RunEstimate) -> str:
    return f"{estimate.claims:,} outcome{'' if estimate.claims == 1 else 's'} to judge"


def _figures(usage: Usage) -> list[str]:
    from veritrail_graph.api.show.costs import cost_words

    counts = (usage.calls, usage.input_tokens, usage.output_tokens)
    return [*(f"{count:,}" for count in counts), cost_words(usage)]
