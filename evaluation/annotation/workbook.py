"""`claims.xlsx`: a row a claim, drop-downs for what is chosen, the rest locked.

Every text is written as text: nothing in a claim becomes a formula, neither now nor when the file
is saved again.

Source: VeriTrail B.2.2, B.2.3 (one file for each question and annotator, and its columns).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veritrail_graph.evaluation.annotation.folders import Folder
from veritrail_graph.evaluation.annotation.wording import (
    COLUMNS,
    INSTRUCTIONS,
    LABEL_WORDS,
    NO,
    YES,
)
from veritrail_graph.evaluation.tables import Table
from veritrail_graph.evaluation.workbook import AS_TEXT, needed, put_text, read_workbook
from veritrail_graph.graph.errors import InputError

FILE = "claims.xlsx"
CLAIMS, HELP, LISTS = "Claims", "Instructions", "Lists"
MOST_CELL = 32_767
"""Characters that a cell of a spreadsheet may hold."""

_WIDTHS = (14, 60, 32, 11, 60, 40)


def write_workbook(folder: Folder, path: Path) -> int:
    """Write the sheet of a folder.

    Returns:
        How many characters that no XML may hold were left out.

    Raises:
        InputError: openpyxl is not installed, or a claim is too long for a cell.
    """
    try:
        import openpyxl
    except ImportError:
        raise needed("openpyxl") from None
    workbook = openpyxl.Workbook()
    workbook.properties.creator = "VeriTrail Graph"
    sheet = workbook.active
    sheet.title = CLAIMS
    removed = _write_claims(sheet, folder)
    _write_lists(workbook.create_sheet(LISTS))
    _add_choices(sheet, len(folder.claims) + 1)
    removed += _write_help(workbook.create_sheet(HELP), folder)
    workbook.save(path)
    return removed


def _write_claims(sheet: Any, folder: Folder) -> int:
    from openpyxl.styles import Alignment, Font, PatternFill, Protection

    removed = 0
    grey = PatternFill("solid", fgColor="EEEEEE")
    top = Alignment(vertical="top", wrap_text=True)
    for number, (name, width) in enumerate(zip(COLUMNS, _WIDTHS, strict=True), start=1):
        cell = sheet.cell(1, number, name)
        cell.font, cell.fill = Font(bold=True), grey
        sheet.column_dimensions[cell.column_letter].width = width
    for row, claim in enumerate(folder.claims, start=2):
        for column, text in enumerate((claim.claim_id, claim.text), start=1):
            if len(text) > MOST_CELL:
                raise InputError(
                    f"claim {claim.claim_id!r} has {len(text):,} characters; a cell of a "
                    f"spreadsheet holds {MOST_CELL:,}"
                )
            cell = sheet.cell(row, column)
            removed += put_text(cell, text)
            cell.fill, cell.alignment = grey, top
        for column in range(3, len(COLUMNS) + 1):
            cell = sheet.cell(row, column)
            cell.number_format, cell.alignment = AS_TEXT, top
            cell.protection = Protection(locked=False)
    sheet.freeze_panes = "C2"
    sheet.protection.sheet = True
    sheet.protection.formatColumns = sheet.protection.formatRows = False
    sheet.protection.formatCells = False
    return removed


def _write_lists(sheet: Any) -> None:
    """The choices; in cells, because a list within a rule may have 255 characters only."""
    for row, words in enumerate(LABEL_WORDS.values(), start=1):
        sheet.cell(row, 1, words)
    for row, words in enumerate((NO, YES), start=1):
        sheet.cell(row, 2, words)
    sheet.sheet_state = "hidden"
    sheet.protection.sheet = True


def _add_choices(sheet: Any, last: int) -> None:
    from openpyxl.worksheet.datavalidation import DataValidation

    for column, cells, title in (
        ("C", f"{LISTS}!$A$1:$A${len(LABEL_WORDS)}", "Label"),
        ("D", f"{LISTS}!$B$1:$B$2", "Uncertain"),
    ):
        rule = DataValidation(type="list", formula1=cells, allow_blank=True, showErrorMessage=True)
        rule.errorTitle, rule.error = title, "Please choose from the list."
        rule.add(f"{column}2:{column}{last}")
        sheet.add_data_validation(rule)


def _write_help(sheet: Any, folder: Folder) -> int:
    from openpyxl.styles import Alignment, Font

    sheet.column_dimensions["A"].width = 110
    asked = "" if folder.question is None else f": {folder.question}"
    lines = [("heading", f"Folder {folder.code}{asked}"[:MOST_CELL]), *INSTRUCTIONS]
    removed = 0
    for row, (kind, text) in enumerate(lines, start=1):
        cell = sheet.cell(row, 1)
        removed += put_text(cell, text)
        cell.alignment = Alignment(vertical="top", wrap_text=True)
        cell.font = Font(bold=kind == "heading")
    sheet.protection.sheet = True
    return removed


def read_claims(path: Path, place: str) -> Table:
    """The rows of a sheet that was given back.

    Args:
        path: The file.
        place: What it is called in messages.

    Raises:
        InputError: It cannot be read as a workbook, or it lacks the sheet or a column.
    """
    within = f"{place}, sheet {CLAIMS}, "
    return read_workbook(path, COLUMNS, sheet=CLAIMS, within=within, may_be_empty=True)
