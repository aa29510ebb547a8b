"""The columns of tables as they were mapped before, kept in the home folder by their names.

A service keeps them for each key: how one caller reads a table says nothing for another.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.column_map import ColumnMap, KnownTables
    from veritrail_graph.graph.importers.registry import ImportOptions

_FILE = "columns.json"
_MOST = 200
"""Tables that are kept: the latest."""
_LARGEST = 10_000_000


def with_known_tables(
    settings: Settings, importing: ImportOptions | None, by: Caller | None = None
) -> ImportOptions:
    """Return options of an importer with the limits that are set, and what a caller mapped before.

    Args:
        settings: The settings.
        importing: The options; None: the defaults.
        by: The caller; None: the person here.
    """
    from veritrail_graph.graph.importers.registry import ImportOptions

    return replace(
        importing or ImportOptions(),
        max_node_text=settings.max_node_text,
        known_tables=known_tables(settings.home, _key_of(by)),
    )


async def remember(
    settings: Settings,
    paths: Sequence[Path],
    importing: ImportOptions | None,
    by: Caller | None = None,
) -> None:
    """Keep how a caller mapped the columns of the tables among some paths, once they were read."""
    if importing is not None and importing.columns is not None:
        mapped = importing.columns
        await asyncio.to_thread(remember_columns, settings.home, paths, mapped, _key_of(by))


def _key_of(by: Caller | None) -> str | None:
    return None if by is None else by.key_id


def known_tables(home: Path, key_id: str | None = None) -> KnownTables:
    """Return the maps that are kept; none where there is no such file, or it is damaged.

    Args:
        home: The home folder.
        key_id: The key of the caller; None: the person here.
    """
    from veritrail_graph.graph.importers.column_map import ColumnMap, KnownTables

    maps = {}
    for one in _kept(home):
        names, mapped = one.get("columns"), one.get("mapped")
        is_own = one.get("key") == key_id
        if is_own and isinstance(names, list) and isinstance(mapped, dict):
            maps[frozenset(map(str, names))] = ColumnMap(
                {str(key): str(name) for key, name in mapped.items()}, is_remembered=True
            )
    return KnownTables(maps)


def remember_columns(
    home: Path, paths: Sequence[Path], columns: ColumnMap, key_id: str | None = None
) -> None:
    """Keep how the tables among some paths were mapped; it was read from them before.

    A home folder that cannot be written keeps nothing: the map is given again then.

    Args:
        home: The home folder.
        paths: Paths that were read, tables among them.
        columns: How.
        key_id: The key of the caller; None: the person here.
    """
    from veritrail_graph.graph.importers.rag import column_names

    kept = _kept(home)
    for path in paths:
        names: list[str] = []
        with suppress(InputError, OSError, ValueError):
            names = sorted(set(column_names(path))) if path.is_file() else []
        if names and columns.fault(names) is None:
            own = {"columns": names, "mapped": dict(columns.columns)}
            own |= {} if key_id is None else {"key": key_id}
            same = (names, key_id)
            kept = [one for one in kept if (one.get("columns"), one.get("key")) != same]
            kept.append(own)
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
