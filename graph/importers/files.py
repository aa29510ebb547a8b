"""Values out of files: JSON documents, JSON Lines, and a look at what a file begins with."""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from veritrail_graph.graph.errors import InputError, InvalidProcess, shown
from veritrail_graph.graph.importers import frames, nulled
from veritrail_graph.graph.importers.process_file import reading

LINES_SUFFIXES = (".jsonl", ".ndjson")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""The endings of tables as text, and what separates their cells."""

_LONGEST_CELL = 100_000_000
_HEAD = 4_096
_OURS = b'"veritrail.'
_MAX_LINE = 100_000_000
_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_SHOWN = 200
_NOT_BLANK = re.compile(r"\S")
_OPENED = re.compile(r"^\{\s*$", re.MULTILINE)
_BEGIN = re.compile(r"\{|\[\s*[{\[]")
_VALUE = re.compile(rf"^(?:{_BEGIN.pattern})", re.MULTILINE)
"""The beginning of an object, or of a list of them, at the beginning of a line."""


class NoValue(InputError):
    """The reason why words between values of JSON, such as a line of a program, are none."""


def is_there(path: Path) -> bool:
    """Return whether a path names a file or folder; a text that is too long for a name does not."""
    try:
        return path.exists()
    except OSError:
        return False


def suffix_of(path: Path) -> str:
    """The ending of a file's name that says what it is, in small letters and without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def begins_as_json(path: Path) -> bool:
    """Return whether a file of any name begins as an object or a list of JSON."""
    try:
        with reading.open_bytes(path) as file:
            head = file.read(_HEAD)
    except (InputError, OSError, EOFError, zlib.error):
        return False
    return _JSON.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def document(path: Path) -> Any:
    """The whole file as one JSON value, with null for NaN and Infinity (`nulled`).

    A table that pandas wrote by column is the list of its rows.

    Raises:
        InputError: It is not one; the message says where.
    """
    try:
        return frames.as_rows(reading.read_document(path, nulled.parse))
    except InvalidProcess as error:
        raise _plain(path, error) from None


def json_lines(
    path: Path, max_line: int = _MAX_LINE, *, strict: bool = False
) -> Iterator[tuple[int, Any]]:
    """Number (from 1) and value of every line that is not blank; an InputError where it is none.

    The rows of a table are such lines, and so are values over several lines, one after another.

    Args:
        path: The file.
        max_line: The longest line, in bytes.
        strict: Whether NaN and Infinity are refused, as in formats of ours; else they are null.

    Raises:
        InputError: A line is too long or not UTF-8, or the gzip stream is damaged.
    """
    parse = reading.parse if strict else nulled.parse
    tables = _tables()
    if tables.is_table(path):
        yield from tables.records(path)
        return
    try:
        is_first = True
        for number, text in reading.read_lines(path, max_line):
            try:
                yield number, parse(text, number)
            except reading.NotJson as error:
                several = _one_after_another(path, parse) if is_first else None
                if several is not None:
                    yield from several
                    return
                yield number, InputError(f"{path}, line {number}: {error}")
            is_first = False
    except InvalidProcess as error:
        raise _plain(path, error) from None


def _one_after_another(
    path: Path, parse: Callable[[str, int], Any]
) -> Iterator[tuple[int, Any]] | None:
    """Yield the values of a file in which they follow each other over lines, as programs print.

    None: it does not begin with such a value, or that is the whole file.
    """
    if _is_whole(path):
        return None
    text = reading.read_document(path, str)
    end = reading.end_of_value(text, 0)
    if end is not None:
        return _several(path, text, parse) if text[end:].strip() else None
    # A program may have printed something else first.
    return _several(path, text, parse) if _OPENED.search(text, 1) else None


def _several(path: Path, text: str, parse: Callable[[str, int], Any]) -> Iterator[tuple[int, Any]]:
    """Yield the line and the value of each; what stands between them is a fault each time."""
    at, line, counted = 0, 1, 0
    while (rest := _NOT_BLANK.search(text, at)) is not None:
        at = rest.start()
        line, counted = line + text.count("\n", counted, at), at
        end = reading.end_of_value(text, at) if _BEGIN.match(text, at) else None
        if end is None:
            found = _VALUE.search(text, at + 1)
            end = len(text) if found is None else found.start()
            said = shown(text[at : min(end, at + _SHOWN)].strip())
            yield line, NoValue(f"{path}, line {line}: not JSON: {said}")
        else:
            try:
                yield line, parse(text[at:end], line)
            except reading.NotJson as error:
                yield line, InputError(f"{path}, line {line}: {error}")
        at = end


def delimited(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Every row of a table as text: the line that it ends on (from 1), and its cells.

    The first row is the header; a blank row has no cells. A byte order mark is left out. Quotes in
    a table with tabs are signs like others where they cannot be those around a cell.

    Args:
        path: The file, gzipped or not.

    Raises:
        InputError: It cannot be read, is not UTF-8, or a quoted cell does not end.
    """
    csv.field_size_limit(_LONGEST_CELL)
    try:
        delimiter = delimiter_of(path)
        quoting = _quoting(path, delimiter)
        with io.TextIOWrapper(reading.open_bytes(path), "utf-8-sig", newline="") as file:
            rows = csv.reader(file, delimiter=delimiter, strict=True, quoting=quoting)
            try:
                for row in rows:
                    if rows.line_num > 1 or not _SEPARATOR.fullmatch(delimiter.join(row)):
                        yield rows.line_num, row
            except csv.Error as error:
                raise InputError(
                    f"{path} cannot be read as a table: {error} at line {rows.line_num}"
                ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read as a table: {error}") from None


def _quoting(path: Path, delimiter: str) -> Literal[0, 3]:
    """Return how the cells of a table are quoted: not at all, where it has tabs and is none else.

    Such a table cannot be read with quotes, and each of its lines has a cell for each column.
    """
    if delimiter != "\t":
        return csv.QUOTE_MINIMAL
    known = path.stat()
    return _quoting_of_tabs(path, known.st_mtime_ns, known.st_size)


@lru_cache(maxsize=1)  # the header is read before the rows
def _quoting_of_tabs(path: Path, _changed: int, _size: int) -> Literal[0, 3]:
    if _widths(path, csv.QUOTE_MINIMAL):
        return csv.QUOTE_MINIMAL
    return csv.QUOTE_NONE if len(_widths(path, csv.QUOTE_NONE)) == 1 else csv.QUOTE_MINIMAL


def _widths(path: Path, quoting: Literal[0, 3]) -> set[int]:
    """Return how many cells the rows of a table with tabs have; none: it cannot be read so."""
    with io.TextIOWrapper(reading.open_bytes(path), "utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter="\t", strict=True, quoting=quoting)
        try:
            return {len(row) for row in rows if row}
        except csv.Error:
            return set()


_SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)


def delimiter_of(path: Path) -> str:
    """Return what separates the cells of a table: by its ending, or semicolons.

    A header with more semicolons than commas is what spreadsheets write in many countries. A first
    line `sep=;` tells it to Excel.
    """
    delimiter = DELIMITERS.get(suffix_of(path), ",")
    with io.TextIOWrapper(reading.open_bytes(path), "utf-8-sig", newline="") as file:
        header = file.readline()
    if told := _SEPARATOR.fullmatch(header.strip("\r\n")):
        return told[1]
    return ";" if delimiter == "," and header.count(";") > header.count(",") else delimiter


def _tables() -> Any:
    from veritrail_graph.graph.importers import tables  # it reads text through this module

    return tables


def _plain(path: Path, error: InvalidProcess) -> InputError:
    said = "; ".join(f"{one.where}: {one.message}" for one in error.violations)
    return InputError(f"{path} cannot be read. {said}")


def first_value(path: Path) -> Any:
    """The JSON value that a file is, or that the first line of JSON Lines or of a table is.

    None for folders, for what is not JSON, and for the formats of this project, which say
    themselves what they are.
    """
    try:
        known = _key(path)
        found = _first.get(known)
        if found is None:
            found = _first_value(path)
            _first.clear()
            _first[known] = found
        return found[0]
    except OSError:
        return None


_Key = tuple[Path, int, int]
_first: dict[_Key, tuple[Any, bool]] = {}
"""The first value of the file that was looked at last, as every importer asks in turn.

With it stands whether that is the whole file, which need not be parsed again then.
"""


def _key(path: Path) -> _Key:
    known = path.stat()
    return path, known.st_mtime_ns, known.st_size


def first_record(path: Path) -> Any:
    """The first entry of the list that a file holds, or what else `first_value` gives."""
    value = first_value(path)
    return value[0] if isinstance(value, list) and value else value


def _first_value(path: Path) -> tuple[Any, bool]:
    """Return the first value of a file, and whether it is the whole of it."""
    if not path.is_file():
        return None, False
    try:
        tables = _tables()
        if tables.is_table(path):
            row = next((value for _, value in tables.records(path)), None)
            return None if isinstance(row, InputError) else row, False
        with reading.open_bytes(path) as file:
            head = file.read(_HEAD)
        begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if _OURS in head:
            return None, False
        if begin not in (b"{", b"["):
            is_printed = begins_printed(head.decode("utf-8", "replace"))
            return _of_lines(path) if is_printed else None, False
        if suffix_of(path) in LINES_SUFFIXES:
            return _of_lines(path), False
        try:
            return document(path), True
        except InputError:  # JSON Lines under another name
            value = _of_lines(path)
            return None if isinstance(value, InputError) else value, False
    except (InputError, OSError, EOFError, ValueError):
        return None, False


def begins_printed(text: str) -> bool:
    """Return whether a text holds an object that a program printed over lines."""
    return _OPENED.search(text[:_HEAD]) is not None


def _of_lines(path: Path) -> Any:
    """Return the first value of lines, or why it cannot be read; words before it are none."""
    return next((one for _, one in json_lines(path) if not isinstance(one, NoValue)), None)


def is_lines(path: Path) -> bool:
    """Return whether a file holds its values in lines: JSON Lines, or the rows of a table."""
    if suffix_of(path) in LINES_SUFFIXES or _tables().is_table(path):
        return True
    if _is_whole(path):
        return False
    try:
        lines = json_lines(path)
        first, second = next(lines, None), next(lines, None)
    except InputError:
        return False
    return all(
        one is not None and (not isinstance(one[1], InputError) or isinstance(one[1], NoValue))
        for one in (first, second)
    )


def values(path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file one by one, with their numbers from 1.

    Lines of JSON Lines, entries of a list, or the one document. What cannot be read is an
    InputError in the place of the value.

    Raises:
        InputError: The file cannot be read at all.
    """
    whole = _taken(path)
    if whole is None and is_lines(path):
        yield from ((number, value) for number, (_, value) in enumerate(json_lines(path), 1))
        return
    whole = document(path) if whole is None else whole
    yield from enumerate(whole if isinstance(whole, list) else [whole], start=1)


def _is_whole(path: Path) -> bool:
    """Return whether the file was looked at last, and is one value."""
    try:
        return _first.get(_key(path), (None, False))[1]
    except OSError:  # reading says what is wrong
        return False


def _taken(path: Path) -> Any:
    """Return the document that was looked at last, if it is this file; it is kept no longer."""
    try:
        found, is_whole = _first.pop(_key(path), (None, False))
    except OSError:  # reading says what is wrong
        return None
    return found if is_whole else None


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the value of the first of some keys that is there and not null; None without one."""
    return next((value[name] for name in names if value.get(name) is not None), None)
