"""Claims of a file: a JSON array, a table, or one claim a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, InvalidProcess, Violation, Violations, shown
from veritrail_graph.graph.exporters.cells import unguarded
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.process_file.reading import NotJson, parse
from veritrail_graph.graph.importers.process_file.schema import read_claim
from veritrail_graph.graph.importers.records import ClaimRecord

MAX_FILE = 100_000_000
_COLUMNS = ("text", "claim_id", "node_id", "start", "end", "label")
_OF_A_REPORT = frozenset({"claim", "claim_id", "verification_id"})
_OFFSET_DIGITS = 18


def read_claims_file(path: Path) -> list[ClaimRecord]:
    """Claims of a file: a JSON array of strings or claim objects, CSV, or one claim a line.

    A file whose name ends with `.csv` or `.tsv` is read by its columns: `text` or `claim`, and any
    of `claim_id`, `node_id`, `start`, `end` and `label`; an empty cell is a value not given.
    Of a report as CSV, `claim`, `claim_id` and `node_id` are read.
    A line of text may begin with a bracket: unless its name says so, such a file is JSON only when
    it can be read as JSON.

    Raises:
        InputError: It cannot be read, holds no claim, or a claim breaks a rule.
    """
    try:
        if path.stat().st_size > MAX_FILE:
            raise InputError(f"{path} is larger than {MAX_FILE:,} bytes; split it")
        if path.suffix.lower() in files.DELIMITERS:
            return _rows(path)
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: byte {error.start} cannot be decoded") from None
    start = text.lstrip()[:1]
    is_array = start == "[" and (path.suffix.lower() == ".json" or _is_json(text))
    claims = _array(path, text) if is_array else _lines(path, text)
    if start == "{" and _is_json(claims[0].text, text):
        raise InputError(
            f"{path} holds a JSON object; claims are a JSON array, or text with one claim on a line"
        )
    if not claims:
        raise InputError(f"{path} holds no claim")
    return claims


def _is_json(*texts: str) -> bool:
    """Return whether a text is JSON, and not a claim that begins with a brace or a bracket."""
    for text in texts:
        with suppress(NotJson):
            parse(text)
            return True
    return False


def _lines(path: Path, text: str) -> list[ClaimRecord]:
    return [
        ClaimRecord(line.strip(), f"{path.name} line {number}")
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _rows(path: Path) -> list[ClaimRecord]:
    """The claims of a table, one a row."""
    rows = files.delimited(path)
    table = [(line, row) for line, row in rows if any(cell.strip() for cell in row)]
    columns = [name.strip() for name in table[0][1]] if table else []
    is_report = _OF_A_REPORT.issubset(columns)
    fields = ["text" if name == "claim" else name for name in columns]
    unknown = [] if is_report else [name for name in fields if name not in _COLUMNS]
    if "text" not in fields or unknown or len(set(fields)) < len(fields):
        named = ", ".join(shown(name) for name in columns) or "nothing"
        others = ", ".join(_COLUMNS[1:])
        raise InputError(
            f"{path}: its first line names {named}. CSV of claims has a column `text` or `claim`, "
            f"and may have others of {others}, each once. A file of texts, one a line, has another "
            "ending."
        )
    values = [
        (f"{path.name} line {line}", dict(zip(fields, row, strict=False)), len(row))
        for line, row in table[1:]
    ]
    if is_report:
        values = [(where, _of_report(cells), count) for where, cells, count in values]
    violations = Violations(
        Violation("wrong_columns", where, f"{count} cells, but there are {len(columns)} columns")
        for where, _, count in values
        if count != len(columns)
    )
    given = [(where, _given(cells)) for where, cells, count in values if count == len(columns)]
    claims = _claims(path, given, violations)
    if not claims:
        raise InputError(f"{path} holds no claim")
    return claims


def _of_report(cells: Mapping[str, str]) -> dict[str, str]:
    """The cells of a row of a report that say which claim it is about."""
    about = ("text", "claim_id", "node_id")
    return {name: unguarded(cells[name]) for name in about if name in cells}


def _given(cells: Mapping[str, str]) -> dict[str, str | int]:
    """The cells that hold something; offsets as integers where they are such."""
    held = {name: value for name, value in cells.items() if value.strip()}
    return {
        name: int(value) if name in ("start", "end") and is_offset(value.strip()) else value
        for name, value in held.items()
    }


def is_offset(cell: str) -> bool:
    """Return whether a cell can be an offset; longer numbers are no integers to Python."""
    return cell.isdecimal() and len(cell) <= _OFFSET_DIGITS


def _array(path: Path, text: str) -> list[ClaimRecord]:
    try:
        values = parse(text)
    except NotJson as error:
        raise InputError(f"{path}: {error}") from None
    given = [
        (f"{path.name}[{place}]", {"text": value} if isinstance(value, str) else value)
        for place, value in enumerate(values)
    ]
    return _claims(path, given, Violations())


def _claims(
    path: Path, given: Iterable[tuple[str, Any]], violations: Violations
) -> list[ClaimRecord]:
    claims: list[ClaimRecord] = []
    for where, value in given:
        if violations.is_over:
            break
        record = read_claim(value, where)
        if isinstance(record, ClaimRecord):
            claims.append(record)
        else:
            violations += record
    if len(violations):
        raise InvalidProcess(f"{path} holds claims that break rules", violations)
    return claims
