"""`veritrail eval corrections`: what became of corrections, by what the corrector saw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from veritrail_eval.cli.options import say_reasons, shown_figure
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.model.attribution import RevisionOutcome, SourceMode

RANKS = len(SourceMode)
NAMED = 10
"""Sentences without a correction that are named."""


def corrections(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Tables of id, mode, outcome, edits (and rank), or runs of `veritrail attribute "
            "--json`.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Write the table (CSV) and plots (SVG)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare corrections by what the corrector saw.

    Figures are the shares fixed, partly and not, and relative ranks. The corrections of a sentence
    in all modes are ranked by outcome (fixed, partly, not), then by the number of edits; equal ones
    share a rank, and the next one is left out. A table may have the column model; models are ranked
    apart. In the column rank stand the ranks that people gave; they count in place of these.
    """
    from veritrail_eval.app.attribution import compare_corrections

    found, missing, written = compare_corrections(files, RANKS, output)
    documents = [one.as_json(RANKS) for one in found]
    for path in written:
        say(f"Wrote {path}")
    if as_json:
        print_json({"corrections": documents, "missing": missing})
        return
    names = [*(one.value for one in RevisionOutcome), *(f"rank_{n + 1}" for n in range(RANKS))]
    rows = [
        [
            one_line(clean(one["model"])),
            one["mode"],
            f"{one['corrections']:,}",
            *(shown_figure(one[name]) for name in (*names, "mean_edits")),
        ]
        for one in documents
    ]
    columns = ("model", "mode", "corrections", *names, "edits")
    table(columns, rows, right=columns[2:])
    for one in documents:
        say_reasons(one, f"{one_line(clean(one['model']))}, {one['mode']}, ")
    _say_what_is_not_ranked(documents)
    if missing:
        first = ", ".join(one_line(clean(one), 120) for one in missing[:NAMED])
        more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        say(f"{len(missing):,} sentence(s) lack a correction that failed: {first}{more}.", "yellow")


def _say_what_is_not_ranked(documents: list[dict[str, Any]]) -> None:
    left = sum(one["corrections"] - one["ranked"] for one in documents)
    if left:
        say(
            f"{left:,} correction(s) are not ranked: their sentences lack a correction, or an "
            "outcome, in another mode.",
            "yellow",
        )
