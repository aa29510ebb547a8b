"""The base of loaders of tables: a row is claims beside documents, and all are read alike.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from veritrail_eval.datasets.loaders.building import Building, RowModel
from veritrail_eval.datasets.loaders.detecting import (
    stem_of,
    table_files,
    why_no_tables,
)
from veritrail_eval.datasets.model import Dataset

Row = TypeVar("Row", bound=RowModel)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a row.

    Attributes:
        where: For messages, such as `dev.csv, row 7`.
        table: The name of its file without endings.
        number: Which of the rows of its file it is, from 1; rows that break rules do not count.
    """

    where: str
    table: str
    number: int


class TableLoader(ABC, Generic[Row]):
    """Reads a table, or the tables of a folder, row by row: a `DatasetLoader`.

    Attributes:
        name: Name of the format.
        description: What it reads, in a line.
        layout: The files that it reads.
        source: Where people get them.
        title: Name of the data set.
        contents: What the data set holds, in a sentence.
        licence: Under which licence it is published, where it says so.
        row: What a row holds.
        columns: The columns by which a table is known; empty: all of a row.
    """

    name: str
    description: str
    layout: str
    source: str
    title: str
    contents: str
    licence: str | None = None
    row: type[Row]
    columns: Collection[str] = ()

    def detect(self, path: Path) -> str | None:
        """By its columns, or the keys of its first entry."""
        return why_no_tables(path, self.columns or self.row.model_fields)

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        building = Building(path, self.name, self.title, skip_bad=skip_bad)
        for table in table_files(path):
            for number, (where, row) in enumerate(building.rows(table, self.row), 1):
                self.add(building, row, Place(where, stem_of(table), number))
        return building.finish(description=self.contents, licence=self.licence)

    @abstractmethod
    def add(self, building: Building, row: Row, place: Place) -> None:
        """Add the processes, outputs and claims of a row, or note what is wrong with it."""
