"""The place of an export: written whole or not at all, and never over something by accident."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from veritrail_graph.graph.errors import InputError, NotWritten


@contextmanager
def one_file(path: Path | None, *, force: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, gzipped when its name ends with `.gz`; None: stdout.

    Raises:
        InputError: It is there already, or cannot be written.
    """
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_free(path, force=force)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    with _faults(path):
        if path.exists() and not path.is_file():  # such as a named pipe
            with path.open("wb") as file:
                yield file
            return
        place = path.resolve()  # what a link points to is replaced, not the link
        draft = _draft(place)
        try:
            with draft.open("xb") as file:
                if path.suffix.lower() == ".gz":
                    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                        yield packed  # type: ignore[misc]
                else:
                    yield file
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder to write files into; what was written becomes `path`, a folder or a `.zip`.

    Into a folder that is there, files are moved one by one; what else it holds stays.

    Raises:
        InputError: It is there already and not empty, or cannot be written.
    """
    check_free(path, force=force)
    is_zip = path.suffix.lower() == ".zip"
    if not is_zip and path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; name a folder or a .zip")
    with _faults(path):
        place = path.resolve()
        draft = _draft(place)
        draft.mkdir()
        try:
            yield draft
            if is_zip:
                _pack(draft, place)
            elif place.is_dir():
                for file in sorted(draft.iterdir()):
                    file.replace(place / file.name)
            else:
                draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def check_free(path: Path, *, force: bool = False) -> None:
    """Make sure that nothing is there that an export would replace.

    Raises:
        InputError: There is.
    """
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path.absolute().parent} is no folder; make it first")
    there = path.is_file() or (path.is_dir() and any(path.iterdir()))
    if there and not force:
        raise InputError(f"{path} is there already.", code="path_taken", path=str(path))


def _pack(draft: Path, place: Path) -> None:
    packed = _draft(place).with_suffix(".zip.tmp")
    try:
        with zipfile.ZipFile(packed, "x", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(draft.iterdir()):
                archive.write(file, file.name)
        packed.replace(place)
    finally:
        packed.unlink(missing_ok=True)


def _draft(place: Path) -> Path:
    return place.with_name(f".veritrail-{os.getpid()}.tmp")


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWritten.of(path, error) from None
