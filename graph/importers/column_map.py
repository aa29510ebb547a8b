"""The columns of a table as a person maps them: `contexts=knowledge,answer=right_answer`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from veritrail_graph.graph.errors import InputError, shown

MAPPED = ("question", "contexts", "answer", "reference")
"""The meanings that a column can have."""
COLUMNS_UNKNOWN = "columns_unknown"
"""The code of an error about columns that a caller can name."""
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of a table by their meaning.

    Attributes:
        columns: The name of a column for each meaning that is mapped. Where a cell holds an object,
            a name may lead into it: `inputs.question`.
        is_remembered: Whether it was given for an earlier table of this shape.
    """

    columns: Mapping[str, str]
    is_remembered: bool = False

    @classmethod
    def of(cls, given: str | Mapping[str, str]) -> ColumnMap:
        """Return the map that a text says, or that names by their meaning are.

        A text that begins with `{` is an object of JSON, which may hold any name.

        Raises:
            InputError: It is none.
        """
        columns: dict[str, str] = {}
        for meaning, name in _pairs(given):
            if meaning not in MAPPED or not name:
                written = f"{meaning}={name}" if name else meaning
                raise InputError(
                    f"{shown(written)} maps no column. Write MEANING=COLUMN, with commas "
                    "between: contexts=knowledge,answer=right_answer. Meanings are "
                    f"{', '.join(MAPPED)}."
                )
            if meaning in columns:
                raise InputError(f"{meaning} is mapped twice: name one column for it")
            if name in columns.values():
                raise InputError(
                    f"the column {shown(name)} is mapped twice: what it holds can be one thing"
                )
            columns[meaning] = name
        return cls(columns)

    def __str__(self) -> str:
        """Return it as it is written."""
        if any("," in name or name != name.strip() for name in self.columns.values()):
            return json.dumps(dict(self.columns), ensure_ascii=False)
        return ",".join(f"{meaning}={name}" for meaning, name in self.columns.items())

    def fault(self, names: Collection[str]) -> str | None:
        """Return which column a table does not have; None: it has all.

        Args:
            names: The columns of the table.
        """
        for meaning, name in self.columns.items():
            if name in names or name.partition(".")[0] in names:
                continue
            close = get_close_matches(name, names, 1)
            listed = ", ".join(list(names)[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            hint = f" Did you mean {shown(close[0])}?" if close else ""
            return f"no column {shown(name)} for the {meaning}: there are {listed}.{hint}"
        return None


def _pairs(given: object) -> Iterator[tuple[str, str]]:
    """Yield meanings and names, as they are given.

    Raises:
        InputError: They are no texts by their meaning.
    """
    if isinstance(given, str) and given.lstrip()[:1] == "{":
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise InputError(f"{shown(str(given))} is no JSON: it maps no columns") from None
    if isinstance(given, str):
        for part in given.split(","):
            meaning, _, name = part.partition("=")
            yield meaning.strip(), name.strip()
    elif isinstance(given, Mapping) and given:
        for meaning, name in given.items():
            if not isinstance(meaning, str) or not isinstance(name, str):
                raise InputError(f"{shown(repr(name))} is no name of a column for {meaning!r}")
            yield meaning, name
    else:
        raise InputError(
            f"{shown(repr(given))} maps no column. Name columns by their meaning: "
            '{"contexts": "knowledge", "answer": "right_answer"}.'
        )


def cell(row: Mapping[str, Any], name: str) -> Any:
    """Return what a row holds in a column, or in the object in one; None where there is nothing."""
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


@dataclass(frozen=True, slots=True)
class KnownTables:
    """The maps that were given for earlier tables, by the shape of the table.

    Attributes:
        maps: For the names of all columns of a table how they were mapped.
    """

    maps: Mapping[frozenset[str], ColumnMap] = field(default_factory=dict)

    def map_of(self, names: Iterable[str]) -> ColumnMap | None:
        """Return how a table of these columns was mapped; None: it was not."""
        return self.maps.get(frozenset(names))
