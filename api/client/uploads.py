"""Processes on their way to a service: streamed, a file unchanged.

Nothing is kept whole in memory but a document that was given whole.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from veritrail_graph.api.client.calls import Source
from veritrail_graph.api.requests.importing import Columns
from veritrail_graph.graph.errors import InputError

PIECE = 256 * 1024
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
GZIP = "application/gzip"
OTHER = "application/octet-stream"
_NOT_JSON = {".csv", ".tsv", ".parquet", ".pb", ".binpb"}
_GZIP_MAGIC = b"\x1f\x8b"


def path_of(source: Source) -> Path | None:
    """The file of a source; None where it is given in memory.

    Raises:
        InputError: There is no such file.
    """
    if not isinstance(source, str | PathLike):
        return None
    path = Path(source).expanduser()
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    return path


def media_type(source: Source) -> str:
    """Return what is sent; a file is recognised by its first bytes and its name.

    Raises:
        InputError: It cannot be read, or is a folder.
    """
    path = path_of(source)
    if path is None:
        return JSON if isinstance(source, Mapping) else JSON_LINES
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; a service takes process files. `veritrail ingest` and the client "
            "in process read folders"
        )
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == _GZIP_MAGIC
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if is_gzip:
        return GZIP
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        return JSON_LINES
    return OTHER if suffix in _NOT_JSON else JSON


def name_of(source: Source) -> str | None:
    """Return what the file of a source is called; None where it is given in memory."""
    return Path(source).name if isinstance(source, str | PathLike) else None


async def pieces(source: Source) -> AsyncIterator[bytes]:
    """The bytes of a source, piece by piece."""
    path = path_of(source)
    if path is not None:
        with await asyncio.to_thread(path.open, "rb") as file:
            while piece := await asyncio.to_thread(file.read, PIECE):
                yield piece
    elif isinstance(source, Mapping):
        yield written(source)
    else:
        assert not isinstance(source, str | PathLike)  # noqa: S101
        async for piece in _lines(source):
            yield piece


async def _lines(records: Iterable[Mapping[str, Any]]) -> AsyncIterator[bytes]:
    waiting = bytearray()
    for record in records:
        waiting += written(record) + b"\n"
        if len(waiting) >= PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def written(value: Mapping[str, Any]) -> bytes:
    """A document as JSON.

    Raises:
        InputError: It holds something that JSON cannot.
    """
    try:
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise InputError(f"the document cannot be written as JSON: {error}") from None


def columns_text(columns: Columns | None) -> str | None:
    """Return the columns of a table as the parameter of an address says them.

    Raises:
        InputError: They are no names by their meaning.
    """
    if columns is None or isinstance(columns, str):
        return columns
    from veritrail_graph.graph.importers.column_map import ColumnMap

    return str(ColumnMap.of(columns))


def can_repeat(source: Source) -> bool:
    """Return whether it can be sent a second time: lines from an iterator are used up."""
    return isinstance(source, str | PathLike | Mapping | list | tuple)
