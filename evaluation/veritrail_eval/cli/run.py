"""`veritrail eval run`: a matrix of data sets and methods, judged claim by claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_eval.cli.estimating import (
    estimate_json,
    estimated,
    likely_cost,
    show_estimate,
    tell_before,
)
from veritrail_eval.cli.report import show_report
from veritrail_graph.api.cli.exits import INTERRUPTED, NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.api.cli.exits import run as run_work
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    Concurrency,
    MaxCalls,
    NoCache,
    Price,
    model_options,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say
from veritrail_graph.api.show.texts import clean, one_line

if TYPE_CHECKING:
    from veritrail_eval.app.runs import MatrixWork
    from veritrail_eval.runs.summary import RunSummary
    from veritrail_graph.graph.model import Usage

MatrixFile = Annotated[
    Path, typer.Argument(metavar="MATRIX", help="A TOML file of data sets and methods.")
]
OutputFolder = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="DIR", help="Where outcomes and the report are kept."),
]

Estimate = Annotated[
    bool, typer.Option("--estimate", help="Say what it would cost, and judge nothing.")
]
INTERRUPTION = "Interrupted. What was judged is kept; the same command goes on."
EARLY = "Interrupted before anything was judged."


def run(
    matrix: MatrixFile,
    output: OutputFolder,
    estimate: Estimate = False,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
    no_cache: NoCache = False,
    concurrency: Concurrency = None,
    as_json: AsJson = False,
) -> None:
    """Run methods on data sets, and report how right each one is.

    What has an outcome in DIR is not judged again, so a run that was stopped goes on where it
    ended, and a matrix may grow. What failed is tried again.
    """
    from veritrail_eval.app.runs import MatrixWork
    from veritrail_graph.api.settings import Settings

    reading = MatrixWork.read(Settings(), matrix, output, model_options(locals()))
    work = run_work(reading, as_json=as_json, interruption=EARLY)
    if estimate:
        likely = run_work(estimated(work), as_json=as_json, interruption=EARLY)
        if as_json:
            print_json(estimate_json(output, likely))
        else:
            show_estimate(likely)
        return
    tell_before(run_work(likely_cost(work), as_json=as_json, interruption=EARLY), budget)
    read_here: list[str] = []  # empty: the run was refused before it had the folder
    try:
        summary = run_work(
            _run(work, read_here),
            as_json=as_json,
            interruption=INTERRUPTION,
        )
    except Exit as ended:
        if not read_here:
            raise
        if ended.status == INTERRUPTED:  # at once
            say(f"veritrail eval report {output} reports what is judged so far.", "yellow")
        else:
            _report_what_is_there(output)
        raise
    found = _report(output)
    document = _document(output, summary) | {
        "report": found["report"],
        "configurations": found["configurations"],
    }
    if as_json:
        print_json(document)
    else:
        _tell(document)
        _tell_spent(summary.spent)
        show_report(found)
    if summary.unfinished:
        raise Exit(NOT_ALL_SUCCEEDED)


async def _run(work: MatrixWork, read_here: list[str]) -> RunSummary:
    with long_work() as bar:

        def loaded(dataset: str, short: str | None) -> None:
            read_here.append(dataset)
            if short is not None:
                say(f"{one_line(clean(dataset))}: {short}", "yellow")

        def update(what: str, done: int, of: int, failed: int) -> None:
            bar.update(what, done, of, f"{failed} without a verdict" if failed else "")

        return await work.run(loaded, update, lambda message: say(message, "yellow"))


def _report(output: Path) -> dict[str, Any]:
    """Write the report, with the options of the last one in the folder."""
    from veritrail_eval.reports.writing import options_of, write_report

    return write_report(output, options_of(output))


def _report_what_is_there(output: Path) -> None:
    """After a run that was stopped: a report of what it has judged, if it has begun."""
    from veritrail_eval.app.runs import holds_run
    from veritrail_graph.graph.errors import InputError

    if not holds_run(output):
        return
    try:
        found = _report(output)
    except InputError as error:
        say(f"There is no report: {error}", "yellow")
        return
    say(f"What is judged so far is reported in {found['report']}.", "yellow")


def _document(output: Path, summary: RunSummary) -> dict[str, Any]:
    spent = summary.spent
    return {
        "directory": str(output),
        "judged": summary.judged,
        "known": summary.known,
        "unfinished": {status.value: count for status, count in summary.unfinished.items()},
        "spent": {
            "calls": spent.calls,
            "cached_calls": spent.cached_calls,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "cost_usd": spent.cost_usd if spent.calls else 0.0,
        },
    }


def _tell(document: dict[str, Any]) -> None:
    known = f", {document['known']:,} were there already" if document["known"] else ""
    where = f"they are in the folder {document['directory']}"
    say(f"{document['judged']:,} outcomes{known}; {where}.", "bold")
    for status, count in document["unfinished"].items():
        say(f"{count:,} ended as {status.replace('_', ' ')}; run it again to try them.", "yellow")


def _tell_spent(usage: Usage) -> None:
    """Say what the run cost in all, on stderr."""
    from veritrail_graph.api.show.costs import cost_words

    if not usage.calls and not usage.cached_calls:
        say("No model was called.", "dim")
        return
    cached = f" and {usage.cached_calls:,} from the cache" if usage.cached_calls else ""
    tokens = usage.input_tokens + usage.output_tokens
    say(f"This run: {usage.calls:,} calls{cached}, {tokens:,} tokens, {cost_words(usage)}.", "dim")
