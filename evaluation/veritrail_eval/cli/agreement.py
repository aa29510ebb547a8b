"""`veritrail eval agreement`: how far annotators agree, from a table of their labels."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from veritrail_eval.cli.options import (
    Resamples,
    Seed,
    WithIntervals,
    say_reasons,
    shown_figure,
    tell_notes,
)
from veritrail_eval.cli.turn_agreement import show_agreement_on_turns
from veritrail_eval.figures.options import Resampling
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import InputError

SUBSETS = {
    "certain": "where no annotator is uncertain",
    "uncertain": "where an annotator is uncertain",
    "without_adjudicated": "without adjudicated claims",
}


class Labels(StrEnum):
    """The labels of a data set that are compared."""

    VERDICTS = "verdicts"
    GIVEN = "given"


class Scale(StrEnum):
    """The scale of labels: nominal, or ordinal, where the order of labels counts."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"


AnnotatedFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A data set or dialogues with labels of annotators, or a table."
    ),
]


def agreement(
    file: AnnotatedFile,
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
    labels: Annotated[
        Labels,
        typer.Option(help="Of a data set: labels as the verdicts that they mean, or as given."),
    ] = Labels.VERDICTS,
    adjudicator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of a data set: the annotator who saw other documents; left out where a claim "
            "needs them.",
        ),
    ] = None,
    with_intervals: WithIntervals = False,
    seed: Seed = 0,
    resamples: Resamples = 1_000,
    as_json: AsJson = False,
) -> None:
    """Measure how far annotators agree: alpha and kappa.

    Krippendorff's alpha is that of all annotators, Cohen's kappa that of every two.
    FILE is a data set, or a table with the columns claim_id, annotator and label, in which any
    words may be labels. Alpha is also given by uncertainty and without adjudicated claims where
    that is known: in a data set, or by the columns uncertain and label_origin.
    Of dialogues: how far annotators name the same claims and give the same labels, and by which
    kinds they differ from each other, and the labels of the data set from their claims.
    """
    from veritrail_eval.app.figures import (
        agreement_in_dataset,
        agreement_in_table,
        agreement_on_turns,
        labels_in,
    )

    names = [name.strip() for name in order.split(",") if name.strip()]
    resampling = Resampling(resamples, seed) if with_intervals else None
    where = labels_in(file)
    if where == "dialogues":
        if level is Scale.ORDINAL or names or adjudicator is not None or labels is Labels.GIVEN:
            raise InputError(
                "The labels of claims in dialogues have no order and are compared as given: leave "
                "out --level, --order, --labels and --adjudicator."
            )
        found = agreement_on_turns(file, resampling)
        if as_json:
            print_json(found)
        else:
            show_agreement_on_turns(found)
        return
    if where == "data set":
        read = agreement_in_dataset(
            file, level.value, names, adjudicator=adjudicator, as_given=labels is Labels.GIVEN
        )
    elif adjudicator is not None or labels is Labels.GIVEN:
        raise InputError("--adjudicator and --labels are for data sets; FILE is a table.")
    else:
        read = agreement_in_table(file, level.value, names)
    document = read.found.as_json(resampling)
    tell_notes(document, read.notes)
    if as_json:
        print_json(document)
        return
    interval = document.get("intervals", {}).get("krippendorff_alpha")
    alpha = shown_figure(document["krippendorff_alpha"], interval)
    rows = [[f"Krippendorff's alpha ({level})", alpha]]
    rows += [
        [f"… {SUBSETS[name]}, {one['units']:,} claims", shown_figure(one["krippendorff_alpha"])]
        for name, one in document.get("subsets", {}).items()
    ]
    rows += [
        [f"Cohen's kappa, {one_line(clean(' and '.join(pair)))}", shown_figure(kappa.value)]
        for pair, kappa in read.found.kappas().items()
    ]
    table(("figure", "value"), rows, right=["value"])
    say(f"{document['units']:,} claims, {document['annotators']:,} annotators.")
    say_reasons(document)
