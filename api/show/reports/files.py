"""The formats of reports by name, and the file that a report is written to."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from veritrail_graph.api.show.reports.data import ReportSource
from veritrail_graph.graph.errors import InputError

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "junit": "application/xml",
    "pytest": "text/x-python; charset=utf-8",
}
"""What each format is, on the web."""

SUFFIXES = {
    "html": "html",
    "markdown": "md",
    "csv": "csv",
    "json": "json",
    "junit": "xml",
    "pytest": "py",
}
"""How the name of a file of each format ends."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The form of a report that is asked for.

    Attributes:
        format: Its format, a key of `MEDIA_TYPES`.
        dossier: html, json: all there is of each claim, for somebody without access.
        strict: junit: what is inconclusive or was not checked counts against the process.
    """

    format: str
    dossier: bool = False
    strict: bool = False


async def pieces(origin: ReportSource, asked: Asked) -> AsyncIterator[str]:
    """A report, piece by piece.

    Args:
        origin: Where it is made from.
        asked: In which form.
    """
    if asked.format == "junit":
        from veritrail_graph.api.show.reports.junit import junit_report

        yield junit_report(origin.material, strict=asked.strict)
        return
    async for piece in _with_trails(origin, asked):
        yield piece


def _with_trails(origin: ReportSource, asked: Asked) -> AsyncIterator[str]:
    if asked.format == "html":
        from veritrail_graph.api.show.reports.html import html_pieces

        return html_pieces(origin, dossier=asked.dossier)
    if asked.format == "json":
        from veritrail_graph.api.show.reports.json_report import json_pieces

        return json_pieces(origin, dossier=asked.dossier)
    if asked.format == "pytest":
        from veritrail_graph.api.show.reports.pytest_report import pytest_pieces

        return pytest_pieces(origin)
    if asked.format == "csv":
        from veritrail_graph.api.show.reports.csv_report import csv_pieces

        return csv_pieces(origin)
    from veritrail_graph.api.show.reports.markdown import markdown_pieces

    return markdown_pieces(origin)


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
