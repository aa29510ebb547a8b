"""`veritrail eval build` and `eval formats`: data sets from files that people bring."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli.evaluation.asking import AskOptions, SummarySizes
from veritrail_graph.api.cli.evaluation.building import summarise_and_show
from veritrail_graph.api.cli.evaluation.options import grouped
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.api.views.words import VERDICT_WORDS
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

if TYPE_CHECKING:
    from veritrail_graph.evaluation.datasets.build import Built
    from veritrail_graph.evaluation.dialogues.build import BuiltDialogues


@grouped
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
    *,
    sizes: SummarySizes,
    asked: AskOptions,
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
    """Make a data set of labelled claims or dialogues.

    It is made from files or runs. The data set is a file of veritrail.dataset/1. Of a format of
    dialogues it is a file of dialogues with labelled turns. With --summarise make a run to extract
    claims from: summaries with every text on the way.
    """
    from veritrail_graph.evaluation.datasets.build import build_from
    from veritrail_graph.evaluation.datasets.loading import NO_FORMAT
    from veritrail_graph.evaluation.dialogues.build import build_dialogues
    from veritrail_graph.evaluation.dialogues.loading import loader_of, reasons_against

    if summarised:
        if source is not None or not texts:
            raise InputError("--summarise takes text files as SOURCE, and no --from.")
        summarise_and_show(texts, output, sizes, asked, as_json=as_json)
        return
    if source is None or texts:
        raise InputError(
            "Nothing to build from: name a file or a folder with --from, or text files with "
            "--summarise."
        )
    named = [
        f"--{one.name.replace('_', '-')}"
        for group in (sizes, asked)
        for one in fields(group)
        if getattr(group, one.name) != one.default
    ]
    if named:
        raise InputError(f"{', '.join(named)}: only with --summarise.")
    dialogues = loader_of(source, format_name)
    if dialogues is not None:
        read = build_dialogues(dialogues, source, output, skip_bad=skip_bad)
        if as_json:
            print_json(read.json_object())
        else:
            show_dialogues(read)
        return
    try:
        with long_work() as work:
            built = build_from(
                source,
                output,
                format_name=format_name,
                skip_bad=skip_bad,
                on_process=lambda done, of: work.update("checked processes", done, of),
            )
    except InputError as error:
        if error.code != NO_FORMAT:
            raise
        raise InputError("\n".join([str(error), *reasons_against(source)])) from None
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


def show_dialogues(read: BuiltDialogues) -> None:
    """Show which dialogues were read and written."""
    from veritrail_graph.evaluation.dialogues.build import NO_LABEL

    facts = read.json_object()
    rows = [
        ["no label" if label == NO_LABEL else label.lower(), f"{count:,}"]
        for label, count in facts["labels"].items()
        if count
    ]
    for category, counts in facts["holds"].items():
        words = category.lower().replace("_", " ")
        rows += [[f"{words}: {answer}", f"{count:,}"] for answer, count in counts.items()]
    table(("label", "turns"), rows, right=["turns"])
    name = one_line(clean(read.dataset.name))
    say(
        f"{name} ({read.format_name}, licence {one_line(clean(read.dataset.licence))}): dialogues "
        f"{facts['dialogues']:,}, labelled turns {facts['turns']:,}, claims of people "
        f"{facts['claims']:,}. Written: {read.output}",
        "bold",
    )
    for remark in read.dataset.remarks:
        say(one_line(clean(remark)), "yellow")


def formats(as_json: AsJson = False) -> None:
    """List the formats of data sets and of labelled dialogues."""
    from veritrail_graph.evaluation.datasets.loading import loaders
    from veritrail_graph.evaluation.dialogues.loading import loaders as of_dialogues

    keys = ("name", "description", "layout", "source")
    every = [*of_dialogues(), *loaders()]
    found = [{key: getattr(one, key, "") for key in keys} for one in every]
    if as_json:
        print_json({"formats": found})
        return
    table(
        ("format", "what is read", "files", "from"),
        [[one[key] for key in keys] for one in found],
    )
