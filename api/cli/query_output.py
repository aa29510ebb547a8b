"""Answers of queries as a person or a spreadsheet reads them: table, tree, CSV."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.terminal import console, inert, show_parts
from veritrail_graph.api.show.document import Document, Table
from veritrail_graph.api.show.query_rows import remarks, rows_shown, tree_shown
from veritrail_graph.api.show.terminal import table
from veritrail_graph.api.show.texts import clean
from veritrail_graph.graph.exporters.cells import guarded

if TYPE_CHECKING:
    from veritrail_graph.graph.model.queried import QueryRows


class Form(StrEnum):
    """An output format of a query's answer."""

    TABLE = "table"
    TREE = "tree"
    CSV = "csv"
    JSON = "json"


_BEYOND_ANY_SCREEN = 100_000


def tell_result(
    result: QueryRows, form: Form = Form.TABLE, stage_names: Mapping[int, str] | None = None
) -> None:
    """Print rows; in place of a table that is too wide for a terminal, a tree of each.

    What limits the answer is said on stderr: more rows, verdicts that are indicative only.

    Args:
        result: The rows.
        form: Table, tree or CSV.
        stage_names: Names of the stages of the process that the answer is about.
    """
    if form is Form.CSV:
        sys.stdout.write(inert(csv_text(result)))
        sys.stdout.flush()
        show_parts(Document(tuple(remarks(result))))
    elif form is Form.TREE:
        show_parts(tree_shown(result, stage_names))
    else:
        document = rows_shown(result, stage_names)
        fits = all(_fits(one) for one in document.blocks if isinstance(one, Table))
        show_parts(document if fits else tree_shown(result, stage_names))


def _fits(block: Table) -> bool:
    """Return whether a table is no wider than the terminal; in a pipe there is no width."""
    screen = console()
    boundless = screen.options.update(max_width=_BEYOND_ANY_SCREEN)
    needed = screen.measure(table(block), options=boundless).maximum
    return not screen.is_terminal or needed <= screen.width


def csv_text(result: QueryRows) -> str:
    """The rows as CSV: figures as they are, lists of texts with semicolons, others as JSON.

    Texts are guarded against spreadsheets that compute cells.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_raw(value) for value in row] for row in result.rows)
    return file.getvalue()


def _raw(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return guarded("; ".join(map(str, value)))
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return guarded(clean(value)) if isinstance(value, str) else value
