"""Rows of tables as text and of parquet files, as the objects that a file of JSON would hold.

Programs that keep traces write them as tables, too: a row is a span or a trace, and what is no text
stands in its cells as JSON, or as Python prints it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.parquet import open_parquet, parquet_rows

PARQUET = ".parquet"
_UUID_BYTES = 16


def is_table(path: Path) -> bool:
    """Return whether a file is called a table, and is not one of JSON under such a name."""
    suffix = files.suffix_of(path)
    is_called = suffix == PARQUET or suffix in files.DELIMITERS
    return is_called and not (path.is_file() and files.begins_as_json(path))


def columns(path: Path) -> list[str]:
    """Return the names of the columns of a table.

    Raises:
        InputError: It cannot be read.
    """
    if files.suffix_of(path) == PARQUET:
        with _readable(path), open_parquet(path) as file:
            names = [*file.schema_arrow.names]
        return _distinct(path, names)
    return _distinct(path, next((row for _, row in files.delimited(path) if row), []))


def _distinct(path: Path, names: list[str]) -> list[str]:
    """Return the names of columns; further ones without a name are called by their place.

    Raises:
        InputError: Two have one name: which of them is meant is not known.
    """
    twice = next((name for name, times in Counter(names).items() if times > 1 and name), None)
    if twice is not None:
        raise InputError(
            f"{path}: two columns are called {shown(twice)}, and which is meant is not known. "
            "Rename one."
        )
    first = names.index("") if "" in names else -1
    return [
        name or ("" if place == first else f"column {place + 1}")
        for place, name in enumerate(names)
    ]


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    """Number (from 1) and cells by column of each row; an InputError in the place of a bad one.

    Raises:
        InputError: The table cannot be read.
    """
    if files.suffix_of(path) != PARQUET:
        yield from _of_text(path)
        return
    columns(path)  # two of one name
    numbered = enumerate(parquet_rows(path), start=1)
    while True:
        with _readable(path):
            row = next(numbered, None)
        if row is None:
            return
        yield row


def _of_text(path: Path) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    lines = (row for _, row in files.delimited(path) if row)
    names = _distinct(path, next(lines, []))
    for number, cells in enumerate(lines, start=1):
        if len(cells) == len(names):
            yield number, dict(zip(names, cells, strict=True))
        else:
            yield number, InputError(f"{path}#{number}: the row has not as many columns")


def records(path: Path) -> Iterator[tuple[int, Any]]:
    """Return the rows with what their cells hold: objects, lists and times; null for empty ones.

    Raises:
        InputError: The table cannot be read.
    """
    for number, row in rows(path):
        yield number, row if isinstance(row, InputError) else opened(row)


def opened(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with what its cells hold."""
    return {name: _opened(value) for name, value in row.items()}


def _opened(value: Any) -> Any:
    from veritrail_graph.graph.importers.traces.texts import unfold

    if isinstance(value, str):
        if not value.strip():
            return None
        inner = unfold(value)
        return value if inner is None else inner
    return as_json(value)


def as_json(value: Any) -> Any:
    """Return a value of a parquet file as JSON holds it: a map as an object, a time as text."""
    if isinstance(value, dict):
        return {key: as_json(one) for key, one in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(one, tuple) and len(one) == 2 for one in value):
            return {str(key): as_json(one) for key, one in value}
        return [as_json(one) for one in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return (
            str(UUID(bytes=value))
            if len(value) == _UUID_BYTES
            else value.decode("utf-8", "replace")
        )
    if isinstance(value, Decimal):
        return float(value)
    return str(value) if isinstance(value, UUID) else value


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say that a file is no parquet file, where reading it fails."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} is no parquet file that can be read: {error}") from None
