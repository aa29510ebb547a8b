"""Which rows of the index a query was given, as far as what it wrote down says so.

GraphRAG's search results carry their context as data frames by name of the table
(`reports`, `entities`, `relationships`, `claims`, `sources`) or as the text of the prompt:
tables with `|` between the columns, each headed by `-----Reports-----`. Dumped to JSON a
frame is a list of records or an object of columns.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from veritrail_graph.graph.importers.graphrag.citations import KIND_OF_NAME
from veritrail_graph.graph.importers.graphrag.tables import as_number

Given = Mapping[str, tuple[int, ...]]
_HEADING = re.compile(r"^-{4,5}([A-Za-z ]{1,40})-{4,5}[ \t]*$", re.MULTILINE)
_ID_KEYS = ("id", "source_id", "short_id", "human_readable_id")


def read_context(value: Any) -> Given | None:
    """The numbers of the given rows by kind, or None when `value` does not say any."""
    if isinstance(value, str):
        return _from_text(value) or None
    if not isinstance(value, Mapping):
        return None
    given: dict[str, tuple[int, ...]] = {}
    for name, frame in value.items():
        kind = KIND_OF_NAME.get(str(name).lower())
        numbers = tuple(dict.fromkeys(_numbers(frame))) if kind else ()
        if kind and numbers:
            given[kind] = tuple(dict.fromkeys((*given.get(kind, ()), *numbers)))
    return given or None


def _numbers(frame: Any) -> Iterator[int]:
    for record in _records(frame):
        # Local search may list candidates beside what fitted into the prompt.
        if str(record.get("in_context", True)).lower() == "false":
            continue
        value = next((record[key] for key in _ID_KEYS if key in record), None)
        number = as_number(value)
        if number is not None:
            yield number


def _records(frame: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(frame, list):
        return [
            record if isinstance(record, Mapping) else {"id": record}
            for record in frame
            if not isinstance(record, list)
        ]
    if not isinstance(frame, Mapping):
        return ()
    columns = {name: _column(values) for name, values in frame.items()}
    length = max(map(len, columns.values()), default=0)
    return [
        {name: values[place] for name, values in columns.items() if place < len(values)}
        for place in range(length)
    ]


def _column(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    return values if isinstance(values, list) else []


def _from_text(text: str) -> Given:
    given: dict[str, tuple[int, ...]] = {}
    # What stands before the first heading is a batch of a global search: reports only.
    parts = _HEADING.split(text)
    for name, table in zip(["reports", *parts[1::2]], parts[0::2], strict=True):
        kind = KIND_OF_NAME.get(name.strip().lower())
        numbers = _first_cells(table) if kind else []
        if kind and numbers:
            given[kind] = tuple(dict.fromkeys((*given.get(kind, ()), *numbers)))
    return given


def _first_cells(text: str) -> list[int]:
    try:
        table = [row for row in csv.reader(io.StringIO(text), delimiter="|") if row]
    except csv.Error:
        return []
    if not table or table[0][0].strip().lower() not in _ID_KEYS:
        return []
    numbers = (as_number(row[0]) for row in table[1:])
    return [number for number in numbers if number is not None]
