"""Checkpoints of LangGraph in SQLite, as its savers keep them: each thread is a state history.

The values of a checkpoint are msgpack, in which LangGraph marks objects by their class and what
they are made of. No class is looked up and nothing is made of it: an object is its fields.

Source: langgraph-checkpoint 4, serde/jsonplus.py; langgraph-checkpoint-sqlite 3.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown

_MAGIC = b"SQLite format 3\x00"
_COLUMNS = {"thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint", "metadata"}
_LARGEST, _MOST = 100_000_000, 1_000_000_000
"""Bytes of a checkpoint, and of all of a thread: each holds the values of those before it."""
_NEXT, _START = "branch:to:", "__start__"
_TABLE = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'checkpoints'"
_THREADS = "SELECT DISTINCT thread_id FROM checkpoints ORDER BY thread_id"
_OF_THREAD = (
    "SELECT checkpoint_id, type, length(checkpoint), checkpoint, metadata FROM checkpoints "
    "WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id"
)
_INNER = "SELECT count(*) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns <> ''"
_FIELDS = 2
"""The place of what an object is made of, behind the names of its module and its class."""
_SNAPSHOT, _ARRAY = 7, 6


def is_database(path: Path) -> bool:
    """Return whether a file is a database of SQLite."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def fault_of(path: Path) -> str | None:
    """Return why a database holds no checkpoints; None: it holds some."""
    try:
        with closing(_opened(path)) as database:
            (has_table,) = database.execute(_TABLE).fetchone()
            names = {row[1] for row in database.execute("PRAGMA table_info(checkpoints)")}
    except sqlite3.Error as error:
        return f"no database that can be read: {error}"
    return None if has_table and names >= _COLUMNS else "no table of checkpoints of LangGraph"


def _opened(path: Path) -> sqlite3.Connection:
    """Open a database of somebody else to read it; what its schema says is not trusted."""
    how = "mode=ro"
    if not path.with_name(f"{path.name}-wal").exists():
        how += "&immutable=1"  # else SQLite leaves files of its own beside one in WAL mode
    database = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def threads_of(path: Path) -> list[str]:
    """Return the ids of the threads.

    Raises:
        InputError: The database cannot be read.
    """
    try:
        with closing(_opened(path)) as database:
            return [str(row[0]) for row in database.execute(_THREADS)]
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be read as a database: {error}") from None


def states_of(path: Path, thread: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the states of a thread, oldest first, and what has to be said of them.

    Raises:
        InputError: They cannot be read.
    """
    where = f"{path}#{thread}"
    try:
        with closing(_opened(path)) as database:
            rows = _bounded(database.execute(_OF_THREAD, (thread,)), where)
            states = [_state(row, where) for row in rows]
            (inner,) = database.execute(_INNER, (thread,)).fetchone()
    except sqlite3.Error as error:
        raise InputError(f"{where} cannot be read from its database: {error}") from None
    of_inner = f"Left out: {counted(inner, 'checkpoint')} of graphs within the graph."
    return states, [of_inner] if inner else []


def _bounded(rows: Iterator[Any], where: str) -> Iterator[Any]:
    total = 0
    for row in rows:
        size = row[2] if isinstance(row[2], int) else 0
        total += size
        if size > _LARGEST or total > _MOST:
            raise InputError(
                f"{where}: its checkpoints hold more than {_LARGEST:,} bytes one, or {_MOST:,} in "
                "all. Export its last state (get_state) as JSON."
            )
        yield row


def _state(row: tuple[Any, ...], where: str) -> dict[str, Any]:
    name, kind, _, packed, about = row
    where = f"{where}: checkpoint {shown(str(name))}"
    value = unpacked(packed, kind, where)
    values = value.get("channel_values") if isinstance(value, dict) else None
    if not isinstance(values, dict):
        raise InputError(f"{where}: it holds no channel_values")
    return state_of(values, about)


def state_of(values: dict[str, Any], about: Any) -> dict[str, Any]:
    """Return a state of a history.

    Args:
        values: The values of its channels.
        about: Its metadata, as JSON.
    """
    metadata: Any = {}
    with suppress(ValueError, TypeError, RecursionError):
        metadata = json.loads(about)
    following = [key.removeprefix(_NEXT) for key in values if key.startswith(_NEXT)]
    return {
        "values": {key: one for key, one in values.items() if not _is_internal(key)},
        "next": following or ([_START] if _START in values else []),
        "metadata": metadata if isinstance(metadata, dict) else {},
    }


def _is_internal(channel: str) -> bool:
    return channel.startswith(("branch:", "__"))


def unpacked(packed: Any, kind: Any, where: str) -> Any:
    """Return a value as JSON holds it.

    Raises:
        InputError: It is damaged, or written in another way.
    """
    if isinstance(packed, str):
        packed = packed.encode()
    if not isinstance(packed, bytes) or kind not in ("msgpack", "json"):
        raise InputError(
            f"{where}: it is of the type {shown(str(kind))}, and only msgpack and json are read. "
            "Encrypted and pickled ones are not; export the states (get_state_history) as JSON."
        )
    try:
        value = json.loads(packed) if kind == "json" else _decoded(packed)
        return json.loads(json.dumps(value, default=str, skipkeys=True))  # texts as keys alone
    except (ValueError, RecursionError, msgspec.DecodeError):
        raise InputError(f"{where}: it is damaged") from None


def _decoded(packed: bytes | memoryview) -> Any:
    return msgspec.msgpack.decode(packed, ext_hook=_object)


def _object(code: int, packed: memoryview) -> Any:
    """Return an object of LangGraph as its fields, or as the value that it is made of."""
    if code == _ARRAY:
        return None
    parts = _decoded(packed)
    if code == _SNAPSHOT:
        return parts
    if not isinstance(parts, list) or len(parts) <= _FIELDS:
        return None
    return parts[_FIELDS]
