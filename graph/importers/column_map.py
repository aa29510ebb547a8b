"""The columns of a table as a person maps them: `contexts=knowledge,answer=right_answer`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from veritrail_graph.graph.errors import InputError, shown

MAPPED = ("question", "contexts", "answer", "reference")
"""The meanings that a column can have."""
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
    def of(cls, text: str) -> ColumnMap:
        """Return the map that a text says.

        Raises:
            InputError: It is none.
        """
        columns: dict[str, str] = {}
        for part in text.split(","):
            meaning, equals, name = (one.strip() for one in part.partition("="))
            if not equals or meaning not in MAPPED or not name:
                raise InputError(
                    f"{shown(part.strip())} maps no column. Write MEANING=COLUMN, with commas "
                    "between: contexts=knowledge,answer=right_answer. Meanings are "
                    f"{', '.join(MAPPED)}."
                )
            if meaning in columns:
                raise InputError(f"{meaning} is mapped twice: name one column for it")
            columns[meaning] = name
        return cls(columns)

    def __str__(self) -> str:
        """Return it as it is written."""
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
