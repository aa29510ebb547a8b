"""The columns of tables as they were mapped before, kept in the home folder by their names."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.column_map import ColumnMap, KnownTables

_FILE = "columns.json"
_MOST = 200
"""Tables that are kept: the latest."""
_LARGEST = 10_000_000


def known_tables(home: Path) -> KnownTables:
    """Return the maps that are kept; none where there is no such file, or it is damaged."""
    from veritrail_graph.graph.importers.column_map import ColumnMap, KnownTables

    maps = {}
    for one in _kept(home):
        names, mapped = one.get("columns"), one.get("mapped")
        if isinstance(names, list) and isinstance(mapped, dict):
            maps[frozenset(map(str, names))] = ColumnMap(
                {str(key): str(name) for key, name in mapped.items()}, is_remembered=True
            )
    return KnownTables(maps)


def remember_columns(home: Path, paths: Sequence[Path], columns: ColumnMap) -> None:
    """Keep how the tables among some paths were mapped; it was read from them before.

    A home folder that cannot be written keeps nothing: the map is given again then.
    """
    from veritrail_graph.graph.importers.rag import column_names

    kept = _kept(home)
    for path in paths:
        names: list[str] = []
        with suppress(InputError, OSError, ValueError):
            names = sorted(set(column_names(path))) if path.is_file() else []
        if names:
            kept = [one for one in kept if one.get("columns") != names]
            kept.append({"columns": names, "mapped": dict(columns.columns)})
    with suppress(OSError):
        from veritrail_graph.graph.private import make_private_folders, write_private

        make_private_folders(home)
        whole = home / f"{_FILE}.{os.getpid()}"
        write_private(whole, json.dumps({"tables": kept[-_MOST:]}, ensure_ascii=False, indent=1))
        whole.replace(home / _FILE)


def _kept(home: Path) -> list[dict[str, Any]]:
    try:
        path = home / _FILE
        if path.stat().st_size > _LARGEST:
            return []
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    tables = value.get("tables") if isinstance(value, dict) else None
    return [one for one in tables if isinstance(one, dict)] if isinstance(tables, list) else []
