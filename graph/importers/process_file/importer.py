"""The importer of process files: tells JSON from JSON Lines and yields records."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.errors import InputError, Violation
from graph.importers.process_file import reading
from graph.importers.process_file.schema import (
    FORMAT,
    read_claim,
    read_edge,
    read_header,
    read_node,
)
from graph.importers.records import Header, ProcessInput, Record, Remark
from graph.importers.registry import ImportOptions

_READERS: dict[str, Callable[[object, str], Any]] = {
    "node": read_node,
    "edge": read_edge,
    "claim": read_claim,
}
_LISTS = {"nodes": True, "edges": True, "claims": False}  # whether a document must have it
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_VERIFICATIONS_LEFT_OUT = (
    "the file carries verifications; they are not stored, only nodes, edges and claims are"
)


class ProcessFileImporter:
    """Reads `veritrail.process/1`."""

    name = "process"
    description = f"a {FORMAT} file: .json or .jsonl, gzipped or not"

    def detect(self, path: Path) -> str | None:
        """A file that begins like a JSON object is taken for one; its faults are told on reading.

        So is every file that is named like one. A folder is in another format.
        """
        if not path.is_file():
            return "not a file"
        if path.name.removesuffix(".gz").endswith((".json", *_LINES_SUFFIXES)):
            return None
        try:
            with reading.open_bytes(path) as file:
                start = file.read(4_096)
        except (InputError, OSError, EOFError, zlib.error) as error:
            return f"cannot be read: {error}"
        if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
            return "does not begin with a JSON object"
        return None

    def open(self, path: Path, options: ImportOptions) -> ProcessInput:
        """Read the header; a single document is read whole, JSON Lines are streamed.

        Raises:
            InvalidProcess: A document is not JSON, or not all lists are there. What else the
                header breaks comes with the records, so that it hides nothing.
        """
        # A line holds one node: its text, escaped at worst to six bytes a byte, and the rest.
        max_line = options.max_node_text * 6 + 1_000_000
        if _is_lines(path, max_line):
            header, faults = _lines_header(path, max_line)
            return _LinesInput(path, header, max_line, faults)
        document = reading.read_document(path)
        if not isinstance(document, dict):
            message = "the document must be a JSON object"
            raise reading.invalid(path, Violation("wrong_type", path.name, message))
        return _document_input(path, document)


def _is_lines(path: Path, max_line: int) -> bool:
    """JSON Lines: the first line alone is a JSON object without records, or the name says so."""
    if path.name.removesuffix(".gz").endswith(_LINES_SUFFIXES):
        return True
    try:
        with reading.open_bytes(path) as file:
            line = file.readline(max_line)
            rest = file.readline(2)
        value = reading.parse(line.decode("utf-8-sig"))
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError):
        return False
    return isinstance(value, dict) and bool(rest) and value.keys().isdisjoint(_LISTS)


def _lines_header(path: Path, max_line: int) -> tuple[Header, tuple[Violation, ...]]:
    for number, text in reading.read_lines(path, max_line):
        where = f"line {number}"
        try:
            value = reading.parse(text, number)
        except reading.NotJson as error:
            raise reading.invalid(path, Violation("not_json", where, str(error))) from None
        if not isinstance(value, dict):
            message = "the first line must be the header object"
            raise reading.invalid(path, Violation("wrong_type", where, message))
        return _header(value, where)
    raise reading.invalid(path, Violation("not_json", path.name, "the file is empty"))


def _header(
    value: Mapping[str, Any], place: str, warnings: tuple[str, ...] = ()
) -> tuple[Header, tuple[Violation, ...]]:
    """The header, and what is wrong with it; a wrong one says nothing but the terminals."""
    model, faults = read_header(value, place)
    header = Header(
        source_format=FORMAT,
        process_id=model.process_id,
        name=model.name,
        question=model.question,
        stage_names={int(stage): name for stage, name in model.stages.items()},
        terminals=tuple(model.terminals) if model.terminals is not None else None,
        warnings=warnings,
    )
    return header, tuple(faults)


def _document_input(path: Path, document: dict[str, Any]) -> _DocumentInput:
    lists: dict[str, list[Any]] = {}
    violations = []
    for key, required in _LISTS.items():
        value = document.pop(key, None if required else [])
        if isinstance(value, list):
            lists[key] = value
        elif value is None:
            violations.append(Violation("missing_key", "document", f"the key {key!r} is missing"))
        else:
            violations.append(Violation("wrong_type", key, "must be a list"))
    carries_verifications = document.pop("verifications", None) is not None
    warnings = (_VERIFICATIONS_LEFT_OUT,) if carries_verifications else ()
    header, faults = _header(document, "", warnings)
    read = _DocumentInput(header, lists, faults)
    if violations:  # without all lists there is no graph to check
        violations += [record for record in read.records() if isinstance(record, Violation)]
        raise reading.invalid(path, *violations)
    return read


@dataclass(frozen=True, slots=True)
class _DocumentInput:
    """A single JSON document, in memory."""

    header: Header
    lists: dict[str, list[Any]]
    faults: tuple[Violation, ...]

    def records(self) -> Iterator[Record]:
        yield from self.faults
        for key, values in self.lists.items():
            read = _READERS[key.removesuffix("s")]
            for place, value in enumerate(values):
                record = read(value, f"{key}[{place}]")
                if isinstance(record, list):
                    yield from record
                else:
                    yield record


@dataclass(frozen=True, slots=True)
class _LinesInput:
    """JSON Lines, read from the file each time."""

    path: Path
    header: Header
    max_line: int
    faults: tuple[Violation, ...]

    def records(self) -> Iterator[Record]:
        yield from self.faults
        lines = reading.read_lines(self.path, self.max_line)
        next(lines, None)  # the header
        for number, text in lines:
            where = f"line {number}"
            try:
                value = reading.parse(text, number)
            except reading.NotJson as error:
                yield Violation("not_json", where, str(error))
                continue
            yield from _line(value, where)


def _line(value: object, where: str) -> Iterator[Record]:
    if isinstance(value, dict) and len(value) == 1:
        key, content = next(iter(value.items()))
        if key == "verification":
            yield Remark(_VERIFICATIONS_LEFT_OUT)
            return
        if key in _READERS:
            record = _READERS[key](content, where)
            if isinstance(record, list):
                yield from record
            else:
                yield record
            return
    message = 'must be an object with one key: "node", "edge" or "claim"'
    yield Violation("wrong_line", where, message)
