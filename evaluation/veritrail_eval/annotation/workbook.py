"""`claims.xlsx`: a row a claim, drop-downs for what is chosen, the rest locked.

Every text is written as text: nothing in a claim becomes a formula, neither now nor when the file
is saved again.

Source: VeriTrail B.2.2, B.2.3 (one file for each question and annotator, and its columns).
"""

from __future__ import annotations

from pathlib import Path

from veritrail_eval.annotation.folders import Folder
from veritrail_eval.annotation.wording import (
    COLUMNS,
    INSTRUCTIONS,
    LABEL_WORDS,
    NO,
    YES,
)
from veritrail_eval.tables import Table
from veritrail_eval.workbook import (
    add_choices,
    fill_locked,
    new_workbook,
    read_workbook,
    write_help,
)

FILE = "claims.xlsx"
CLAIMS = "Claims"
_WIDTHS = (14, 60, 32, 11, 60, 40)


def write_workbook(folder: Folder, path: Path) -> int:
    """Write the sheet of a folder.

    Returns:
        How many characters that no XML may hold were left out.

    Raises:
        InputError: openpyxl is not installed, or a claim is too long for a cell.
    """
    book, sheet = new_workbook(CLAIMS)
    rows = [(claim.claim_id, claim.text) for claim in folder.claims]
    removed = fill_locked(sheet, COLUMNS, _WIDTHS, rows, lambda row: f"claim {row[0]!r}")
    choices = {"C": list(LABEL_WORDS.values()), "D": [NO, YES]}
    add_choices(book, sheet, len(rows) + 1, choices)
    asked = "" if folder.question is None else f": {folder.question}"
    removed += write_help(book, [("heading", f"Folder {folder.code}{asked}"), *INSTRUCTIONS])
    book.save(path)
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
