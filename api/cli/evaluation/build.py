"""`veritrail eval build` and `eval formats`: data sets from files that people bring."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.evaluation.building import summarise
from veritrail_graph.api.cli.options import AsJson, Budget, EngineName, Model
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.api.views.words import VERDICT_WORDS
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

if TYPE_CHECKING:
    from veritrail_graph.evaluation.datasets.build import Built


def build(
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="OUT", help="The data set, or the run, to write."),
    ],
    texts: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[SOURCE…]", help="With --summarise: text files in UTF-8."),
    ] = None,
    summarised: Annotated[
        bool,
        typer.Option(
            "--summarise", help="Summarise the sources hierarchically; see `eval summarise`."
        ),
    ] = False,
    engine: EngineName = None,
    model: Model = None,
    budget: Budget = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="PATH",
            help="Convert this: a data set in a format of `eval formats`, or recorded runs with "
            "labels.",
        ),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format of PATH; default: detected."),
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Leave bad rows out and count them; default: an error."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a data set of labelled claims (veritrail.dataset/1), and say what was read.

    With --summarise make a run to extract claims from: summaries with every text on the way.
    """
    from veritrail_graph.evaluation.datasets.build import build_from

    if summarised:
        if source is not None or not texts:
            raise InputError("--summarise takes text files as SOURCE, and no --from.")
        summarise(texts, output, engine=engine, model=model, budget=budget, as_json=as_json)
        return
    if source is None or texts:
        raise InputError(
            "Nothing to build from: name a file or a folder with --from, or text files with "
            "--summarise."
        )
    with long_work() as work:
        built = build_from(
            source,
            output,
            format_name=format_name,
            skip_bad=skip_bad,
            on_process=lambda done, of: work.update("checked processes", done, of),
        )
    if as_json:
        print_json(built.json_object())
    else:
        show_built(built)


def show_built(built: Built) -> None:
    """Show what was read and written."""
    from veritrail_graph.evaluation.datasets.build import NO_LABEL

    facts = built.json_object()
    rows = [
        ["no label" if label == NO_LABEL else VERDICT_WORDS[Verdict(label)], f"{count:,}"]
        for label, count in built.labels.items()
        if count
    ]
    table(("label", "claims"), rows, right=["claims"])
    name = one_line(clean(built.dataset.name))
    licence = f", licence {built.dataset.licence}" if built.dataset.licence else ""
    say(
        f"{name} ({built.format_name}{licence}): claims {facts['claims']:,}, processes "
        f"{facts['processes']:,}, nodes {facts['nodes']:,}, labels of annotators "
        f"{facts['annotations']:,}, claims with error stages {facts['with_error_stages']:,}. "
        f"Written: {built.output}",
        "bold",
    )
    for remark in built.dataset.remarks:
        say(one_line(clean(remark)), "yellow")


def formats(as_json: AsJson = False) -> None:
    """List the data sets that can be read, in the order of detection."""
    from veritrail_graph.evaluation.datasets.loading import loaders

    keys = ("name", "description", "layout", "source")
    found = [{key: getattr(one, key, "") for key in keys} for one in loaders()]
    if as_json:
        print_json({"formats": found})
        return
    table(
        ("format", "what is read", "files", "from"),
        [[one[key] for key in keys] for one in found],
    )
