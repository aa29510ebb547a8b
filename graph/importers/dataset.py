"""The processes of a data set, `veritrail.dataset/1`: JSON Lines of a header, processes and claims.

A process is in its line, or in a file of its own that the line names by its path below the
folder of the data set. Labelled claims are for evaluations and are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.contract import DATASET_FORMAT, FORMAT
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.importers.process_file.importer import document_input
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions, open_input

_HEAD = 4_096
_PREFIX = "veritrail.dataset/"
_NAMES_FORMAT = re.compile(rb'"format"\s*:\s*"veritrail\.dataset/')


class DatasetImporter:
    """Reads the processes of `veritrail.dataset/1`."""

    name = "dataset"
    description = f"the processes of {DATASET_FORMAT}, without the labels of its claims: JSON Lines"
    extra = None
    options = frozenset[str]()

    def detect(self, path: Path) -> str | None:
        """A file whose first line names the format, of whatever version."""
        if not path.is_file():
            return "not a file"
        try:
            if _names_format(path):
                return None
        except reading.UNREADABLE as error:
            return f"cannot be read: {error}"
        return f"its first line does not name the format {DATASET_FORMAT}"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """Those of the lines that hold a process, or name the file of one.

        Raises:
            InputError: The first line is no header of a data set, or the file cannot be read.
        """
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        lines = files.json_lines(path, strict=True)
        _, header = next(lines, (0, None))
        named = header.get("format") if isinstance(header, dict) else None
        if named != DATASET_FORMAT:
            raise InputError(
                f"{path}: the first line must be the header of a data set, with "
                f'"format": "{DATASET_FORMAT}"'
            )
        for number, value in lines:
            where = f"{path}#{number}"
            if isinstance(value, InputError):
                yield Found.failing(where, value)
            elif isinstance(value, dict) and value.keys() == {"process"}:
                yield Found(where, partial(_open, path, value["process"], where))
            elif not isinstance(value, dict) or value.keys() != {"claim"}:
                message = f'{where}: must have the one key "process" or "claim"'
                yield Found.failing(where, InputError(message))


def _names_format(path: Path) -> bool:
    with reading.open_bytes(path) as file:
        start = file.read(_HEAD)
    if not _NAMES_FORMAT.search(start):
        return False
    _, header = next(files.json_lines(path), (0, None))  # it may be elsewhere in another format
    return isinstance(header, dict) and str(header.get("format")).startswith(_PREFIX)


def _open(path: Path, value: Any, where: str) -> ProcessInput:
    if isinstance(value, dict):
        return open_inline(path, value)
    if isinstance(value, str):
        return open_below(path, value)
    raise InputError(f"{where}: process must be a process or the path of one")


def open_inline(path: Path, value: Mapping[str, Any]) -> ProcessInput:
    """A process in a line of a data set.

    Args:
        path: The data set.
        value: The process; it is left as it is, so that it can be opened again.

    Raises:
        InputError: It names another format, or breaks rules of its format.
    """
    document = dict(value)
    if document.setdefault("format", FORMAT) != FORMAT:
        raise InputError(f"the format of a process must be {FORMAT!r}")
    return document_input(path, document)


def open_below(path: Path, name: str) -> ProcessInput:
    """A process by its path, which must not lead out of the folder of the data set.

    Args:
        path: The data set.
        name: The path of the process, below the folder of the data set.

    Raises:
        InputError: It leads elsewhere, names a data set, or cannot be read.
    """
    folder = path.parent.resolve()
    found = (folder / name).resolve()
    if not found.is_relative_to(folder):
        raise InputError(f"{shown(name)} leads out of the folder of the data set")
    if found.is_file() and _names_format(found):  # two that name one another would have no end
        raise InputError(f"{shown(name)} is a data set; name a process")
    return open_input(found)
