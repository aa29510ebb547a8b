"""Rows of files of others: each is checked, faults name their place, what is left out is counted.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from veritrail_eval.datasets.dataset_file import MOST_FAULTS
from veritrail_eval.tables import read_table
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.process_file.schema import violations_of

Model = TypeVar("Model", bound=BaseModel)


class RowReading:
    """The rows of a data set while they are read.

    Args:
        path: What is read.
        format_name: Name of the loader.
        skip_bad: Whether rows that break rules are left out and counted.
    """

    def __init__(self, path: Path, format_name: str, *, skip_bad: bool) -> None:
        self._path = path
        self._format = format_name
        self._skip_bad = skip_bad
        self._faults: list[Violation] = []
        self._bad: dict[str, None] = {}
        self._left_out: Counter[str] = Counter()
        self._rows_of: dict[Hashable, list[tuple[object, str]]] = {}
        self._contradicted: set[str] = set()

    # What is read

    def rows(self, path: Path, model: type[Model]) -> Iterator[tuple[str, Model]]:
        """The rows of a table that keep the rules, with their places.

        Raises:
            InputError: The file cannot be read, is empty, or lacks a column.
        """
        fields = model.model_fields.items()
        required = [field.alias or name for name, field in fields if field.is_required()]
        table = read_table(path, required)
        broken = {one.facts.get("row") for one in table.faults}
        for fault in table.faults:
            where, _, column = fault.where.partition(", column ")
            self.fault(self._place(path, where), column, fault.message, fault.kind)
        for row in table.rows:
            where = self._place(path, row.where)
            found = None if row.place in broken else self.check(model, row.cells, where)
            if found is not None:
                yield where, found

    def _place(self, path: Path, where: str) -> str:
        return where if path == self._path else f"{path.name}, {where}"

    def check(self, model: type[Model], value: Any, where: str) -> Model | None:
        """A value in a model; None: it breaks rules, which are noted."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            for fault in violations_of(error, where, model):
                self.fault(where, "", fault.message, fault.kind)
            return None

    def agreed(self, key: Hashable, value: object, where: str, same: str) -> str | None:
        """The place of the first row of a key; None: rows contradict each other, which is noted.

        None of the rows that contradict each other is used.

        Args:
            key: What the rows have in common.
            value: The label of this row.
            where: Its place.
            same: What the rows have in common, in words.
        """
        rows = self._rows_of.setdefault(key, [])
        rows.append((value, where))
        first = rows[0][1]
        if all(one == value for one, _ in rows):
            return first
        other = next((place for one, place in rows if one != value), first)
        self.fault(where, "label", f"is not the label of {other}, which has the same {same}")
        for _, place in rows:
            self._bad[place] = None
            self._contradicted.add(place)
        return None

    # What is noted

    def fault(self, where: str, column: str, message: str, kind: str = "wrong_value") -> None:
        """Note that something breaks a rule, so that it is not used."""
        place = f"{where}, column {column}" if column else where
        self._bad[where] = None
        self._faults.append(Violation(kind, place, message))

    def count(self, what: str, number: int = 1) -> None:
        """Count what a rule of the loader leaves out or reads in another way; it is a remark."""
        self._left_out[what] += number

    def refuse_faults(self) -> None:
        """Raise where there are faults that are not left out.

        Raises:
            InputError: With every fault.
        """
        if self._faults and not self._skip_bad:
            number = "a fault" if len(self._faults) == 1 else f"{len(self._faults):,} faults"
            raise InputError(
                f"{self._path}, read in the format {self._format}, has {number}; nothing was read.",
                self._faults[:MOST_FAULTS],
                code="bad_rows",
            )

    def remarks(self) -> list[str]:
        """Return what was left out or read in another way, a line each; bad rows come first."""
        found = [
            f"{counted(number, 'time')}: {what}" for what, number in sorted(self._left_out.items())
        ]
        if self._faults:
            rows = "one row is" if len(self._bad) == 1 else f"{len(self._bad):,} rows are"
            found.insert(0, f"{rows} bad and left out; the first: {self._faults[0]}")
        return found
