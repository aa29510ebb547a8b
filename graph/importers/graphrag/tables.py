"""The tables of an index: which files they are, the columns that are read, texts of their rows.

A judge reads the text of a node and nothing else. So a name that the language model was given
beside a description is part of the text; numbers that only order or count are metadata.

pyarrow is imported only here and only when an index is opened: it is slow to load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers import printed, tables
from veritrail_graph.graph.importers.parquet import parquet_rows

TEXT_UNIT = "text_unit"
ENTITY = "entity"
RELATIONSHIP = "relationship"
COVARIATE = "covariate"
REPORT = "community_report"
EXTRACTED_ENTITY = "extracted_entity"
EXTRACTED_RELATIONSHIP = "extracted_relationship"

REQUIRED: Mapping[str, str] = {
    "text_units": "the text units (stage 1)",
    "entities": "the entities (stages 2 and 3)",
    "relationships": "the relationships (stages 2 and 3)",
    "communities": "the entities and relationships that each report was written from",
    "community_reports": "the community reports (stage 4)",
}
"""What each table is needed for."""

NODES = "nodes"
OLD_PREFIX = "create_final_"
OUTPUT = "output"
ARTIFACTS = "artifacts"


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """The tables of one index.

    Attributes:
        folder: Where the files are.
        prefix: What their names begin with: `create_final_` up to 1.x, nothing later.
        earlier: Older runs beside this one, as GraphRAG up to 0.3 kept them; oldest first.
        suffix: What their names end with: `.csv` where its table provider is set so.
    """

    folder: Path
    prefix: str
    earlier: tuple[Path, ...] = ()
    suffix: str = ".parquet"

    @property
    def is_first_generation(self) -> bool:
        """Return whether the files are named as GraphRAG names them up to 1.x."""
        return self.prefix == OLD_PREFIX

    @property
    def generation(self) -> str:
        """The schema generation, as far as file names show it."""
        return "0.3 to 1.x" if self.is_first_generation else "2.x or 3.x"

    def path(self, table: str) -> Path:
        """The file of a table; snapshots of raw extractions never have the prefix."""
        prefix = "" if table.startswith("raw_") else self.prefix
        return self.folder / f"{prefix}{table}{self.suffix}"

    def present(self) -> list[str]:
        """The required tables that are there."""
        return [table for table in REQUIRED if self.path(table).is_file()]

    def missing(self) -> list[str]:
        """The required tables that are not there."""
        return [table for table in REQUIRED if not self.path(table).is_file()]


def find_layout(path: Path) -> IndexLayout | str:
    """The index at `path` or in its `output` subfolder, or why there is none.

    GraphRAG up to 0.3 wrote each run into `output/TIME/artifacts`: the newest run is taken. Two
    tables are enough to recognise a folder: opening it then names the missing ones.
    """
    if not path.is_dir():
        return "not a folder"
    for folder in (path, path / OUTPUT, path / ARTIFACTS):
        if found := _layout_at(folder):
            return found
    for folder in (path, path / OUTPUT):
        runs = [found for inner in _runs(folder) if (found := _layout_at(inner))]
        if runs:
            return replace(runs[-1], earlier=tuple(one.folder for one in runs[:-1]))
    return (
        f"neither it nor its {OUTPUT}/ subfolder holds GraphRAG's tables "
        f"(community_reports.parquet, {OLD_PREFIX}community_reports.parquet, …), and neither does "
        f"a folder {OUTPUT}/TIME/{ARTIFACTS} in it"
    )


def _layout_at(folder: Path) -> IndexLayout | None:
    # A migrated index keeps its old files beside the new ones; the new ones are in use.
    layouts = [IndexLayout(folder, ""), IndexLayout(folder, OLD_PREFIX)]
    best = max(layouts, key=lambda layout: len(layout.present()))
    if len(best.present()) >= 2:
        return best
    of_text = IndexLayout(folder, "", suffix=_CSV)  # others call tables so, too: all must be there
    return of_text if not of_text.missing() else None


def _runs(folder: Path) -> list[Path]:
    """The folders of runs, oldest first: GraphRAG names them by the time, as 20240722-093015."""
    try:
        found = [inner for inner in folder.glob(f"*/{ARTIFACTS}") if inner.is_dir()]
    except OSError:
        return []
    # A name that is no time says nothing of when it was written.
    return sorted(found, key=lambda one: (one.parent.name[:1].isdigit(), one.parent.name))


_CSV = ".csv"

Row = Mapping[str, Any]
_MAGIC = b"PAR1"


class Shape(Enum):
    """The shape of the values of a column."""

    TEXT = "text"
    TEXTS = "a list of texts"
    NUMBER = "a number"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column that is read; one that is not required may be absent.

    Attributes:
        earlier: What it was called before 0.9, or "".
    """

    name: str
    shape: Shape = Shape.TEXT
    required: bool = True
    earlier: str = ""


def _optional(shape: Shape, *names: str) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, shape, required=False) for name in names)


_NUMBER = _optional(Shape.NUMBER, "human_readable_id")
COLUMNS: Mapping[str, tuple[TableColumn, ...]] = {
    "text_units": (
        TableColumn("id"),
        TableColumn("text"),
        *_NUMBER,
        *_optional(Shape.NUMBER, "n_tokens"),
        *_optional(Shape.TEXTS, "document_ids"),
        *_optional(Shape.TEXT, "document_id"),
    ),
    "entities": (
        TableColumn("id"),
        TableColumn("title", earlier="name"),
        TableColumn("description"),
        TableColumn("text_unit_ids", Shape.TEXTS),
        *_NUMBER,
        *_optional(Shape.TEXT, "type"),
        *_optional(Shape.NUMBER, "degree"),
    ),
    "relationships": (
        TableColumn("id"),
        TableColumn("source"),
        TableColumn("target"),
        TableColumn("description"),
        TableColumn("text_unit_ids", Shape.TEXTS),
        *_NUMBER,
        *_optional(Shape.NUMBER, "weight"),
        TableColumn("combined_degree", Shape.NUMBER, required=False, earlier="rank"),
    ),
    "covariates": (
        TableColumn("id"),
        TableColumn("description"),
        TableColumn("subject_id"),
        TableColumn("text_unit_id"),
        *_NUMBER,
        *_optional(Shape.TEXT, "covariate_type", "type", "object_id", "status"),
        *_optional(Shape.TEXT, "start_date", "end_date", "source_text"),
    ),
    "communities": (
        TableColumn("community", Shape.NUMBER, earlier="id"),
        TableColumn("level", Shape.NUMBER),
        TableColumn("entity_ids", Shape.TEXTS, required=False),  # before 0.9 in `nodes`
        TableColumn("relationship_ids", Shape.TEXTS),
    ),
    "nodes": (
        TableColumn("id"),
        TableColumn("community", Shape.NUMBER),
        *_optional(Shape.NUMBER, "level"),
    ),
    "community_reports": (
        TableColumn("id"),
        TableColumn("community", Shape.NUMBER),
        TableColumn("level", Shape.NUMBER),
        TableColumn("full_content"),
        *_NUMBER,
        *_optional(Shape.TEXT, "title"),
        *_optional(Shape.NUMBER, "rank"),
    ),
    "documents": (TableColumn("id"), *_optional(Shape.TEXT, "title")),
    "raw_entities": (
        TableColumn("title"),
        TableColumn("description", Shape.TEXTS),
        TableColumn("text_unit_ids", Shape.TEXTS),
        *_optional(Shape.TEXT, "type"),
    ),
    "raw_relationships": (
        TableColumn("source"),
        TableColumn("target"),
        TableColumn("description", Shape.TEXTS),
        TableColumn("text_unit_ids", Shape.TEXTS),
    ),
}
"""The columns of each table; the generations differ only in which optional ones they have."""


@dataclass(frozen=True, slots=True)
class Table:
    """A file whose columns were checked: parquet, or CSV, in whose cells lists are text.

    Attributes:
        path: The file.
        columns: The columns that are read, by their names of today.
        earlier: What the file calls them, where it has another name.
    """

    path: Path
    columns: tuple[str, ...]
    earlier: Mapping[str, str] = field(default_factory=dict)

    def where(self, row: int) -> str:
        """The place of a row, counted from 0."""
        return f"{self.path.name} row {row}"

    def rows(self, columns: Iterable[str] | None = None) -> Iterator[Row]:
        """The rows in order, with those of `columns` that the file has.

        Raises:
            InputError: The file can no longer be read.
        """
        import pyarrow as pa

        names = {
            self.earlier.get(name, name): name
            for name in self.columns
            if columns is None or name in set(columns)
        }
        if self.path.suffix == _CSV:
            yield from self._rows_of_text(names)
            return
        try:
            yield from parquet_rows(self.path, names)
        # pyarrow raises plain OSError, ValueError or UnicodeDecodeError for damaged pages.
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(unreadable(self.path)) from error

    def _rows_of_text(self, names: Mapping[str, str]) -> Iterator[Row]:
        shapes = {column.name: column.shape for column in COLUMNS[self.path.stem]}
        for number, row in tables.rows(self.path):
            if isinstance(row, InputError):
                raise row
            where = self.where(number - 1)
            yield {
                name: _of_text(row[own], shapes[name], f"{self.path.parent / where}: {name!r}")
                for own, name in names.items()
            }


def _of_text(text: str, shape: Shape, where: str) -> Any:
    """Return what a cell of CSV holds; None where it is empty.

    Raises:
        InputError: It holds no whole list where one is expected.
    """
    if not text.strip():
        return None
    if shape is Shape.NUMBER:
        number = as_number(text)
        with suppress(ValueError):
            return float(text) if number is None else number
    if shape is not Shape.TEXTS:
        return text
    found = printed.unfolded(text)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InputError(
            f"{where} holds no whole list of texts: it begins with {text.strip()[:40]!r}. pandas "
            "prints long ones with `…` in the middle; let GraphRAG write parquet"
        )
    return found


def open_tables(layout: IndexLayout) -> dict[str, Table]:
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
    found: dict[str, Table] = {}
    for name, columns in COLUMNS.items():
        path = layout.path(name)
        if path.is_file() and name == NODES and not _needs_nodes(found):
            # Its columns matter only where it says more than `communities` (0.9 to 1.1).
            nodes = _check(path, columns, [])
            if nodes.columns and {"id", "community"} <= {*nodes.columns}:
                found[name] = nodes
        elif path.is_file():
            found[name] = _check(path, columns, problems)
    if _needs_nodes(found) and NODES not in found:
        where = f"{layout.path('communities')} column 'entity_ids'"
        reason = (
            f"is missing, and so is {layout.path(NODES).name}, which holds the members of "
            "communities before GraphRAG 0.9. Copy the whole output folder of the GraphRAG run"
        )
        problems.append(Violation("missing_column", where, reason))
    if problems:
        raise InputError(
            f"{layout.folder} cannot be read as a GraphRAG {layout.generation} index", problems
        )
    return found


def _needs_nodes(found: Mapping[str, Table]) -> bool:
    """Return whether the members of communities are only in the table of nodes, as before 0.9."""
    communities = found.get("communities")
    return bool(communities and communities.columns and "entity_ids" not in communities.columns)


def _check(path: Path, columns: tuple[TableColumn, ...], problems: list[Violation]) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix == _CSV:
        return _check_text(path, columns, problems)
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError):
        problems.append(Violation("unreadable_file", str(path), unreadable(path, named=False)))
        return Table(path, ())
    types = {field.name: field.type for field in schema}
    found: list[str] = []
    earlier: dict[str, str] = {}
    for column in columns:
        name = column.name if column.name in types else column.earlier
        if name not in types:
            if column.required:
                problems.append(_missing_column(path, column, types))
            continue
        found.append(column.name)
        if name != column.name:
            earlier[column.name] = name
        if not _fits(types[name], column.shape):
            problems.append(
                Violation(
                    "wrong_type",
                    f"{path} column {name!r}",
                    f"holds {types[name]}; {column.shape.value} is expected",
                )
            )
    return Table(path, tuple(found), earlier)


def _check_text(path: Path, columns: tuple[TableColumn, ...], problems: list[Violation]) -> Table:
    """Check the heading of a table as CSV; what is in its cells is known once they are read."""
    try:
        names = dict.fromkeys(tables.columns(path))
    except InputError as error:
        words = str(error).removeprefix(f"{path} ")
        problems.append(Violation("unreadable_file", str(path), words))
        return Table(path, ())
    lacking = [one for one in columns if one.required and one.name not in names]
    problems += [_missing_column(path, one, names) for one in lacking]
    return Table(path, tuple(one.name for one in columns if one.name in names))


def _missing_column(path: Path, column: TableColumn, present: Iterable[str]) -> Violation:
    return Violation(
        "missing_column",
        f"{path} column {column.name!r}",
        "is missing; indexes of GraphRAG 0.3 to 3.1 have it. Run the index step again with one of "
        "these, or migrate the index with GraphRAG's notebooks. The file has: "
        + ", ".join(present),
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
    """Return why a file is no parquet file, as far as its first and last bytes show."""
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
    """A value as an integer, or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else None
    if isinstance(value, str) and len(value) <= 18:
        said = value.strip().removesuffix(".0")
        digits = said.removeprefix("-")
        return int(said) if digits.isascii() and digits.isdigit() else None
    return None


_METADATA: Mapping[str, tuple[str, ...]] = {
    TEXT_UNIT: ("n_tokens",),
    ENTITY: ("title", "type", "degree"),
    RELATIONSHIP: ("weight", "combined_degree"),
    COVARIATE: ("covariate_type",),
    REPORT: ("title", "community", "level", "rank"),
    EXTRACTED_ENTITY: ("title", "type"),
    EXTRACTED_RELATIONSHIP: (),
}

_CLAIM_LINES = (
    ("Subject", "subject_id"),
    ("Object", "object_id"),
    ("Type", "type"),
    ("Status", "status"),
    ("Start date", "start_date"),
    ("End date", "end_date"),
    ("Source text", "source_text"),
)


def _entity(row: Row, part: int) -> str:
    return _under(row["title"], _description(row, part))


def _relationship(row: Row, part: int) -> str:
    return _under(f"{row['source'] or ''} -> {row['target'] or ''}", _description(row, part))


def _covariate(row: Row, part: int) -> str:
    lines = [f"{label}: {row[key]}" for label, key in _CLAIM_LINES if row.get(key)]
    return "\n".join([_description(row, part), *lines]).strip()


def _description(row: Row, part: int) -> str:
    value = row["description"]
    return (value[part] if isinstance(value, list) else value) or ""


def _under(heading: str | None, text: str) -> str:
    return f"{heading or ''}\n{text}" if text else heading or ""


_TEXTS: Mapping[str, Callable[[Row, int], str]] = {
    TEXT_UNIT: lambda row, part: row["text"] or "",
    ENTITY: _entity,
    RELATIONSHIP: _relationship,
    COVARIATE: _covariate,
    REPORT: lambda row, part: row["full_content"] or "",
    EXTRACTED_ENTITY: _entity,
    EXTRACTED_RELATIONSHIP: _relationship,
}


def text_of(kind: str, row: Row, part: int = 0) -> str:
    """The text of a node; `part` picks one of several descriptions of a raw row."""
    return _TEXTS[kind](row, part)


def metadata_of(kind: str, row: Row, titles: Mapping[str, str]) -> dict[str, Any]:
    """Return what is known of a node beside its text; `titles` are those of the documents by id."""
    known: dict[str, Any] = {"parquet_id": row.get("id")}
    known |= {key: row.get(key) for key in ("human_readable_id", *_METADATA[kind])}
    if kind == TEXT_UNIT:
        ids = row.get("document_ids") or [row.get("document_id")]
        known["documents"] = [titles.get(key, key) for key in ids if key] or None
    return {key: value for key, value in known.items() if not _is_missing(value)}


def _is_missing(value: Any) -> bool:
    # A column with gaps comes back from pandas as floats with NaN, which is no JSON.
    return value is None or (isinstance(value, float) and not math.isfinite(value))
