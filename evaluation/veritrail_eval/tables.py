"""Tables that people bring: CSV, TSV, JSON Lines, JSON arrays, parquet; faults have places.

A reader asks each row for cells of the kind that it needs. Faults are collected, so that one
message names all of them, each with its row and column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.parquet import open_parquet, parquet_rows

JSON_SUFFIXES = (".json", *files.LINES_SUFFIXES)
PARQUET_SUFFIX = ".parquet"

Choice = TypeVar("Choice", bound=StrEnum)

_ANSWERS = {
    **dict.fromkeys(("yes", "y", "true", "1", "x"), True),
    **dict.fromkeys(("no", "n", "false", "0", ""), False),
}
"""What people write for yes and no; an empty cell is a no."""


def word_of(text: str, choices: type[Choice]) -> Choice | None:
    """The word that a text is, in any case; None: it is none of them."""
    return next((one for one in choices if one.casefold() == text.casefold()), None)


def line_of(fault: Violation) -> int:
    """The line of a file of lines that a fault is in; 0: it is in none."""
    found = re.match(r"line (\d+)", fault.where)
    return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file, and the faults found in them.

    Attributes:
        path: The file.
        columns: The names of its columns, in the order in which they appear.
        rows: Its rows.
        faults: What is wrong so far.
    """

    path: Path
    columns: Sequence[str]
    rows: Sequence[Row]
    faults: list[Violation]

    def unused(self, known: Collection[str]) -> list[str]:
        """The columns that are none of these."""
        return [name for name in self.columns if name not in known]

    @property
    def in_order(self) -> list[Violation]:
        """The faults in the order of the rows."""
        return sorted(self.faults, key=lambda one: int(one.facts.get("row") or 0))

    def check(self) -> None:
        """Raise when there are faults.

        Raises:
            InputError: With every fault, in the order of the rows.
        """
        if self.faults:
            number = "a fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
            raise InputError(f"{self.path} has {number}; nothing was computed.", self.in_order)

    def refuse_repeats(
        self,
        keys: Sequence[tuple[Row, tuple[str | None, ...]]],
        what: str,
        column: str = "claim_id",
    ) -> None:
        """Note every row whose key another row had before.

        Args:
            keys: Rows with what identifies them.
            what: The columns of the key, for the message.
            column: Where the fault is.
        """
        first: dict[tuple[str | None, ...], Row] = {}
        for row, key in keys:
            before = first.setdefault(key, row)
            if before is not row:
                row.fault("duplicate", column, f"{before.where} has the same {what}; keep one")


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One row; its methods read a cell, and note a fault where it cannot be read.

    Attributes:
        where: Its place, such as `row 7`. The header is row 1; lines of JSON Lines are lines.
        place: The number in it.
        cells: What it holds by column; texts, or values of JSON.
        faults: Where faults are noted.
        comma: Whether a comma may be the decimal separator, as beside semicolons.
        letters: The letters of the columns, where it is a row of a spreadsheet.
    """

    where: str
    place: int
    cells: Mapping[str, Any]
    faults: list[Violation] = field(repr=False)
    comma: bool = False
    letters: Mapping[str, str] = field(default_factory=dict, repr=False)

    def cell(self, column: str) -> str:
        """The place of a cell, such as `row 7, column label` or `row 7, column C (label)`."""
        letter = self.letters.get(column)
        return f"{self.where}, column {column if letter is None else f'{letter} ({column})'}"

    def fault(self, kind: str, column: str, message: str) -> None:
        """Note that a cell is wrong."""
        self.faults.append(Violation(kind, self.cell(column), message, {"row": self.place}))

    def text(self, column: str) -> str:
        """The text of a cell without the space around it; empty where there is none."""
        value = self.cells.get(column)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.fault("not_text", column, f"must be a text, not {_kind(value)}")
            return ""
        return str(value).strip()

    def required(self, column: str) -> str:
        """The text of a cell that must not be empty."""
        text = self.text(column)
        if not text and self.cells.get(column) in ("", None):
            self.fault("empty", column, "is empty")
        elif not text and isinstance(self.cells.get(column), str):
            self.fault("empty", column, "holds only spaces")
        return text

    def choice(self, column: str, choices: type[Choice]) -> Choice | None:
        """One of some words, in any case; None for an empty cell."""
        text = self.text(column)
        if not text:
            return None
        found = word_of(text, choices)
        if found is None:
            names = ", ".join(choices)
            self.fault("unknown_value", column, f"{shown(text)} is none of {names}")
        return found

    def yes(self, column: str, words: str = "yes nor no") -> bool:
        """Return whether a cell says yes; an empty cell is a no, and what is neither is a fault.

        Args:
            column: The column.
            words: What is asked for, for the message.
        """
        value = self.cells.get(column)
        text = str(value) if isinstance(value, bool) else self.text(column)
        answer = _ANSWERS.get(text.casefold())
        if answer is None:
            self.fault("unknown_value", column, f"{shown(text)} is neither {words}")
        return bool(answer)

    def number(self, column: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """A finite number; None for an empty cell.

        Args:
            column: The column.
            low: The least that it may be.
            high: The most that it may be.
        """
        text = self.text(column)
        if not text:
            return None
        if self.comma and "." not in text:
            text = text.replace(",", ".", 1)
        try:
            value = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.fault("not_a_number", column, f"{shown(text)} is no finite number such as 0.5")
            return None
        if not low <= value <= high:
            bounds = f"from {low:g} to {high:g}" if high < math.inf else f"at least {low:g}"
            self.fault("out_of_range", column, f"{shown(text)} must be {bounds}")
            return None
        return value

    def whole_numbers(self, column: str, separator: str = ";") -> frozenset[int]:
        """Whole numbers of at least 0, joined by a separator or as a list of JSON."""
        value = self.cells.get(column)
        parts = value if isinstance(value, list) else self.text(column).split(separator)
        found = set()
        for part in parts:
            text = "" if part is None or isinstance(part, bool) else str(part).strip()
            if text.isascii() and text.isdigit() and len(text) < 10:
                found.add(int(text))
            elif text or isinstance(value, list):
                message = (
                    f"{shown(str(part))} is no whole number such as 2; join several by {separator}"
                )
                self.fault("not_a_number", column, message)
        return frozenset(found)


def read_table(path: Path, required: Sequence[str], *, may_be_empty: bool = False) -> Table:
    """The rows of a table, read whole.

    `.json` is an array of objects, `.jsonl` and `.ndjson` one object a line, `.parquet` a table of
    parquet, anything else CSV. All but parquet may be gzipped. A key that a line of JSON Lines
    lacks is an empty cell.

    Args:
        path: The file.
        required: The columns that it must have.
        may_be_empty: Whether a header without rows is fine.

    Raises:
        InputError: It cannot be read, is empty, has no rows or lacks a column.
    """
    faults: list[Violation] = []
    is_json = files.suffix_of(path) in JSON_SUFFIXES
    if path.suffix.lower() == PARQUET_SUFFIX:
        columns, rows = _of_parquet(path, faults)
    else:
        columns, rows = _of_json(path, faults) if is_json else _of_text(path, faults)
    lacking = [name for name in required if name not in columns]
    if lacking and not (is_json and not rows and faults):
        there = ", ".join(shown(name) for name in columns) or "nothing"
        names = ", ".join(lacking)
        raise InputError(
            f"{path} lacks the column{'s' * (len(lacking) > 1)} {names}. It has {there}."
        )
    table = Table(path, columns, rows, faults)
    if not rows:
        table.check()
    if not rows and not may_be_empty:
        raise InputError(f"{path} holds no rows below its header.")
    return table


def _of_json(path: Path, faults: list[Violation]) -> tuple[list[str], list[Row]]:
    columns: dict[str, None] = {}
    rows: list[Row] = []
    is_array = files.suffix_of(path) == ".json"
    is_empty = True
    for number, value in files.values(path) if is_array else files.json_lines(path, strict=True):
        is_empty = False
        where = f"{'entry' if is_array else 'line'} {number}"
        if isinstance(value, InputError):
            faults.append(
                Violation(
                    "not_json",
                    where,
                    str(value).removeprefix(f"{path}, {where}: "),
                    {"row": number},
                )
            )
        elif not isinstance(value, dict):
            message = f"must be a JSON object, not {_kind(value)}"
            faults.append(Violation("not_an_object", where, message, {"row": number}))
        else:
            columns.update(dict.fromkeys(value))
            rows.append(_row(where, number, value, faults))
    if is_empty:
        raise InputError(f"{path} is empty.")
    return list(columns), rows


def _of_text(path: Path, faults: list[Violation]) -> tuple[list[str], list[Row]]:
    lines = ((number, row) for number, (_, row) in enumerate(files.delimited(path), start=1))
    filled = ((number, row) for number, row in lines if any(cell.strip() for cell in row))
    _, header = next(filled, (0, None))
    if header is None:
        raise InputError(f"{path} is empty.")
    columns = [name.strip() for name in header]
    repeated = next((name for name in columns if name and columns.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"{path} has the column {shown(repeated)} twice; rename one.")
    comma = files.delimiter_of(path) == ";"
    rows = []
    for number, row in filled:
        where = f"row {number}"
        if len(row) != len(columns):
            message = f"has {len(row)} cells, but there are {len(columns)} columns"
            faults.append(Violation("wrong_columns", where, message, {"row": number}))
        else:
            rows.append(
                _row(where, number, dict(zip(columns, row, strict=True)), faults, comma=comma)
            )
    return [name for name in columns if name], rows


def table_of(
    path: Path,
    columns: Mapping[str, str],
    lines: Sequence[tuple[int, Mapping[str, Any]]],
    within: str = "",
) -> Table:
    """The table of a sheet, whose rows were read in another way.

    Args:
        path: The file, for messages.
        columns: The names of its columns, with their letters.
        lines: The number of each row and its cells.
        within: What comes before the places of its rows, such as `sheet Claims, `.
    """
    faults: list[Violation] = []
    rows = [
        _row(f"{within}row {number}", number, cells, faults, letters=columns)
        for number, cells in lines
    ]
    return Table(path, list(columns), rows, faults)


def _of_parquet(path: Path, faults: list[Violation]) -> tuple[list[str], list[Row]]:
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            columns = list(file.schema_arrow.names)
        values = [*parquet_rows(path)]
    # pyarrow raises plain OSError, ValueError or UnicodeDecodeError for damaged pages.
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(f"{path} cannot be read as a parquet file; it may be damaged.") from None
    return columns, [
        _row(f"row {number}", number, value, faults) for number, value in enumerate(values, 1)
    ]


def _row(
    where: str,
    number: int,
    cells: Mapping[str, Any],
    faults: list[Violation],
    *,
    comma: bool = False,
    letters: Mapping[str, str] | None = None,
) -> Row:
    row = Row(where, number, cells, faults, comma, letters or {})
    for column, value in cells.items():
        try:
            f"{column}{value}".encode()
        except UnicodeEncodeError:
            message = "holds half a character (a lone surrogate), which no text may"
            row.fault("not_text", ascii(column)[1:-1], message)
    return row


def _kind(value: Any) -> str:
    names = {bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "a text")
