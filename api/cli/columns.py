"""The option --columns: what the columns of a table are, and how it is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.registry import ImportOptions

Columns = Annotated[
    str | None,
    typer.Option(
        metavar="MAP",
        help="Tables: what columns hold, such as contexts=knowledge,answer=right_answer; kept for "
        "tables with the same columns.",
    ),
]


def with_columns(importing: ImportOptions, columns: str | None) -> ImportOptions:
    """Return options of an importer with the columns as they are mapped, now or before.

    Raises:
        InputError: The text maps no columns.
    """
    from veritrail_graph.api.app.known_tables import known_tables
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.column_map import ColumnMap

    mapped = None if columns is None else ColumnMap.of(columns)
    return replace(importing, columns=mapped, known_tables=known_tables(Settings().home))


def remember(paths: Sequence[Path], importing: ImportOptions | None) -> None:
    """Keep how the columns of tables were mapped, once they were read."""
    if importing is None or importing.columns is None:
        return
    from veritrail_graph.api.app.known_tables import remember_columns
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.addresses.address import is_address

    files = [one for one in paths if not is_address(str(one))]
    remember_columns(Settings().home, files, importing.columns)
