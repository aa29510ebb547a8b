"""`veritrail eval report`: figures and tables of a run, from its folder alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from veritrail_eval.cli.options import Resamples, Seed, shown_figure
from veritrail_eval.figures.options import Inconclusive
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line

RunFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder that veritrail eval run wrote into.")
]
Costs = list[str] | None


def report(
    folder: RunFolder,
    inconclusive: Annotated[
        Inconclusive,
        typer.Option(
            help="A claim called inconclusive leaves all methods of a table, or its own, or "
            "counts as not supported, correct or incorrect."
        ),
    ] = Inconclusive.ANY,
    human_cost: Annotated[
        Costs,
        typer.Option(
            "--human-cost",
            metavar="USD",
            help="What a person's judgement of a claim costs, such as 2.41, 1350/560 (a total and "
            "its claims) or NAME=2.41 for one data set; may be repeated.",
        ),
    ] = None,
    extraction_cost: Annotated[
        Costs,
        typer.Option(
            "--extraction-cost",
            metavar="USD",
            help="What the extraction of a claim cost, in the same forms; may be repeated.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="LABEL",
            help="Compare methods with this label alone, such as those of one table of the "
            "paper; may be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="OTHER", help="Write into this folder in place of DIR."
        ),
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 1_000,
    as_json: AsJson = False,
) -> None:
    """Report a run: tables, heat maps, cost, error stages.

    Written into DIR are report.html, report.md, figures.csv, verdicts.csv, report.json.
    """
    from veritrail_eval.reporting.options import ReportOptions
    from veritrail_eval.reports.writing import write_report

    options = ReportOptions(
        inconclusive=inconclusive,
        seed=seed,
        resamples=resamples,
        human_cost=tuple(human_cost or ()),
        extraction_cost=tuple(extraction_cost or ()),
        only=tuple(only or ()),
    )
    document = write_report(folder, options, output)
    if as_json:
        print_json(document)
    else:
        show_report(document)


def show_report(document: Mapping[str, Any]) -> None:
    """Print the best configurations of a report, and where its files are."""
    rows = [
        [
            one_line(clean(one["dataset"])),
            one_line(clean(_title(one))),
            f"{one['scored']:,} of {one['claims']:,}",
            shown_figure(one["macro_f1"]),
            shown_figure(one["balanced_accuracy"]),
            shown_figure(one["auroc"]),
            "-" if one["cost_per_claim"] is None else f"{one['cost_per_claim']:.4f}",
        ]
        for one in document["configurations"]
        if one["best_of_method"]
    ]
    columns = ("data set", "best configuration", "scored", "F1", "BA", "AUROC", "$/claim")
    table(columns, rows, right=columns[2:])
    for dataset in document["datasets"]:
        say(one_line(dataset["summary"]))
    for kind, words in (("stale", "have changed since"), ("foreign", "are not in the matrix")):
        count = document["lines_left_out"][kind]
        if count:
            say(f"{count:,} outcomes are about claims or configurations that {words}.", "yellow")
    say(f"The report is {document['report']}.", "bold")


def _title(one: Mapping[str, Any]) -> str:
    return f"{one['title']} (indicative)" if one["indicative"] else str(one["title"])
