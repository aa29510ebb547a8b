"""Reading the parquet tables of an index: the columns that are needed, batch by batch.

pyarrow is imported only here and only when an index is opened: it is slow to load.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.graphrag.layout import REQUIRED, Layout

Row = Mapping[str, Any]
BATCH_ROWS = 1024
_MAGIC = b"PAR1"


class Shape(Enum):
    """What the values of a column are."""

    TEXT = "text"
    TEXTS = "a list of texts"
    NUMBER = "a number"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is read; one that is not required may be absent."""

    name: str
    shape: Shape = Shape.TEXT
    required: bool = True


def _optional(shape: Shape, *names: str) -> tuple[Column, ...]:
    return tuple(Column(name, shape, required=False) for name in names)


_NUMBER = _optional(Shape.NUMBER, "human_readable_id")
COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "text_units": (
        Column("id"),
        Column("text"),
        *_NUMBER,
        *_optional(Shape.NUMBER, "n_tokens"),
        *_optional(Shape.TEXTS, "document_ids"),
        *_optional(Shape.TEXT, "document_id"),
    ),
    "entities": (
        Column("id"),
        Column("title"),
        Column("description"),
        Column("text_unit_ids", Shape.TEXTS),
        *_NUMBER,
        *_optional(Shape.TEXT, "type"),
        *_optional(Shape.NUMBER, "degree"),
    ),
    "relationships": (
        Column("id"),
        Column("source"),
        Column("target"),
        Column("description"),
        Column("text_unit_ids", Shape.TEXTS),
        *_NUMBER,
        *_optional(Shape.NUMBER, "weight", "combined_degree"),
    ),
    "covariates": (
        Column("id"),
        Column("description"),
        Column("subject_id"),
        Column("text_unit_id"),
        *_NUMBER,
        *_optional(Shape.TEXT, "covariate_type", "type", "object_id", "status"),
        *_optional(Shape.TEXT, "start_date", "end_date", "source_text"),
    ),
    "communities": (
        Column("community", Shape.NUMBER),
        Column("level", Shape.NUMBER),
        Column("entity_ids", Shape.TEXTS),
        Column("relationship_ids", Shape.TEXTS),
    ),
    "community_reports": (
        Column("id"),
        Column("community", Shape.NUMBER),
        Column("level", Shape.NUMBER),
        Column("full_content"),
        *_NUMBER,
        *_optional(Shape.TEXT, "title"),
        *_optional(Shape.NUMBER, "rank"),
    ),
    "documents": (Column("id"), *_optional(Shape.TEXT, "title")),
    "raw_entities": (
        Column("title"),
        Column("description", Shape.TEXTS),
        Column("text_unit_ids", Shape.TEXTS),
        *_optional(Shape.TEXT, "type"),
    ),
    "raw_relationships": (
        Column("source"),
        Column("target"),
        Column("description", Shape.TEXTS),
        Column("text_unit_ids", Shape.TEXTS),
    ),
}
"""The columns of each table; the generations differ only in which optional ones they have."""


@dataclass(frozen=True, slots=True)
class Table:
    """A parquet file whose columns were checked."""

    path: Path
    columns: tuple[str, ...]

    def where(self, row: int) -> str:
        """The place of a row, counted from 0."""
        return f"{self.path.name} row {row}"

    def rows(self, columns: Iterable[str] | None = None) -> Iterator[Row]:
        """The rows in order, with those of `columns` that the file has.

        Raises:
            InputError: The file can no longer be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = [c for c in self.columns if columns is None or c in set(columns)]
        try:
            with pq.ParquetFile(self.path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=wanted, use_threads=False):
                    yield from batch.to_pylist()
        # pyarrow raises plain OSError, ValueError or UnicodeDecodeError for damaged pages.
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(unreadable(self.path)) from error


def open_tables(layout: Layout) -> dict[str, Table]:
    """All tables of an index, after a check of every file.

    Raises:
        InputError: Required files or columns are missing, or a file cannot be read; all
            problems are listed at once.
    """
    problems = [
        Violation(
            "missing_file",
            str(layout.path(table)),
            f"no such file; it holds {REQUIRED[table]}. "
            "Copy the whole output folder of the GraphRAG run, or run the index step again",
        )
        for table in layout.missing()
    ]
    tables = {}
    for name, columns in COLUMNS.items():
        path = layout.path(name)
        if path.is_file():
            found = _check(path, columns, problems)
            tables[name] = Table(path, found)
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise InputError(
            f"{layout.folder} cannot be read as a GraphRAG {layout.generation} index:\n{listed}",
            problems,
        )
    return tables


def _check(path: Path, columns: tuple[Column, ...], problems: list[Violation]) -> tuple[str, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError):
        problems.append(Violation("unreadable_file", str(path), unreadable(path, named=False)))
        return ()
    types = {field.name: field.type for field in schema}
    for column in columns:
        if column.name not in types:
            if column.required:
                problems.append(_missing_column(path, column, types))
        elif not _fits(types[column.name], column.shape):
            problems.append(
                Violation(
                    "wrong_type",
                    f"{path} column {column.name!r}",
                    f"holds {types[column.name]}; {column.shape.value} is expected",
                )
            )
    return tuple(column.name for column in columns if column.name in types)


def _missing_column(path: Path, column: Column, present: Mapping[str, Any]) -> Violation:
    return Violation(
        "missing_column",
        f"{path} column {column.name!r}",
        "is missing; GraphRAG writes it in the schema generations that can be read here "
        "(1.1.2, 2.1.0, 3.1.2 and those between). The file has: " + ", ".join(present),
    )


def _fits(kind: Any, shape: Shape) -> bool:
    import pyarrow as pa

    is_type = pa.types
    if is_type.is_dictionary(kind):
        kind = kind.value_type
    if is_type.is_null(kind):
        return True
    if shape is Shape.TEXTS:
        is_list = is_type.is_list(kind) or is_type.is_large_list(kind)
        return is_list and _fits(kind.value_type, Shape.TEXT)
    is_text = is_type.is_string(kind) or is_type.is_large_string(kind)
    if shape is Shape.TEXT:
        return bool(is_text or is_type.is_string_view(kind))
    # Community numbers were texts in some releases, and are floats where some are missing.
    return bool(is_text or is_type.is_integer(kind) or is_type.is_floating(kind))


def unreadable(path: Path, *, named: bool = True) -> str:
    """Why a file is no parquet file, as far as its first and last bytes tell."""
    before = f"{path}: " if named else ""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(64)
            file.seek(max(0, size - 4))
            tail = file.read(4)
    except OSError as error:
        return f"{before}cannot be read: {error.strerror or 'input/output error'}"
    if head.startswith(b"version https://git-lfs"):
        return f"{before}is a Git LFS pointer, not the file itself; run `git lfs pull`"
    if not head.startswith(_MAGIC):
        return f"{before}is not a Parquet file; copy it again from the GraphRAG run"
    if tail != _MAGIC:
        return f"{before}is a Parquet file that was cut short; copy it again from the GraphRAG run"
    return f"{before}is a damaged Parquet file; copy it again from the GraphRAG run"


def as_number(value: Any) -> int | None:
    """The integer that a value stands for, or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else None
    if isinstance(value, str) and len(value) <= 18:
        digits = value.strip().removesuffix(".0")
        return int(digits) if digits.isascii() and digits.isdigit() else None
    return None
