"""The importer of process files: tells JSON from JSON Lines and yields records."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.contract import DATASET_FORMAT, RECORDED
from veritrail_graph.graph.errors import InputError, Violation, Violations
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.importers.process_file.plain import plain_parts
from veritrail_graph.graph.importers.process_file.schema import (
    FORMAT,
    LISTS,
    read_claim,
    read_edge,
    read_header,
    read_node,
)
from veritrail_graph.graph.importers.process_file.trails import (
    read_extraction,
    read_review,
    read_verification,
)
from veritrail_graph.graph.importers.records import (
    Header,
    PlainEdges,
    PlainNodes,
    ProcessInput,
    Record,
    Remark,
    TrailRecord,
    Unread,
)
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.model.dialogue import FORMAT as DIALOGUE_FORMAT

_READERS: dict[str, Callable[[object, str], Any]] = {
    "node": read_node,
    "edge": read_edge,
    "claim": read_claim,
}
_TRAIL_READERS: dict[str, Callable[[object, str], Any]] = {
    "extraction": read_extraction,
    "verification": read_verification,
    "review": read_review,
}
_TOLD_BEFORE = ("not_json", "wrong_line")
_HEAD = 4_096
_LONGEST_HEADER = 10_000_000
_OURS = "veritrail."
_OTHERS = {DIALOGUE_FORMAT: "dialogue", DATASET_FORMAT: "dataset"}
"""Our other formats, with the names of their importers."""
_NAMES_FORMAT = re.compile(rb'"format"\s*:\s*"veritrail\.')
_CUT_OFF = (
    "the last line is cut off, because the recorded program was stopped while it wrote it; the "
    "line was left out"
)


class ProcessFileImporter:
    """Reads `veritrail.process/1`."""

    name = "process"
    description = f"a {FORMAT} file: .json or .jsonl, gzipped or not"
    extra = None
    options = frozenset[str]()

    def detect(self, path: Path) -> str | None:
        """A file that names our format, or has `nodes` and `edges`; reading reports its faults.

        A folder is in another format.
        """
        if not path.is_file():
            return "not a file"
        try:
            with reading.open_bytes(path) as file:
                start = file.read(_HEAD)
        except reading.UNREADABLE as error:
            return f"cannot be read: {error}"
        if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
            return "does not begin with a JSON object"
        if _NAMES_FORMAT.search(start) or all(word in start for word in (b'"nodes"', b'"edges"')):
            return None
        value = files.first_value(path)
        if isinstance(value, dict) and (
            {"nodes", "edges"} <= value.keys() or str(value.get("format")).startswith(_OURS)
        ):
            return None
        return f"it does not name its format, {FORMAT}, and has no `nodes` and `edges`"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """The one that the file holds; of JSON Lines of whole documents, one a line."""
        if not _is_documents(path):
            yield Found(str(path), partial(self.open, path, options))
            return
        for number, value in files.json_lines(path, strict=True):
            where = f"{path}#{number}"
            if isinstance(value, InputError):
                yield Found.failing(where, value)
            elif isinstance(value, dict):
                yield Found(where, partial(_line_input, path, value))
            else:
                yield Found.failing(where, InputError(f"{where}: must be a process, as line 1 is"))

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
        return document_input(path, document)


def _is_documents(path: Path) -> bool:
    """JSON Lines, by their name or by a second line, whose first line is a whole document."""
    try:
        line, rest = _first_line(path, _LONGEST_HEADER)
        value = reading.parse(line.decode("utf-8-sig")) if rest or _has_lines(path) else None
    except (*reading.UNREADABLE, ValueError):
        return False
    return isinstance(value, dict) and "nodes" in value


def _first_line(path: Path, most: int) -> tuple[bytes, bytes]:
    """The first line, up to so many bytes, and how what follows begins; empty: nothing does."""
    with reading.open_bytes(path) as file:
        return file.readline(most), file.readline(2)


def _has_lines(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(files.LINES_SUFFIXES)


def _line_input(path: Path, document: Mapping[str, Any]) -> ProcessInput:
    """The process of a line, which may be opened again."""
    return document_input(path, dict(document))


def _is_lines(path: Path, max_line: int) -> bool:
    """JSON Lines: the first line alone is a JSON object without records, or the name says so."""
    if _has_lines(path):
        return not _is_documents(path)
    try:
        line, rest = _first_line(path, min(max_line, _LONGEST_HEADER))
        value = reading.parse(line.decode("utf-8-sig"))
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError):
        return False
    return isinstance(value, dict) and bool(rest) and value.keys().isdisjoint(LISTS)


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
        _see_that_it_is_ours(path, value, where)
        return _header(value, where)
    raise reading.invalid(path, Violation("not_json", path.name, "the file is empty"))


def _see_that_it_is_ours(path: Path, value: Mapping[str, Any], where: str) -> None:
    """See that a file does not name another of our formats, whose rules are others.

    Raises:
        InvalidProcess: It does; nothing else is said of it.
    """
    given = value.get("format")
    name = _OTHERS.get(given) if isinstance(given, str) else None
    if name is not None:
        message = f"is {given!r}, which is the format `{name}` and no process file"
        raise reading.invalid(path, Violation("other_format", where, message, {"format": name}))


def _header(value: Mapping[str, Any], place: str) -> tuple[Header, tuple[Violation, ...]]:
    """The header, and what is wrong with it; a wrong one says nothing but the terminals."""
    model, faults = read_header(value, place)
    header = Header(
        source_format=model.source_format or FORMAT,
        process_id=model.process_id,
        name=model.name,
        question=model.question,
        stage_names={int(stage): name for stage, name in model.stages.items()},
        terminals=tuple(model.terminals) if model.terminals is not None else None,
        warnings=tuple(model.warnings),
        run_of_record=model.run_of_record,
        project=model.project,
        tags=tuple(dict.fromkeys(model.tags)),
    )
    return header, tuple(faults)


def document_input(path: Path, document: dict[str, Any]) -> ProcessInput:
    """The process that a document holds, which may come from another format.

    Args:
        path: Where it comes from, for messages.
        document: Its keys; those of the lists are taken out of it.

    Raises:
        InvalidProcess: Not all lists are there, or it names another of our formats.
    """
    _see_that_it_is_ours(path, document, "format")
    lists: dict[str, list[Any]] = {}
    violations = Violations()
    for key, required in LISTS.items():
        fault = "must be a list" if key in document else "is missing"
        value = document.pop(key, None if required else [])
        if isinstance(value, list):
            lists[key] = value
        elif value is None:
            violations.append(Violation("missing_key", "document", f"the key {key!r} {fault}"))
        else:
            violations.append(Violation("wrong_type", key, "must be a list"))
    header, faults = _header(document, "")
    read = _DocumentInput(header, lists, faults)
    if len(violations):  # without all lists there is no graph to check
        violations += (record for record in read.records() if isinstance(record, Violation))
        raise reading.broken(path, violations)
    return read


@dataclass(frozen=True, slots=True)
class _DocumentInput:
    """A single JSON document, in memory."""

    header: Header
    lists: dict[str, list[Any]]
    faults: tuple[Violation, ...]

    def records(self) -> Iterator[Record]:
        yield from self.faults
        yield from self._read(_READERS)

    def trails(self) -> Iterator[TrailRecord]:
        yield from self._read(_TRAIL_READERS)

    def _read(self, readers: Mapping[str, Callable[[object, str], Any]]) -> Iterator[Any]:
        for kind, read in readers.items():
            for place, value in enumerate(self.lists.get(f"{kind}s", ())):
                record = read(value, f"{kind}s[{place}]")
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
    passed_over: set[str] = field(default_factory=set)

    def records(self) -> Iterator[Record]:
        for record in self.packed():
            if isinstance(record, PlainNodes):
                yield from record.records()
            else:
                yield record

    def packed(self) -> Iterator[Record | PlainNodes]:
        yield from self.faults
        yield from self._read(_READERS, _TRAIL_READERS)
        self.passed_over.add("")  # the end was reached, so that it is known what there is

    def trails(self) -> Iterator[TrailRecord]:
        if self.passed_over == {""}:
            return
        for record in self._read(_TRAIL_READERS, _READERS):
            # What is no line at all was reported when the process was read.
            told = isinstance(record, Violation) and record.kind in _TOLD_BEFORE
            if not told and not isinstance(record, Remark):
                yield record

    def _read(
        self, readers: Mapping[str, Callable[[object, str], Any]], others: Collection[str]
    ) -> Iterator[Any]:
        number, is_header_read = 1, False
        for chunk in reading.read_chunks(self.path, self.max_line):
            while chunk and not is_header_read:
                end = chunk.find(b"\n") + 1 or len(chunk)
                text = reading.line_text(self.path, number, chunk[:end])
                is_header_read, chunk, number = bool(text.strip()), chunk[end:], number + 1
            for part, many in plain_parts(chunk, number):
                if many is None:
                    for place, line in enumerate(reading.lines_of(part)):
                        yield from self._line(number + place, line, readers, others)
                else:
                    kind = "edge" if isinstance(many, PlainEdges) else "node"
                    if kind in readers:
                        yield many
                    else:
                        self.passed_over.add(kind)
                number += part.count(b"\n")

    def _line(
        self,
        number: int,
        line: bytes,
        readers: Mapping[str, Callable[[object, str], Any]],
        others: Collection[str],
    ) -> Iterable[Any]:
        where = f"line {number}"
        try:
            value = reading.parse_fast(line)
        except ValueError:
            if self.header.source_format == RECORDED and not line.endswith(b"\n"):
                return (Remark(_CUT_OFF),)  # only the last line has no end
            text = reading.line_text(self.path, number, line)
            if not text.strip():
                return ()
            try:
                value = reading.parse(text.rstrip("\r\n"), number)
            except reading.NotJson as error:
                return (Unread("not_json", where, str(error)),)
        if type(value) is dict and len(value) == 1:
            ((key, content),) = value.items()
            if key in readers:
                record = readers[key](content, where)
                return record if isinstance(record, list) else (record,)
            if key in others:
                self.passed_over.add(key)
                return ()
        message = f"must be an object with one key: {', '.join([*_READERS, *_TRAIL_READERS])}"
        return (Unread("wrong_line", where, message),)
