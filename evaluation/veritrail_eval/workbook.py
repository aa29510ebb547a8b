"""Workbooks of spreadsheets (`.xlsx`): tables that people fill in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from veritrail_eval.tables import Table, table_of
from veritrail_eval.whole_file import written_whole
from veritrail_graph.graph.errors import InputError, shown

SUFFIX = ".xlsx"
MOST_CHARACTERS = 32_767
"""Characters that a cell of a spreadsheet may hold."""

AS_TEXT = "@"
"""The number format of cells that hold texts."""
MOST_UNPACKED = 200_000_000
"""Bytes that a workbook may have when it is unpacked."""
MOST_ROWS = 100_000
_HELP, _LISTS = "Instructions", "Lists"

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_LOOKS_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


def xml_text(text: str) -> tuple[str, int]:
    """A text without the characters that no XML may hold, and how many there were."""
    return _NOT_XML.subn("", text)


def put_text(cell: Any, text: str) -> int:
    """Write a text into a cell, as text: never a formula, now or when the file is saved again.

    Returns:
        How many characters had to be left out.
    """
    clean, removed = xml_text(text)
    cell.value = _LOOKS_ESCAPED.sub("_x005F_", clean)
    cell.data_type = "s"
    cell.number_format = AS_TEXT
    cell.quotePrefix = True
    return removed


def text_of(value: Any) -> str:
    """Return what a cell holds, as text; formulas and numbers too."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = getattr(value, "text", None) or value  # an array formula holds its text apart
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), str(text))


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A workbook to be read; whatever is wrong with it, also while it is read, is told.

    Raises:
        InputError: It is no workbook, or unpacks to too much.
    """
    import openpyxl

    book = None
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > MOST_UNPACKED:
                raise InputError(f"{path}: unpacks to more than {MOST_UNPACKED:,} bytes.")
        book = openpyxl.load_workbook(path, read_only=True)
        yield book
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # noqa: BLE001  # openpyxl lets any fault of a broken file through
        raise InputError(
            f"{path} is no workbook that can be read ({type(error).__name__}); save it as .xlsx"
        ) from None
    finally:
        if book is not None:
            book.close()


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, by its name."""
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
        InputError: The file cannot be written.
    """
    import openpyxl
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

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
                put_text(cell, value[:MOST_CHARACTERS])
            else:
                cell.value = value
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "A2"
    for name, offered in choices.items():
        letter = get_column_letter(columns.index(name) + 1)
        rule = DataValidation("list", formula1=f'"{",".join(offered)}"', allow_blank=True)
        sheet.add_data_validation(rule)
        rule.add(f"{letter}2:{letter}{max(2, len(rows) + 1)}")
    with written_whole(path) as draft:
        book.save(draft)


def new_workbook(title: str) -> tuple[Any, Any]:
    """A workbook for people who label, and its first sheet."""
    import openpyxl

    book = openpyxl.Workbook()
    book.properties.creator = "VeriTrail Graph"
    sheet = book.active
    sheet.title = title
    return book, sheet


def fill_locked(
    sheet: Any,
    columns: Sequence[str],
    widths: Sequence[int],
    rows: Sequence[Sequence[str]],
    called: Callable[[Sequence[str]], str],
) -> int:
    """Fill a sheet whose first columns are locked; the others are for the annotator.

    Args:
        sheet: The sheet.
        columns: The names of all columns.
        widths: Their widths, in characters.
        rows: The texts of the locked columns.
        called: What a row is called in messages.

    Returns:
        How many characters that no XML may hold were left out.

    Raises:
        InputError: A text is too long for a cell.
    """
    from openpyxl.styles import Alignment, Font, PatternFill, Protection
    from openpyxl.utils import get_column_letter

    removed = 0
    grey = PatternFill("solid", fgColor="EEEEEE")
    top = Alignment(vertical="top", wrap_text=True)
    for place, (name, width) in enumerate(zip(columns, widths, strict=True), 1):
        cell = sheet.cell(1, place, name)
        cell.font, cell.fill = Font(bold=True), grey
        sheet.column_dimensions[cell.column_letter].width = width
    for number, texts in enumerate(rows, 2):
        for place, text in enumerate(texts, 1):
            if len(text) > MOST_CHARACTERS:
                raise InputError(
                    f"{called(texts)} has {len(text):,} characters; a cell of a spreadsheet holds "
                    f"{MOST_CHARACTERS:,}"
                )
            cell = sheet.cell(number, place)
            removed += put_text(cell, text)
            cell.fill, cell.alignment = grey, top
        for place in range(len(texts) + 1, len(columns) + 1):
            cell = sheet.cell(number, place)
            cell.number_format, cell.alignment = AS_TEXT, top
            cell.protection = Protection(locked=False)
    sheet.freeze_panes = f"{get_column_letter(len(rows[0]) + 1 if rows else 1)}2"
    sheet.protection.sheet = True
    sheet.protection.formatColumns = sheet.protection.formatRows = False
    sheet.protection.formatCells = False
    return removed


def add_choices(book: Any, sheet: Any, last: int, offered: Mapping[str, Sequence[str]]) -> None:
    """Give columns a drop-down; the choices stand in a hidden sheet of their own.

    They stand in cells because a list within a rule may have 255 characters only.

    Args:
        book: The workbook.
        sheet: The sheet that is filled in.
        last: Its last row.
        offered: What each column offers, by its letter.
    """
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    lists = book.create_sheet(_LISTS)
    for place, (letter, words) in enumerate(offered.items(), 1):
        for number, word in enumerate(words, 1):
            lists.cell(number, place, word)
        within = get_column_letter(place)
        cells = f"{_LISTS}!${within}$1:${within}${len(words)}"
        rule = DataValidation(type="list", formula1=cells, allow_blank=True, showErrorMessage=True)
        rule.errorTitle = str(sheet[f"{letter}1"].value)
        rule.error = "Please choose from the list."
        rule.add(f"{letter}2:{letter}{last}")
        sheet.add_data_validation(rule)
    lists.sheet_state = "hidden"
    lists.protection.sheet = True


def write_help(book: Any, lines: Iterable[tuple[str, str]]) -> int:
    """Write the instructions into a sheet of their own.

    Args:
        book: The workbook.
        lines: The kind of each (`heading` is written bold) and its text.

    Returns:
        How many characters that no XML may hold were left out.
    """
    from openpyxl.styles import Alignment, Font

    sheet = book.create_sheet(_HELP)
    sheet.column_dimensions["A"].width = 110
    removed = 0
    for number, (kind, text) in enumerate(lines, 1):
        cell = sheet.cell(number, 1)
        removed += put_text(cell, text[:MOST_CHARACTERS])
        cell.alignment = Alignment(vertical="top", wrap_text=True)
        cell.font = Font(bold=kind == "heading")
    sheet.protection.sheet = True
    return removed


def read_workbook(
    path: Path,
    required: Sequence[str],
    *,
    sheet: str | None = None,
    within: str = "",
    may_be_empty: bool = False,
) -> Table:
    """The rows of a sheet of a workbook; faults in them name row and column.

    Args:
        path: The file.
        required: The columns that it must have.
        sheet: The name of the sheet; None: the first one.
        within: What comes before the places of rows in messages.
        may_be_empty: Whether a header without rows is fine.

    Raises:
        InputError: openpyxl is missing, it is no workbook, is empty, or lacks the sheet or a
            column.
    """
    with opened(path) as book:
        if sheet is not None and sheet not in book.sheetnames:
            there = ", ".join(map(shown, book.sheetnames)) or "none"
            raise InputError(f"{path} has no sheet {shown(sheet)}; its sheets: {there}.")
        found = book.worksheets[0] if sheet is None else book[sheet]
        rows = found.iter_rows(max_col=200, max_row=MOST_ROWS, values_only=True)
        lines = [[None if cell is None else text_of(cell) for cell in row] for row in rows]
    filled = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if any(cell is not None and cell.strip() for cell in line)
    ]
    if not filled:
        raise InputError(f"{path} is empty.")
    names = [" ".join((cell or "").split()) for cell in filled[0][1]]
    columns = _columns(path, names, required)
    table = table_of(
        path,
        columns,
        [
            (number, {name: cell for name, cell in zip(names, line, strict=False) if name})
            for number, line in filled[1:]
        ],
        within,
    )
    if not table.rows and not may_be_empty:
        raise InputError(f"{path} holds no rows below its header.")
    return table


def _columns(path: Path, names: Sequence[str], required: Sequence[str]) -> dict[str, str]:
    """The columns of a header with their letters.

    Raises:
        InputError: One comes twice, or is not there.
    """
    from openpyxl.utils import get_column_letter

    known = [name for name in names if name]
    repeated = next((name for name in known if known.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"{path} has the column {shown(repeated)} twice; rename one.")
    lacking = [name for name in required if name not in known]
    if lacking:
        there = ", ".join(map(shown, known)) or "nothing"
        plural = "s" if len(lacking) > 1 else ""
        raise InputError(f"{path} lacks the column{plural} {', '.join(lacking)}. It has {there}.")
    return {name: get_column_letter(place) for place, name in enumerate(names, 1) if name}
