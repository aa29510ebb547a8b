"""`veritrail formats`: what can be read."""

from __future__ import annotations

from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, show


def formats(as_json: AsJson = False) -> None:
    """List the formats that `veritrail ingest` reads, in the order of detection."""
    from veritrail_graph.graph.importers.registry import importers

    found = importers()
    if as_json:
        keys = ("name", "description", "extra")
        print_json({"formats": [{key: getattr(one, key) for key in keys} for one in found]})
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("format", "what is read", box=None, pad_edge=False)
    for one in found:
        extra = f" (needs the extra {one.extra})" if one.extra else ""
        table.add_row(Text(one.name, style="bold"), Text(one.description + extra))
    show(table)
