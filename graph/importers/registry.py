"""Which formats can be read, and which of them a given path is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import ProcessInput


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the caller can say about an import; importers ignore what is not theirs.

    Attributes:
        answer: File that holds the final output, `FILE` or `FILE#N` for entry N of a JSON list.
        question: The question that it answers.
        community_level: Reports up to this level were given to the answering step.
        sources: `given` (all reports that were given) or `cited` (only the cited ones).
        max_node_text: The longest text of a node, in bytes of UTF-8.
    """

    answer: str | None = None
    question: str | None = None
    community_level: int = 2
    sources: str = "given"
    max_node_text: int = 10_000_000


class Importer(Protocol):
    """A reader of one format."""

    name: str
    description: str

    def detect(self, path: Path) -> str | None:
        """Say why `path` is not in this format, or None when it is."""
        ...

    def open(self, path: Path, options: ImportOptions) -> ProcessInput:
        """Read what stands before the records.

        Raises:
            InputError: The path is in this format but cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Registry:
    """The importers that are there, by name, in the order of detection."""

    importers: Mapping[str, Importer] = field(default_factory=dict)

    @classmethod
    def of(cls, importers: Iterable[Importer]) -> Registry:
        """A registry of these importers."""
        return cls({importer.name: importer for importer in importers})

    def open(
        self, path: Path, *, format_name: str | None = None, options: ImportOptions | None = None
    ) -> ProcessInput:
        """Open `path` in the format named, or in the first that it is in.

        Raises:
            InputError: No such path or format, or the path is in no known format; the
                message says which formats were tried and why each does not fit.
        """
        options = options or ImportOptions()
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        if format_name is not None:
            importer = self.importers.get(format_name)
            if importer is None:
                known = ", ".join(self.importers)
                raise InputError(f"Unknown format {format_name!r}. Known formats: {known}.")
            return importer.open(path, options)
        reasons = []
        for importer in self.importers.values():
            reason = importer.detect(path)
            if reason is None:
                return importer.open(path, options)
            reasons.append(f"  {importer.name} ({importer.description}): {reason}")
        raise InputError(
            f"{path} is in no format that can be read here. Tried:\n" + "\n".join(reasons)
        )
