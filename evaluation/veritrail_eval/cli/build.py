"""`veritrail eval build` and `eval formats`: data sets from files that people bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from veritrail_eval.cli.asking import AskOptions, SummarySizes
from veritrail_eval.cli.building import summarise_and_show
from veritrail_eval.cli.options import DrawSeed, grouped
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict


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
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Of dialogues: draw N labelled turns; default: all of them."
        ),
    ] = None,
    seed: DrawSeed = 0,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Questions with their documents (columns question and documents): claims about "
            "an answer name those of its question.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a data set of labelled claims or dialogues.

    It is made from files or runs. The data set is a file of veritrail.dataset/1. Of a format of
    dialogues it is a file of dialogues with labelled turns. With --summarise make a run to extract
    claims from: summaries with every text on the way.
    """
    from veritrail_eval.app.datasets import build_dataset

    if summarised:
        if source is not None or not texts or sample is not None:
            raise InputError(
                "--summarise takes text files as SOURCE, and neither --from nor --sample."
            )
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
    with long_work() as work:
        built = build_dataset(
            source,
            output,
            format_name=format_name,
            skip_bad=skip_bad,
            sample=sample,
            seed=seed,
            questions=questions,
            on_process=lambda done, of: work.update("checked processes", done, of),
        )
    facts = built.json_object()
    if as_json:
        print_json(facts)
    elif "dialogues" in facts:
        _show_dialogues(facts)
    else:
        _show_built(facts)


def _show_built(facts: Mapping[str, Any]) -> None:
    """Show what was read and written."""
    words: dict[str, str] = {one: VERDICT_WORDS[one] for one in Verdict}
    rows = [
        [words.get(label, "no label"), f"{count:,}"]
        for label, count in facts["labels"].items()
        if count
    ]
    table(("label", "claims"), rows, right=["claims"])
    licence = f", licence {facts['licence']}" if facts["licence"] else ""
    say(
        f"{one_line(clean(facts['name']))} ({facts['format']}{licence}): claims "
        f"{facts['claims']:,}, processes {facts['processes']:,}, nodes {facts['nodes']:,}, labels "
        f"of annotators {facts['annotations']:,}, claims with error stages "
        f"{facts['with_error_stages']:,}. Written: {facts['output']}",
        "bold",
    )
    for remark in facts["remarks"]:
        say(one_line(clean(remark)), "yellow")


def _show_dialogues(facts: Mapping[str, Any]) -> None:
    """Show which dialogues were read and written."""
    rows = [
        ["no label" if label == "none" else label.lower(), f"{count:,}"]
        for label, count in facts["labels"].items()
        if count
    ]
    for category, counts in facts["holds"].items():
        words = category.lower().replace("_", " ")
        rows += [[f"{words}: {answer}", f"{count:,}"] for answer, count in counts.items()]
    table(("label", "turns"), rows, right=["turns"])
    say(
        f"{one_line(clean(facts['name']))} ({facts['format']}, licence "
        f"{one_line(clean(facts['licence']))}): dialogues {facts['dialogues']:,}, labelled turns "
        f"{facts['turns']:,}, claims of people {facts['claims']:,}. Written: {facts['output']}",
        "bold",
    )
    for remark in facts["remarks"]:
        say(one_line(clean(remark)), "yellow")


def formats(as_json: AsJson = False) -> None:
    """List the formats of data sets and of labelled dialogues."""
    from veritrail_eval.app.datasets import known_formats

    found = known_formats()
    if as_json:
        print_json({"formats": found})
        return
    table(("format", "what is read", "files", "from"), [list(one.values()) for one in found])
