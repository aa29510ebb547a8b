"""Cells of tables that a spreadsheet may open."""

from __future__ import annotations

FORMULA = (*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last ones are wide
"""What a cell begins with that a spreadsheet takes for a formula."""


def guarded(text: str) -> str:
    """A text that no spreadsheet computes: one that looks like a formula gets an apostrophe."""
    return f"'{text}" if text.startswith(FORMULA) else text


def unguarded(cell: str) -> str:
    """The text of a cell that `guarded` wrote."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell
