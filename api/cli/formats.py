"""`veritrail formats`: what can be read."""

from __future__ import annotations

from typing import Annotated

import typer

from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, show


def formats(
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Print the JSON Schema of the process file, for editors."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the formats that can be read, in the order of detection."""
    if schema:
        from veritrail_graph.graph.importers.process_file.schema import process_file_schema

        print_json(process_file_schema())
        return
    from dataclasses import asdict

    from veritrail_graph.graph.importers.registry import importers, of_others

    found = importers()
    if as_json:
        keys = ("name", "description", "extra")
        print_json({
            "formats": [{key: getattr(one, key) for key in keys} for one in found],
            "unusable": [asdict(one) for one in of_others()[1]],
        })  # fmt: skip
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("format", "what is read", "extra", box=None, pad_edge=False)
    for one in found:
        table.add_row(Text(one.name, style="bold"), Text(one.description), one.extra or "none")
    for bad in of_others()[1]:
        table.add_row(
            Text(bad.name, style="bold"), f"not usable ({bad.package}): {bad.reason}", style="red"
        )
    show(table)
