"""Checkpoints of LangGraph's PostgreSQL saver in a dump that pg_dump wrote as SQL text.

Of the file only the rows of two tables are read, from their COPY blocks; nothing is executed.

Source: langgraph-checkpoint-postgres 3, base.py; PostgreSQL, COPY, "Text Format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.process_file.reading import open_bytes
from veritrail_graph.graph.importers.traces.checkpoints import state_of, unpacked

_HEAD = 4_096
_PLAIN, _CUSTOM = b"PostgreSQL database dump", b"PGDMP"
_TABLES = {
    "checkpoints": ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint", "metadata"),
    "checkpoint_blobs": ("thread_id", "checkpoint_ns", "channel", "version", "type", "blob"),
}
_LONGEST, _MOST = 250_000_000, 1_000_000_000
"""Bytes of a line, and of all that is kept."""
_ESCAPED = re.compile(r"\\([0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)", re.DOTALL)
_SIGNS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NULL, _END = "\\N", b"\\."


@dataclass
class Thread:
    """The rows of a thread, without those of graphs within the graph.

    Attributes:
        checkpoints: Id, checkpoint and metadata of each.
        blobs: Type and bytes of the values of channels, by channel and version.
        inner: How many checkpoints of inner graphs were left out.
    """

    checkpoints: list[tuple[str, str, str]] = field(default_factory=list)
    blobs: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    inner: int = 0


def is_dump(path: Path) -> bool:
    """Return whether a file is a dump of PostgreSQL, as text or as an archive."""
    try:
        if not path.is_file():
            return False
        with open_bytes(path) as file:
            head = file.read(_HEAD)
    except (InputError, OSError, EOFError):
        return False
    return head.startswith(_CUSTOM) or _PLAIN in head


def threads_in(path: Path) -> dict[str, Thread]:
    """Return the threads of a dump by their ids.

    Raises:
        InputError: It cannot be read, or holds no checkpoints.
    """
    threads: dict[str, Thread] = {}
    found, total = False, 0
    try:
        for table, row in _rows(path):
            found = found or table == "checkpoints"
            if row is None:
                continue
            thread = threads.setdefault(row["thread_id"], Thread())
            total += sum(map(len, row.values()))
            if total > _MOST:
                raise InputError(f"{path} holds more than {_MOST:,} bytes of checkpoints")
            if row["checkpoint_ns"]:
                thread.inner += table == "checkpoints"
            elif table == "checkpoints":
                kept = (row["checkpoint_id"], row["checkpoint"], row["metadata"])
                thread.checkpoints.append(kept)
            else:
                thread.blobs[row["channel"], row["version"]] = (row["type"], row["blob"])
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if not found:
        raise InputError(
            f"{path} is a dump without rows of LangGraph's table `checkpoints`, as COPY has them. "
            "Write it with: pg_dump DATABASE > dump.sql, with rows and not as INSERT statements"
        )
    return threads


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str] | None]]:
    """Yield each row of the two tables, and None where one of `checkpoints` begins."""
    with open_bytes(path) as file:
        if file.peek(len(_CUSTOM)).startswith(_CUSTOM):
            raise InputError(
                f"{path} is an archive of pg_dump; make text of it: pg_restore -f dump.sql {path}"
            )
        table: str = ""
        names: list[str] = []
        for number in range(1, 1_000_000_000):
            line = file.readline(_LONGEST + 1)
            if not line:
                break
            where = f"{path}, line {number}"
            if len(line) > _LONGEST:
                raise InputError(f"{where}: it has more than {_LONGEST:,} bytes")
            if not table:
                table, names = _begun(line, where)
                if table == "checkpoints":
                    yield table, None
            elif line.rstrip(b"\r\n") == _END:
                table = ""
            else:
                yield table, _row(line, table, names, where)
        if table:
            raise InputError(f"{path} ends within the rows of {table}: it was cut")


def _begun(line: bytes, where: str) -> tuple[str, list[str]]:
    """Return the table of which rows begin behind a line, and its columns; else an empty name."""
    if not line.startswith(b"COPY "):
        return "", []
    head, _, rest = line.decode("utf-8", "replace")[5:].partition(" (")
    table = head.rpartition(".")[2].strip('"')
    if table not in _TABLES:
        return "", []
    names = [name.strip(' "') for name in rest.partition(")")[0].split(",")]
    lacking = [name for name in _TABLES[table] if name not in names]
    if lacking:
        raise InputError(f"{where}: the table {table} lacks {', '.join(lacking)}")
    return table, names


def _row(line: bytes, table: str, names: list[str], where: str) -> dict[str, str]:
    try:
        cells = line.decode("utf-8").rstrip("\r\n").split("\t")
    except UnicodeDecodeError:
        raise InputError(f"{where}: it is no UTF-8; use pg_dump -E UTF8") from None
    if len(cells) != len(names):
        held = counted(len(cells), "cell")
        raise InputError(f"{where}: a row of {table} has {held}, not {len(names)}: it was cut")
    row = {name: "" if cell == _NULL else cell for name, cell in zip(names, cells, strict=True)}
    return {name: _ESCAPED.sub(_sign, row[name]) for name in _TABLES[table]}


def _sign(found: re.Match[str]) -> str:
    said = found[1]
    if said[0] in "01234567":
        return chr(int(said, 8))
    if said[0] == "x" and len(said) > 1:
        return chr(int(said[1:], 16))
    return _SIGNS.get(said, said)


def states_in(thread: Thread, where: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the states of a thread, oldest first, and what has to be said of them.

    Raises:
        InputError: They cannot be read.
    """
    states = []
    for name, packed, about in sorted(thread.checkpoints):
        place = f"{where}: checkpoint {shown(name)}"
        value = unpacked(packed, "json", place)
        value = value if isinstance(value, dict) else {}
        held, versions = value.get("channel_values"), value.get("channel_versions")
        values = dict(held) if isinstance(held, dict) else {}
        if isinstance(versions, dict):
            values |= _channels(thread, versions, place)
        states.append(state_of(values, about))
    said = f"Left out: {counted(thread.inner, 'checkpoint')} of graphs within the graph."
    return states, [said] if thread.inner else []


def _channels(thread: Thread, versions: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values of channels that are kept apart from their checkpoint."""
    values = {}
    for channel, version in versions.items():
        kind, blob = thread.blobs.get((channel, str(version)), ("empty", ""))
        if kind == "empty":
            continue
        try:
            data = bytes.fromhex(blob.removeprefix("\\x"))
        except ValueError:
            raise InputError(f"{where}: the value of {shown(channel)} is damaged") from None
        values[channel] = None if kind == "null" else unpacked(data, kind, where)
    return values
