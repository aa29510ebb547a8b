"""Bytes of a process file to JSON values, with limits and with the place of every fault."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import jiter

from veritrail_graph.graph.errors import (
    InputError,
    InvalidProcess,
    Violation,
    Violations,
    json_fault,
)
from veritrail_graph.graph.json_objects import object_of

MAX_DOCUMENT = 1_000_000_000
"""A single JSON document is held in memory whole: bytes beyond this are refused."""

_FAST = 50_000_000  # characters; the fast parser needs a second copy of a text

_BLOCK = 256_000  # bytes
_GZIP_BLOCK = 8_192

_MOST_BLANK = 1_000_000  # bytes of white space before a document begins
MOST_VALUES, BYTES_A_VALUE = 3_000_000, 16
"""Values that one JSON text may hold, each key counted: one of three bytes takes 70 of memory.

A large text may hold more of them, one for so many of its bytes: that is how dense traces are.
"""

_FEW = 1_000_000  # bytes; the values of a shorter text are not counted

UNPACKED_AT_LEAST, MOST_UNPACKED = 1_000_000, 200
"""So many bytes may be packed in however few; more, in no fewer than this part of them.

JSON packs to a tenth or a twentieth; gzip makes at best a thousandth of what repeats itself.
"""

_GZIP_MAGIC = b"\x1f\x8b"


UNREADABLE = (InputError, OSError, EOFError, zlib.error)
"""What reading a file raises that is not there, may not be read, or is a damaged gzip file."""


class NotJson(ValueError):
    """A text is not JSON of the kind that is accepted here."""


class TooManyValues(NotJson):
    """A JSON text holds more values than may be in memory at once."""


def is_gzipped(path: Path) -> bool:
    """Return whether the file is gzipped, by its first bytes and not by its name."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP_MAGIC


def open_bytes(path: Path) -> io.BufferedReader:
    """The file's bytes, decompressed.

    Raises:
        InputError: It is no file, or may not be read.
    """
    try:
        if is_gzipped(path):
            return io.BufferedReader(_Unpacking(path))
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def most_unpacked(packed: int) -> int:
    """The most bytes that so many packed ones may hold."""
    return max(UNPACKED_AT_LEAST, packed * MOST_UNPACKED)


class _Unpacking(io.RawIOBase):
    """A gzipped file unpacked, as far as it may be.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file = gzip.open(path)  # noqa: SIM115 - closed with this one
        self._left = most_unpacked(path.stat().st_size)

    def readable(self) -> bool:
        """Return that it is read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack the next bytes.

        Raises:
            InvalidProcess: There are more of them than there may be.
        """
        block = self._file.read1(len(buffer))
        self._left -= len(block)
        if self._left < 0:
            message = (
                f"unpacks to more than {MOST_UNPACKED} times its size; unpack it first, if it is "
                "meant to"
            )
            fault = Violation("too_large", self._path.name, message)
            raise InvalidProcess(f"{self._path} {message}", [fault])
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def parse(text: str, first_line: int = 1, *, constants: bool = False) -> Any:
    """JSON with one meaning only: no repeated keys, no NaN, no endless nesting.

    Args:
        text: The JSON text.
        first_line: The line of the file that it begins on, for messages.
        constants: Whether NaN and Infinity are floats, as Python writes them.

    Raises:
        NotJson: With the line and column, where there is one.
    """
    if len(text) <= _FAST and not constants:
        try:
            return parse_fast(text.encode("utf-8"))
        except TooManyValues:
            raise
        except ValueError:
            pass  # the slow parser says where and why, or takes it: half a character, deep nesting
    else:
        check_values(text.encode("utf-8", "surrogatepass"))
    try:
        return (_LENIENT if constants else _DECODER).decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(json_fault(error, first_line)) from None
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except NotJson:
        raise
    except ValueError:  # an integer of thousands of digits
        most = sys.get_int_max_str_digits()
        raise NotJson(f"a number has more than {most:,} digits; write it as a text") from None


def check_values(data: bytes, most: int | None = None) -> None:
    """See that a JSON text holds no more values than it may, before any of them is made.

    Args:
        data: The text.
        most: How many it may hold; None: as many as its size allows.

    Raises:
        TooManyValues: It holds more.
    """
    if len(data) <= _FEW:  # every value takes two bytes
        return
    if most is None:
        most = max(MOST_VALUES, len(data) // BYTES_A_VALUE)
    # Part by part: each call holds up all other threads.
    parts = (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))
    if not _are_more(parts, most) or not _are_more(_outside_texts(data), most):
        return
    raise TooManyValues(
        f"it holds more than {most:,} values; send it in several parts, or as JSON Lines "
        "(.jsonl), which are read line by line"
    )


def _are_more(parts: Iterable[bytes], most: int) -> bool:
    count = 0
    for part in parts:
        count += _signs(part)
        if count > most:
            return True
    return False


def _signs(data: bytes) -> int:
    """Return how many values a JSON text holds at most: each stands behind one of these signs."""
    return sum(map(data.count, (b",", b":", b"[", b"{")))


def _outside_texts(data: bytes) -> Iterator[bytes]:
    """Yield what stands in a JSON text outside of the texts in it, in parts."""
    start = is_inside = 0
    while start < len(data):
        part = data[start : start + _BLOCK]
        if (len(part) - len(part.rstrip(b"\\"))) % 2:  # no escape is cut in two
            part = data[start : start + _BLOCK + 1]
        start += len(part)
        parts = part.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        yield b"".join(parts[is_inside::2])
        is_inside = (is_inside + len(parts) - 1) % 2


def end_of_value(text: str, start: int) -> int | None:
    """Return where the value of JSON ends that begins at a place of a text; None: none does.

    Args:
        text: The text.
        start: The place, or that of white space before it.
    """
    try:
        return _LENIENT.raw_decode(text, _BLANK.match(text, start).end())[1]  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return None


def parse_fast(data: bytes) -> Any:
    """JSON that holds nothing unusual.

    Raises:
        ValueError: `parse` has to look at it.
    """
    if len(data) > _FAST:
        raise NotJson("too long for a second copy")
    check_values(data)
    return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")


def read_document(path: Path, parsing: Callable[[str], Any] = parse) -> Any:
    """The whole file as one JSON value.

    Args:
        path: The file.
        parsing: What makes a value of the text; raises NotJson.

    Raises:
        InvalidProcess: It is not one; the violation says where.
    """
    try:
        data = b"".join(_bounded(path))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise damaged(path, error) from None
    try:
        return parsing(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte {error.start} cannot be decoded"
        raise invalid(path, Violation("not_utf8", path.name, message)) from None
    except NotJson as error:
        raise invalid(path, Violation("not_json", path.name, str(error))) from None


def _bounded(path: Path) -> Iterator[bytes]:
    """The bytes of a document, block by block.

    Raises:
        InvalidProcess: It begins with too much white space, or is too large.
    """
    size, is_blank = 0, True
    for block in _blocks(path):
        size += len(block)
        is_blank = is_blank and not block.strip()
        if is_blank and size > _MOST_BLANK:
            message = f"begins with more than {_MOST_BLANK:,} bytes of white space"
            raise invalid(path, Violation("not_json", path.name, message))
        if size > MAX_DOCUMENT:
            message = f"the document is larger than {MAX_DOCUMENT:,} bytes; use JSON Lines (.jsonl)"
            raise invalid(path, Violation("too_large", path.name, message))
        yield block


def read_lines(path: Path, max_line: int) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of every line that is not blank, one at a time.

    Raises:
        InvalidProcess: A line is too long or not UTF-8, or the gzip stream is damaged.
    """
    lines = chain.from_iterable(map(lines_of, read_chunks(path, max_line)))
    for number, line in enumerate(lines, start=1):
        text = line_text(path, number, line)
        if text.strip():
            yield number, text


def read_chunks(path: Path, max_line: int) -> Iterator[bytes]:
    """Whole lines with their ends, many at a time.

    Raises:
        InvalidProcess: A line is too long, or the gzip stream is damaged; all lines before it
            were handed over.
    """
    begun: list[bytes] = []  # a line that goes on in the next block
    before = size = 0
    for block in _blocks(path):
        end = block.rfind(b"\n") + 1
        begun.append(block[:end] if end else block)
        size += len(begun[-1])
        if not end and size <= max_line:
            continue
        chunk = b"".join(begun)
        if size > max_line:
            yield from _up_to_too_long(path, before, chunk, max_line)
        if end:
            yield chunk
        before += size
        begun, size = [block[end:]], len(block) - end
    if size:
        yield b"".join(begun)


def _blocks(path: Path) -> Iterator[bytes]:
    with open_bytes(path) as file:
        # Of a gzip stream what was unpacked before a fault must not be lost to the fault.
        size = _GZIP_BLOCK if is_gzipped(path) else _BLOCK
        while True:
            try:
                block = file.read1(size)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise damaged(path, error) from None
            if not block:
                return
            yield block


def _up_to_too_long(path: Path, before: int, chunk: bytes, max_line: int) -> Iterator[bytes]:
    """The lines of a chunk up to one that is too long.

    Args:
        path: The file, for errors.
        before: How many bytes of the file come before the chunk.
        chunk: The lines with their ends.
        max_line: The most bytes of a line.
    """
    size = 0
    for place, line in enumerate(lines_of(chunk)):
        if len(line) > max_line:
            if size:
                yield chunk[:size]
            number = _lines_in(path, before) + place + 1
            message = f"is longer than {max_line:,} bytes, the longest text of a node included"
            raise invalid(path, Violation("line_too_long", f"line {number}", message))
        size += len(line)


def _lines_in(path: Path, size: int) -> int:
    """Return the number of lines in the first bytes; counting all would read the whole file."""
    count = 0
    for block in _blocks(path):
        count += block[:size].count(b"\n")
        size -= len(block)
        if size <= 0:
            break
    return count


def lines_of(chunk: bytes) -> list[bytes]:
    """Its lines with their ends; only a line feed ends one."""
    return io.BytesIO(chunk).readlines()


def line_text(path: Path, number: int, line: bytes) -> str:
    """A line as text.

    Raises:
        InvalidProcess: It is not UTF-8.
    """
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte {error.start} of the line cannot be decoded"
        raise invalid(path, Violation("not_utf8", f"line {number}", message)) from None


def damaged(path: Path, error: Exception) -> InvalidProcess:
    """The error for a gzip stream that is cut short or damaged."""
    message = f"the gzip stream is damaged or cut short ({error})"
    return invalid(path, Violation("damaged_gzip", path.name, message))


def invalid(path: Path, *violations: Violation) -> InvalidProcess:
    """The error for a file that breaks rules."""
    return broken(path, Violations(violations))


def broken(path: Path, violations: Violations) -> InvalidProcess:
    """The error for a file that breaks many rules."""
    count = len(violations)
    rules = "one rule" if count == 1 else f"{count} rules"
    return InvalidProcess(f"{path} breaks {rules} of the process file format", violations)


def _refuse_constant(name: str) -> Any:
    raise NotJson(f"{name} is no JSON value")


_BLANK = re.compile(r"\s*")
_object = partial(object_of, fault=NotJson)
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
_LENIENT = json.JSONDecoder(object_pairs_hook=_object)
