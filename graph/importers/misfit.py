"""The reasons why a path is in no format: the faults of the file, or of the likely formats."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files, tables
from veritrail_graph.graph.importers.plain import TEXT_SUFFIXES
from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.importers.traces.checkpoints import is_database

_LOOKED_AT = 1_000_000
_MANY_KEYS = 6
_ZIP = b"PK\x03\x04"
_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_TEXTS = (".json", *files.LINES_SUFFIXES, *files.DELIMITERS)
_KEYS: Mapping[str, frozenset[str]] = {
    "process": frozenset({"nodes", "edges", "stages", "terminals"}),
    "dialogue": frozenset({"turns", "dialogue_id", "initial_knowledge"}),
    "agents": frozenset({"messages", "history", "role", "content", "conversation"}),
    "rag": frozenset({
        "question", "answer", "contexts", "context", "documents", "user_input", "response",
        "query", "retrieved_contexts", "output", "input",
    }),
    "llamaindex": frozenset({"source_nodes"}),
    "summaries": frozenset({"summary", "summaries", "levels", "chunks", "claims", "steps"}),
    "langfuse": frozenset({"observations", "traceId", "trace"}),
    "otlp": frozenset({
        "resourceSpans", "spans", "scopeSpans", "resource_spans", "context.trace_id",
    }),
    "mlflow": frozenset({"spans", "trace_id", "info"}),
    "langchain": frozenset({"run_type", "child_runs", "inputs", "outputs"}),
    "prov": frozenset({"entity", "activity", "wasDerivedFrom", "agent"}),
}  # fmt: skip
"""Keys that make a format likely, at the top of a document or of its first entry."""


def explain(path: Path, reasons: Mapping[str, tuple[str, str]]) -> str:
    """The message for a path that is in no format, with the likeliest reason first.

    Args:
        path: It.
        reasons: For each format its description, and why the path is not in it.
    """
    begin = f"{path} is in no format that can be read here"
    fault = None if path.is_dir() else _fault(path)
    if fault is not None:
        return f"{begin}: {fault.removesuffix('.')}."
    likely = _likely(path, reasons)
    lines = [f"  {name} ({reasons[name][0]}): {reasons[name][1]}" for name in likely]
    others = [name for name in reasons if name not in likely]
    if others:
        lines.append(f"  Also tried: {', '.join(others)}.")
    holds = _holds(path)
    return "\n".join([f"{begin}{holds}. Tried:", *lines])


def is_plain(path: Path) -> bool:
    """Return whether a path that is in no format is plain text, or a folder of such files.

    Args:
        path: A path that is in none.
    """
    if not path.is_dir():
        return path.suffix.lower() in TEXT_SUFFIXES and _fault(path) is None
    return any(one.suffix.lower() in TEXT_SUFFIXES for one in path.iterdir())


def is_likely(name: str, path: Path, reasons: Mapping[str, Any]) -> bool:
    """Return whether a path that can be read is most likely meant to be in a format.

    Args:
        name: The format.
        path: A path that is in none.
        reasons: By format why it is not in it.
    """
    if path.is_dir() or _fault(path) is not None:
        return False
    return _likely(path, reasons)[:1] == [name]


def _likely(path: Path, reasons: Mapping[str, Any]) -> list[str]:
    """The formats that the path may be meant to be in, the likeliest first."""
    if path.is_dir():
        return [name for name in ("graphrag", "lightrag") if name in reasons]
    if is_database(path):
        return [name for name in ("langchain",) if name in reasons]
    value = files.first_record(path)
    keys = set(value) if isinstance(value, dict) else set()
    counts = {name: len(keys & known) for name, known in _KEYS.items() if name in reasons}
    found = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    return found[:3] or [name for name in ("rag", "process") if name in reasons]


def _holds(path: Path) -> str:
    """Return what a file of JSON holds, in a few words; empty: it is none."""
    value = files.first_value(path)
    where = ": it is an object with" if isinstance(value, dict) else ": its first entry has"
    what = "key"
    if tables.is_table(path):
        where, what = ": it is a table with", "column"
    record = files.first_record(path)
    if not isinstance(record, dict) or not record:
        return ""
    shown = ", ".join(repr(key[:40]) for key in list(record)[:_MANY_KEYS])
    rest = len(record) - _MANY_KEYS
    more = f" and {rest} more" if rest > 0 else ""
    return f"{where} the {what}{'s' * (len(record) > 1)} {shown}{more}"


def _fault(path: Path) -> str | None:
    """Return what is wrong with the file itself, whatever format it is meant to be in."""
    try:
        with reading.open_bytes(path) as file:
            begin = file.read(_LOOKED_AT)
    except InputError as error:
        return str(error).removeprefix(f"{path} ")
    except (OSError, EOFError, zlib.error) as error:
        return f"the gzip stream is damaged or cut short ({error})"
    if not begin.strip():
        return "it is empty" if len(begin) < _LOOKED_AT else "it begins with white space only"
    suffix = files.suffix_of(path)
    if begin.startswith(_ZIP) or suffix in _WORKBOOKS:
        return (
            "it is a zip archive or the workbook of a spreadsheet. Unpack it, or save the sheet "
            "as CSV (UTF-8)."
        )
    is_json = begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    if suffix not in _TEXTS and not is_json:
        return None
    encoding = _BYTE_ORDER_MARKS.get(begin[:2])
    if encoding is not None:
        return f"it is not UTF-8 but {encoding}. Save it as UTF-8."
    try:
        begin.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end < len(begin) - 3 or len(begin) < _LOOKED_AT:
            return f"it is not UTF-8: {error.reason} at byte {error.start}. Save it as UTF-8."
    if b"\0" in begin:
        return "it holds bytes of value 0: it is no text"
    if tables.is_table(path):
        return None
    return _not_json(path)


def _not_json(path: Path) -> str | None:
    """Return where a file of JSON is none; None: it is JSON."""
    try:
        if files.suffix_of(path) in files.LINES_SUFFIXES:
            value = next((value for _, value in files.json_lines(path)), None)
            if isinstance(value, InputError):
                raise value
        elif files.first_value(path) is None:
            files.document(path)
    except InputError as error:
        said = str(error).removeprefix(f"{path} cannot be read. ").removeprefix(f"{path}, ")
        return said.removeprefix(f"{path.name}: ")
    return None
