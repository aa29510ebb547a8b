"""`veritrail bloom`: a Bloom perspective of the graph, to be imported in Bloom."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veritrail_graph.api.cli.terminal import say

app = typer.Typer(
    help="Neo4j Bloom: a perspective with styles and search phrases.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Neo4j Bloom: a perspective with styles and search phrases."""


@app.command("export")
def export(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; default, or -: stdout."),
    ] = None,
) -> None:
    """Write a perspective for Bloom: categories, styles, search phrases. Needs no graph."""
    from veritrail_graph.api.cli.report import write_whole
    from veritrail_graph.graph.schema.bloom import perspective_json

    text = perspective_json()
    if output is None or output == Path("-"):
        typer.echo(text, nl=False)
        return
    write_whole(output, text)
    say(f"Wrote {output}; import it in Bloom's perspective gallery.")
