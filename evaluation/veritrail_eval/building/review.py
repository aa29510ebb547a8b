"""Tables for a person's review: proposals in rows, with a column for the person's decision.

Texts cannot become formulas of a spreadsheet: one that begins like a formula gets an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.cells import guarded


def write_review(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write a table as CSV; a file that is there is not replaced, as decisions may be in it.

    Raises:
        InputError: The file is there already, or cannot be written.
    """
    file = io.StringIO()
    writer = csv.DictWriter(file, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    try:
        with path.open("x", encoding="utf-8", newline="") as out:
            out.write(file.getvalue())
    except FileExistsError:
        raise InputError(
            f"{path} is there already, and may hold decisions; name another file."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return guarded(value) if isinstance(value, str) else value
