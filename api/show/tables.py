"""Lists as CSV (RFC 4180), guarded against spreadsheets that compute cells.

Source: ours.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from veritrail_graph.api.show.texts import visible
from veritrail_graph.graph.exporters.cells import guarded


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with the names of its columns; None is an empty cell."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows([csv_cell(one) for one in row] for row in rows)
    return file.getvalue()


def csv_cell(value: Any) -> Any:
    """A value as a cell: texts are guarded, lists are joined."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return guarded(visible(value))
    if isinstance(value, (list, tuple)):
        return guarded(visible("; ".join(str(one) for one in value)))
    return value
