"""`veritrail eval study`: how long readers took and how right they were, by what they saw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veritrail_eval.cli.options import say_reasons, shown_figure
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table

_FIGURES = (
    "mean_seconds", "median_seconds", "mean_seconds_faithful", "mean_seconds_unfaithful",
    "balanced_accuracy", "balanced_accuracy_decided",
)  # fmt: skip
_TITLES = ("seconds", "median", "faithful", "unfaithful", "balanced accuracy", "decided")


def study(
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS…", help="The answers of studies (CSV of their pages)."),
    ],
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The labels that are right: a file as GOLD of `eval attribution`."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write the table as CSV."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare readers who saw sources plain and highlighted.

    Figures are the seconds a sentence took and, with --gold, the balanced accuracy of the readers'
    labels, and the time by the right label. What a reader is unsure of counts as faithful, as in
    the paper; its accuracy without these answers stands beside it.
    """
    from veritrail_eval.app.attribution import score_study

    found, written = score_study(answers, gold, output)
    document = found.as_json()
    for path in written:
        say(f"Wrote {path}")
    if as_json:
        print_json(document)
        return
    rows = [
        [
            one["mode"],
            *(f"{one[name]:,}" for name in ("answers", "readers", "unsure")),
            *(shown_figure(one[name]) for name in _FIGURES),
        ]
        for one in document["modes"]
    ]
    columns = ("mode", "answers", "readers", "unsure", *_TITLES)
    table(columns, rows, right=columns[1:])
    saved = document["seconds_saved"]
    if saved is not None:
        words = f"{abs(saved):.0%} {'less' if saved >= 0 else 'more'}"
        say(f"With highlights a sentence took {words} time than without.")
    for one in document["modes"] if gold is not None else ():
        say_reasons(one, f"{one['mode']}, ")
    if gold is not None and found.unknown:
        say(f"{found.unknown:,} answer(s) are about sentences whose right label is not known.",
            "yellow")  # fmt: skip
