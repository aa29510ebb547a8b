"""Workbooks of spreadsheets (`.xlsx`): tables that people fill in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from veritrail_graph.evaluation.tables import Table, table_of
from veritrail_graph.graph.errors import InputError, shown

SUFFIX = ".xlsx"
MOST_CHARACTERS = 32_000
"""A cell of a workbook holds at most 32,767 characters."""

EXTRA = "Workbooks need the extra evaluation: pip install 'veritrail-graph[evaluation]'"


def is_workbook(path: Path) -> bool:
    """Whether a file is a workbook, by its name."""
    return path.suffix.lower() == SUFFIX


def write_workbook(
    path: Path,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    title: str,
    widths: Mapping[str, int],
    choices: Mapping[str, Sequence[str]],
) -> None:
    """Write a table as a workbook of one sheet, whole or not at all.

    Args:
        path: The file.
        columns: The names of the columns.
        rows: Their cells; a text is never a formula.
        title: The name of the sheet.
        widths: Widths of columns, in characters; 12 for others.
        choices: Columns with a drop-down, and what it offers.

    Raises:
        InputError: openpyxl is missing, or the file cannot be written.
    """
    try:
        import openpyxl
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
        from openpyxl.styles import Alignment, Font
        from openpyxl.utils import get_column_letter
        from openpyxl.worksheet.datavalidation import DataValidation
    except ImportError:
        raise InputError(EXTRA) from None
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title
    for place, name in enumerate(columns, 1):
        cell = sheet.cell(1, place, name)
        cell.font = Font(bold=True)
        cell.alignment = Alignment(wrap_text=True, vertical="top")
        sheet.column_dimensions[get_column_letter(place)].width = widths.get(name, 12)
    for number, row in enumerate(rows, 2):
        for place, value in enumerate(row, 1):
            cell = sheet.cell(number, place)
            if isinstance(value, str):
                cell.value = ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)[:MOST_CHARACTERS]
                cell.data_type = "s"
            else:
                cell.value = value
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "A2"
    for name, offered in choices.items():
        letter = get_column_letter(columns.index(name) + 1)
        rule = DataValidation("list", formula1=f'"{",".join(offered)}"', allow_blank=True)
        sheet.add_data_validation(rule)
        rule.add(f"{letter}2:{letter}{max(2, len(rows) + 1)}")
    draft = path.with_name(f".veritrail-{os.getpid()}.tmp")
    try:
        book.save(draft)
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def read_workbook(path: Path, required: Sequence[str]) -> Table:
    """The rows of the first sheet of a workbook.

    Args:
        path: The file.
        required: The columns that it must have.

    Raises:
        InputError: openpyxl is missing, it is no workbook, is empty, or lacks a column.
    """
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise InputError(EXTRA) from None
    try:
        # Kept open by openpyxl in its reading mode: it is read whole here, and closed.
        with path.open("rb") as file:
            book = openpyxl.load_workbook(file, data_only=True)
            lines = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
            book.close()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (BadZipFile, KeyError, ValueError, IndexError, InvalidFileException, SyntaxError):
        raise InputError(
            f"{path} is no workbook that can be read; save it as .xlsx again."
        ) from None
    return _table(path, lines, required)


def _table(path: Path, lines: Sequence[Sequence[Any]], required: Sequence[str]) -> Table:
    filled = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if any(cell is not None and str(cell).strip() for cell in line)
    ]
    if not filled:
        raise InputError(f"{path} is empty.")
    names = ["" if cell is None else str(cell).strip() for cell in filled[0][1]]
    known = [name for name in names if name]
    repeated = next((name for name in known if known.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"{path} has the column {shown(repeated)} twice; rename one.")
    lacking = [name for name in required if name not in known]
    if lacking:
        there = ", ".join(map(shown, known)) or "nothing"
        plural = "s" if len(lacking) > 1 else ""
        raise InputError(f"{path} lacks the column{plural} {', '.join(lacking)}. It has {there}.")
    rows = [
        (number, {name: cell for name, cell in zip(names, line, strict=False) if name})
        for number, line in filled[1:]
    ]
    if not rows:
        raise InputError(f"{path} holds no rows below its header.")
    return table_of(path, known, rows)
