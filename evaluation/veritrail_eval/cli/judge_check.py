"""`veritrail judge check`: how far to trust the judge that is configured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    UNREACHABLE,
    Exit,
    fault_json,
    run,
)
from veritrail_graph.api.cli.options import AsJson, judging, recording_settings, verify_request
from veritrail_graph.api.cli.terminal import long_work, print_json, say, show, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import indicative_words
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_eval.app.judge_check import JudgeChecked
    from veritrail_eval.judge_check.figures import Figures
    from veritrail_graph.api.app.estimation import Estimated
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.settings import Settings

Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only pairs of this kind; may be repeated."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Only so many pairs, taken from all kinds and labels alike."
    ),
]
PairsFile = Annotated[
    Path | None,
    typer.Option(
        "--pairs",
        metavar="FILE",
        help="Labelled pairs of your own: CSV or JSON Lines with source, claim and label.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write every verdict as CSV."),
]


@judging(
    "engine", "model", "claims_model", "selection_model", "verdict_model", "escalate_to",
    "verdict_engine", "budget", "max_calls", "price", "samples", "no_sub_claims", "share",
    "prompts", "effort", "structured", "no_cache", "recorded", "record", "concurrency",
)  # fmt: skip
def check(
    kind: Kinds = None,
    limit: Limit = None,
    pairs: PairsFile = None,
    output: Output = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what it would cost, and ask no model.")
    ] = False,
    *,
    as_json: AsJson = False,
    **how: Any,
) -> None:
    """Measure the judge on labelled pairs of source and claim: how often is it right?

    Every claim is verified as `veritrail verify` does it. Answers are cached: the same call again
    goes on where it was stopped. Nothing is stored in the graph.
    """
    from veritrail_graph.api.configured.judge import judge_options

    settings = recording_settings(how)
    request = verify_request("judge-check", how)
    options = judge_options(
        settings, request, prompts=how["prompts"], concurrency=how["concurrency"]
    )
    checking = _check(settings, options, (pairs, kind or (), limit), output, estimate, as_json)
    run(checking, as_json=as_json)


def _see_writable(path: Path) -> None:
    """See that a file can be written before anything is paid for.

    Raises:
        InputError: It cannot.
    """
    try:
        path.open("a").close()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None


async def _check(
    settings: Settings,
    options: JudgeOptions,
    chosen: tuple[Path | None, Sequence[str], int | None],
    output: Path | None,
    only_estimate: bool,
    as_json: bool,
) -> None:
    from veritrail_eval.app.judge_check import (
        JudgeCheck,
        asks_models,
        estimate_check,
        keep_figures,
        labelled_pairs,
    )
    from veritrail_graph.api.cli.watch import Watch

    pairs = labelled_pairs(*chosen)
    if output is not None:
        _see_writable(output)
    asks = asks_models(options)
    if asks and options.share > 1:
        say(
            "Every pair is verified twice, alone and with shared prompts. The estimate is that of "
            "the first time; the second takes less. --budget and --max-calls hold for both.",
            "dim",
        )
    if asks:
        estimated = await estimate_check(settings, options, pairs)
        say(_estimate_words(estimated), "dim")
    if only_estimate:
        _only_estimate(estimated if asks else None, len(pairs), as_json=as_json)
        return
    with long_work() as work:
        watch = Watch(work, "pairs")
        checking = JudgeCheck(
            settings,
            options,
            pairs,
            observer=watch.observer,
            begins=lambda one: watch.begins(one, len(pairs)),
        )
        done = await checking.carry_out()
    if output is not None:
        done.write(output)
    if chosen[0] is None and not chosen[1]:
        keep_figures(settings.home, done)
    if options.models.budget is not None and not asks:
        say("--budget has no effect: no language model is asked, so nothing is spent.", "dim")
    if as_json:
        document = done.json_object()
        if done.refusal is not None:
            document["error"] = fault_json(done.refusal)
        print_json(document)
    else:
        _tell(done)
    _end(done, interrupted=watch.interrupted)


def _estimate_words(estimated: Estimated) -> str:
    from veritrail_graph.api.show.costs import cost_words

    found = estimated.estimates
    low, likely, high = found.low.usage, found.likely.usage, found.high.usage
    cost = f"{cost_words(likely)} ({cost_words(low)} to {cost_words(high)})"
    if not estimated.is_priced:
        cost = "at a price that is not known (--price)"
    return (
        f"{estimated.claims:,} pairs take about {likely.calls:,} calls ({low.calls:,} to "
        f"{high.calls:,}) of {estimated.model}, {cost}: an estimate; cached answers cost nothing."
    )


def _only_estimate(estimated: Estimated | None, pairs: int, *, as_json: bool) -> None:
    """Print an estimate; None: no model would be asked."""
    if as_json:
        usages = None
        if estimated is not None:
            found = estimated.estimates
            usages = {
                name: one.usage.json_object()
                for name, one in (
                    ("low", found.low),
                    ("likely", found.likely),
                    ("high", found.high),
                )
            }
        print_json({"pairs": pairs, "estimate": usages})
    elif estimated is None:
        say(f"{pairs:,} pairs: no model would be asked, so they cost nothing.")


def _tell(done: JudgeChecked) -> None:
    from rich.text import Text

    from veritrail_graph.api.show.costs import cost_words
    from veritrail_graph.graph.counted import counted

    rows = [_cells(name, figures) for name, figures in done.kinds.items()]
    rows.append(_cells("all", done.figures))
    columns = (
        "pairs",
        "decided",
        "balanced accuracy",
        "95 % interval",
        "let pass",
        "flagged wrongly",
    )
    others = ("inconclusive", "undecided", "no verdict")
    heads = ("kind", *columns, *others)
    table(heads, rows, right=heads[1:], optional=(*others[::-1], "95 % interval", "pairs"))
    sentence = done.meaning
    judge, usage = done.judge.judge, done.usage
    name = judge.name if judge.model is None else f"{judge.name}, {judge.model}"
    show(Text(f"{name}: {sentence or 'no pair has a verdict, so nothing can be said of it.'}"))
    if done.reliability is not None:
        show(Text(done.reliability))
    _tell_calibration(done)
    if done.measured is not None:
        show(Text(f"Measured before: {done.measured.words}."))
    if done.turned is not None:
        usage = done.paid
    spent = f"{cost_words(usage)}, {counted(usage.calls, 'call')}"
    if usage.cached_calls:
        spent += f", {usage.cached_calls:,} answers from the cache"
    say(f"{counted(len(done.judged), 'pair')} in {done.seconds:,.1f} s: {spent}.")
    _tell_shared(done)
    say(
        "Let pass: unsupported claims called fully supported. Flagged wrongly: supported claims "
        "called not fully supported. A coin has a balanced accuracy of 0.50. Inconclusive verdicts "
        "and undecided pairs are left out of it. Undecided: the judge said that it cannot tell.",
        "dim",
    )
    for warning in done.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    if judge.indicative:
        say(f"Engine {judge.name}: {indicative_words(judge.name)}.", "yellow")


def _tell_calibration(done: JudgeChecked) -> None:
    """Print whether the probabilities of a judge are what they say, where it gives any."""
    from rich.text import Text

    found = done.calibration
    if found is not None:
        rows = [
            [one.words, f"{one.pairs:,}", f"{one.said:.2f}", f"{one.supported:.2f}", one.bar]
            for one in found.parts
        ]
        heads = ("probability", "pairs", "it says", "supported", "picture")
        table(heads, rows, right=heads[1:4])
        show(Text(found.words))
        say(
            "Picture: the bar is the share of these pairs that is supported, the mark | what the "
            "judge says. Bars that end at their marks are a judge whose probabilities hold.",
            "dim",
        )
    if done.turned is not None:
        show(Text(done.turned.words))


def _tell_shared(done: JudgeChecked) -> None:
    """Print the effect of shared prompts on evidence, verdicts and cost, where it was measured."""
    from veritrail_graph.api.show.costs import UNKNOWN, cost_words, money_words
    from veritrail_graph.graph.counted import counted

    if done.alone is None:
        return
    alone = done.alone
    rows = [
        [
            *_cells(name, one.figures),
            f"{one.usage.calls:,}",
            f"{one.usage.cached_calls:,}",
            cost_words(one.usage),
            UNKNOWN if one.cost_anew is None else money_words(one.cost_anew),
        ]
        for name, one in (
            ("a claim a prompt", alone),
            (f"up to {done.judge.how.share} claims a prompt", done),
        )
    ]
    figures = ("balanced accuracy", "95 % interval", "let pass", "flagged wrongly")
    columns = (
        "pairs",
        "decided",
        *figures,
        "inconclusive",
        "undecided",
        "no verdict",
        "calls",
        "from cache",
        "paid",
        "without cache",
    )
    left_out = ("inconclusive", "no verdict", "undecided", "95 % interval", "paid", "from cache")
    heads = ("the same pairs over the same sources", *columns)
    table(heads, rows, right=columns, optional=left_out)
    say(
        f"Paid for both: {cost_words(done.paid)}, {counted(done.paid.calls, 'call')}. The second "
        "time finds answers that the first one paid: compare the costs without cache, where an "
        "answer of the cache counts with the price of its tokens."
    )
    (evidence, selected), (verdict, judged) = done.selected_alike, done.judged_alike
    say(
        f"The same evidence for {evidence:,} of {selected:,} pairs, the same verdict for "
        f"{verdict:,} of {judged:,}. Shared prompts are ours; the paper asks about one claim a "
        "prompt."
    )


def _cells(name: str, figures: Figures) -> list[str]:
    accuracy, interval = figures.balanced_accuracy, figures.interval
    missed, flagged = figures.unsupported, figures.supported
    return [
        name,
        f"{figures.pairs:,}",
        f"{figures.scored:,}",
        "-" if accuracy is None else f"{accuracy:.2f}",
        "-" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}",
        f"{missed.wrong:,} of {missed.answered:,}",
        f"{flagged.wrong:,} of {flagged.answered:,}",
        f"{figures.inconclusive:,}",
        f"{figures.undecided:,}",
        f"{figures.no_verdict:,}",
    ]


def _end(done: JudgeChecked, *, interrupted: bool) -> None:
    """End the command with the status of the contract.

    Raises:
        Exit: Unless every pair has a result.
    """
    left = done.unfinished
    again = "The same call again goes on: answers that came are cached."
    if done.refusal is not None:
        say(f"Error: the check was stopped: {one_line(str(done.refusal))}", "bold red")
    if interrupted:
        say(f"Interrupted: {len(left)} pair(s) have no verdict. {again}", "yellow")
        raise Exit(INTERRUPTED)
    if done.refusal is not None:
        raise Exit(UNREACHABLE)
    if left:
        reason = one_line(left[0].error or "")
        say(f"{len(left)} pair(s) have no verdict: {reason}. {again}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)
