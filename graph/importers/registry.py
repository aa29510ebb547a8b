"""Which formats can be read, and which of them a given path is in.

An importer is one module with one class on the Protocol below. It is found by the name of its
format, or by looking at the path, in the order of this list. The list has the form of entry
points, so that packages of third parties can add to the group later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Protocol

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import ProcessInput

GROUP = "veritrail_graph.importers"
_HERE = "veritrail_graph.graph.importers"
_OURS = (
    EntryPoint("process", f"{_HERE}.process_file:ProcessFileImporter", GROUP),
    EntryPoint("graphrag", f"{_HERE}.graphrag:GraphRagImporter", GROUP),
)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import; an importer ignores those that are not for its format.

    Attributes:
        answer: File that holds the final output, `FILE` or `FILE#N` for entry N of a JSON list.
        question: The question that it answers.
        community_level: Reports up to this level were given to the answering step.
        sources: `given` (all reports that were given) or `cited` (only the cited ones).
        max_node_text: The longest text of a node, in bytes of UTF-8.
        answer_id: What tells the answer from others of the same index; None: made from its text.
    """

    answer: str | None = None
    question: str | None = None
    community_level: int = 2
    sources: str = "given"
    max_node_text: int = 10_000_000
    answer_id: str | None = None


class Importer(Protocol):
    """A reader of one format."""

    name: str
    description: str

    def detect(self, path: Path) -> str | None:
        """Why `path` is not in this format; None when it is."""
        ...

    def open(self, path: Path, options: ImportOptions) -> ProcessInput:
        """Read what comes before the records.

        Raises:
            InputError: The path is in this format but cannot be read.
        """
        ...


@cache
def importers() -> tuple[Importer, ...]:
    """Every importer, in the order of detection."""
    return tuple(entry.load()() for entry in _OURS)


def open_input(
    path: Path,
    *,
    format_name: str | None = None,
    options: ImportOptions | None = None,
    known: Iterable[Importer] | None = None,
) -> ProcessInput:
    """Open `path` in the format named, or in the first one that it is in.

    Args:
        path: A file or folder.
        format_name: Name of an importer.
        options: Options of the import.
        known: The importers, in the order of detection.

    Raises:
        InputError: No such path or format, or the path is in no known format; the message
            says which formats were tried and why each does not fit.
    """
    options = options or ImportOptions()
    by_name = {importer.name: importer for importer in known or importers()}
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if format_name is not None:
        if format_name not in by_name:
            names = ", ".join(by_name)
            raise InputError(f"Unknown format {format_name!r}. Known formats: {names}.")
        return by_name[format_name].open(path, options)
    reasons = []
    for importer in by_name.values():
        reason = importer.detect(path)
        if reason is None:
            return importer.open(path, options)
        reasons.append(f"  {importer.name} ({importer.description}): {reason}")
    raise InputError(f"{path} is in no format that can be read here. Tried:\n" + "\n".join(reasons))
