"""Where a report goes: into a file that is whole or not there, or to stdout."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from veritrail_graph.graph.errors import InputError


async def write_pieces(path: Path | None, pieces: AsyncIterator[str]) -> None:
    """Write a report piece by piece; a file is there whole or not at all.

    Args:
        path: The file; None: stdout.
        pieces: The report.

    Raises:
        InputError: It cannot be written.
    """
    if path is None:
        async for piece in pieces:
            sys.stdout.buffer.write(as_bytes(piece))
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as file:
        async for piece in pieces:
            file.write(as_bytes(piece))


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write into: beside its place first, then moved there; what was there is replaced.

    Raises:
        InputError: It cannot be written.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # such as /dev/stdout
            with path.open("wb") as file:
                yield file
            return
        place = path.resolve()  # what a link points to is replaced, not the link
        draft = place.with_name(f".veritrail-{os.getpid()}.tmp")
        try:
            with draft.open("wb") as file:
                yield file
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def check_writable(path: Path) -> None:
    """Find out before any work that a report cannot go there.

    Raises:
        InputError: It cannot.
    """
    place = path.resolve()
    if place.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder; name a file")
    if not place.parent.is_dir():
        raise InputError(f"{path} cannot be written: {place.parent} is no folder; make it first")


def as_bytes(text: str) -> bytes:
    """A piece of a report as it is written."""
    # Half a surrogate pair is no text; an engine does not store one, a failure may quote one.
    return text.encode("utf-8", "replace")


def file_name(name: str) -> str:
    """A name that every file system takes; ids of processes and claims may hold a colon."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)
