"""`veritrail eval agreement`: how far annotators agree, from a table of their labels."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from veritrail_graph.api.cli.evaluation.options import (
    Resamples,
    Seed,
    TableFile,
    WithIntervals,
    say_reasons,
    shown_figure,
)
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.evaluation.figures.bootstrap import Resampling


class Scale(StrEnum):
    """Whether the order of labels counts."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"


def agreement(
    file: TableFile,
    level: Annotated[
        Scale, typer.Option(help="Whether any two labels differ equally, or have an order.")
    ] = Scale.NOMINAL,
    order: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help="Labels from lowest to highest; default: numbers and verdicts have an order.",
        ),
    ] = "",
    with_intervals: WithIntervals = False,
    seed: Seed = 0,
    resamples: Resamples = 1_000,
    as_json: AsJson = False,
) -> None:
    """Measure agreement: Krippendorff's alpha of all annotators, Cohen's kappa of every two.

    FILE has the columns claim_id, annotator and label. Any words may be labels.
    """
    from veritrail_graph.evaluation.figure_files import read_annotations

    names = [name.strip() for name in order.split(",") if name.strip()]
    read = read_annotations(file, level.value, names)
    how = Resampling(resamples, seed) if with_intervals else None
    document = read.found.as_json(how)
    for note in read.notes:
        say(note, "yellow")
    if as_json:
        print_json(document)
        return
    interval = document.get("intervals", {}).get("krippendorff_alpha")
    alpha = shown_figure(document["krippendorff_alpha"], interval)
    rows = [[f"Krippendorff's alpha ({level})", alpha]]
    rows += [
        [f"Cohen's kappa, {one_line(clean(' and '.join(pair)))}", shown_figure(kappa.value)]
        for pair, kappa in read.found.kappas().items()
    ]
    table(("figure", "value"), rows, right=["value"])
    say(f"{document['units']:,} claims, {document['annotators']:,} annotators.")
    say_reasons(document)
