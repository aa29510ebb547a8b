"""Data frames as pandas writes them in JSON, as the rows that a table would hold.

By default `to_json` writes a frame by column: an object for each column, with the value of each
row below the row's key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FEWEST = 2
"""Columns; fewer may be any object."""
_SPLIT = ({"columns", "data"}, {"columns", "index", "data"})


def as_rows(value: Any) -> Any:
    """The rows of a data frame, or the value itself where it is none."""
    if not isinstance(value, dict) or len(value) < _FEWEST:
        return value
    if set(value) in _SPLIT:
        return _of_split(value)
    if not all(isinstance(one, dict) for one in value.values()):
        return value
    columns = list(value.values())
    keys = list(columns[0])
    if not keys or any(one.keys() != columns[0].keys() for one in columns[1:]):
        return value
    if not all(map(_is_number, keys)) and not any(_names(one) for one in columns):
        return value
    return [{name: column[key] for name, column in value.items()} for key in keys]


def _of_split(value: Mapping[str, Any]) -> Any:
    names, rows = value["columns"], value["data"]
    if not isinstance(names, list) or not isinstance(rows, list):
        return value
    if not all(isinstance(one, str) for one in names):
        return value
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return value
    return [dict(zip(names, row, strict=True)) for row in rows]


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdigit()


def _names(column: Mapping[str, Any]) -> bool:
    """Return whether the rows have the values of a column as their keys."""
    return all(key == str(one) for key, one in column.items())
