"""The answers of queries: columns and rows.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer of the library.

    Attributes:
        columns: Names of the columns.
        rows: Rows as JSON values.
        truncated: Whether there were more rows.
        indicative: Whether it draws on a verdict that no model gave; None: on none at all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool
    indicative: bool | None = None


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Columns and rows of a statement given as text; `truncated` when there were more rows.

    `changes` counts what changed, in the words of the engine (`nodes_created`).
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    changes: Mapping[str, int] = field(default_factory=dict)
