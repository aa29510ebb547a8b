"""`veritrail eval sentences`: labelled sentences of a data set, to be attributed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say


def sentences(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="A data set in a format of `eval formats`.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The JSON Lines to write.")
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format of DATASET; default: detected."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the labelled sentences of a data set, to attribute them.

    The data set is one such as TofuEval. Each line has the id, the text, the label and the
    documents of a sentence; a person or `veritrail attribute` says what it rests on. `eval
    faithfulness` takes the labels from FILE.
    """
    from veritrail_eval.app.datasets import write_sentences

    found = write_sentences(dataset, output, format_name)
    if as_json:
        print_json(
            {
                "output": str(output),
                "sentences": len(found.lines),
                "labelled": found.labelled,
                "elsewhere": found.elsewhere,
            }
        )
        return
    say(
        f"{len(found.lines):,} sentences, {found.labelled:,} of them labelled, in {output}.", "bold"
    )
    if found.elsewhere:
        say(
            f"{found.elsewhere:,} labelled claim(s) are no whole sentence of their text and are "
            "left out.",
            "yellow",
        )
