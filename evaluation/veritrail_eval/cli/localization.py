"""`veritrail eval localization`: at which stages errors come in, over variants of the method."""

from __future__ import annotations

from typing import Annotated

import typer

from veritrail_eval.cli.options import (
    Resamples,
    Seed,
    TableFile,
    say_reasons,
    shown_figure,
    tell_notes,
)
from veritrail_eval.figures.options import ROOT_STAGE, Resampling
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.errors import InputError


def localization(
    file: TableFile,
    stages: Annotated[
        str,
        typer.Option(
            metavar="N,N,…",
            help="The stages where errors can come in; default: those that FILE names.",
        ),
    ] = "",
    root_stage: Annotated[
        int, typer.Option(min=0, metavar="N", help="The stage of the source text, left out.")
    ] = ROOT_STAGE,
    seed: Seed = 0,
    resamples: Resamples = 1_000,
    as_json: AsJson = False,
) -> None:
    """Say how often each stage introduced an error.

    Also how far variants agree on it. FILE has the columns variant, claim_id, label, verdict and
    error_stages (joined by ;). Counted are claims with label and verdict
    NOT_FULLY_SUPPORTED and at least one error stage.
    """
    from veritrail_eval.app.figures import locate_errors

    read = locate_errors(file, _stages(stages), root_stage)
    found = read.found
    document = found.as_json(Resampling(resamples, seed))
    tell_notes(document, read.notes)
    if as_json:
        print_json(document)
        return
    columns = [f"stage {stage}" for stage in found.stages]
    keys = [str(stage) for stage in found.stages]
    rows = [
        [
            one_line(clean(one["variant"])),
            f"{one['true_positives']:,}",
            *(shown_figure(one["rates"][key]) for key in keys),
        ]
        for one in document["variants"]
    ]
    total = sum(one["true_positives"] for one in document["variants"])
    weighted = [shown_figure(document["rates"][key], document["intervals"][key]) for key in keys]
    rows.append(["all, weighted", f"{total:,}", *weighted])
    rows.append(["all, unweighted", "", *(shown_figure(document["unweighted"][k]) for k in keys)])
    table(("variant", "true positives", *columns), rows, right=["true positives", *columns])
    say(
        f"Mean over pairs of variants: Jensen-Shannon divergence {shown_figure(document['jsd'])}, "
        f"Spearman {shown_figure(document['spearman'])}."
    )
    say_reasons(document)


def _stages(text: str) -> list[int] | None:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(f"--stages {text}: must be whole numbers joined by commas, such as 2,3,4")
    return [int(part) for part in parts] or None
