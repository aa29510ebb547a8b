"""Export requests as they are received, and the files of spans that are made of them.

A file of spans has a line with who sent them, one with its shape, and a line a span. So whether a
trace is whole is known without its spans, and files are joined without reading what is in them.

Source: OpenTelemetry Protocol 1.10, OTLP/HTTP.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.apart import SMALL
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.process_file.reading import (
    TooManyValues,
    check_values,
    most_unpacked,
)
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.importers.traces.logs import is_record
from veritrail_graph.graph.importers.traces.otlp import (
    Span,
    each_of_protobuf,
    each_span,
    trace_process,
)
from veritrail_graph.graph.importers.traces.wire import MOST_SPANS
from veritrail_graph.graph.importers.traces.wire import TooManyValues as TooManySpans

TRACE_ID = re.compile(r"[0-9a-f]{32}")
"""An id of a trace: it becomes part of the name of a file."""
TOO_LARGE = "too_large"
"""The code of a request that unpacks to more than it may."""

_NO_ID = "0" * 16
_SLOWLY_READ = 8_000_000
"""Bytes of JSON that the slow reader takes, which knows all that Python writes."""
_REASONS = 3


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The form of an export request.

    Attributes:
        is_protobuf: Whether it is protobuf; else JSON.
        is_packed: Whether it is gzipped.
    """

    is_protobuf: bool = False
    is_packed: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """The ids of spans, which say whether a trace is whole.

    Attributes:
        spans: The ids of spans.
        parents: Those of their parents.
        has_root: Whether a span without a parent is among them.
    """

    spans: frozenset[str]
    parents: frozenset[str]
    has_root: bool

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Shape:
        """Return the shape of spans; a log record waits for the span that it names."""
        parents: dict[str, str | None] = {}
        known: set[str] = set()
        for one in spans:
            above = one["span_id"] if is_record(one) else one["parent_id"]
            if above:
                known.add(above)
            if not is_record(one):
                parents[one["span_id"]] = one["parent_id"]
        return cls(frozenset(parents), frozenset(known), None in parents.values())

    def line(self) -> bytes:
        """Return it as a line of a file."""
        ids = [sorted(self.spans), sorted(self.parents), self.has_root]
        return json.dumps(ids).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> Shape:
        """Return what a line says.

        Raises:
            ValueError: It is none.
        """
        spans, parents, has_root = json.loads(line)
        return cls(frozenset(spans), frozenset(parents), has_root)


@dataclass(frozen=True, slots=True)
class TraceSpans:
    """The good spans of one trace in a request.

    Attributes:
        count: How many they are.
        has_root: Whether the root is among them.
        content: The line of their shape, then one a span.
    """

    count: int
    has_root: bool
    content: bytes

    @classmethod
    def of(cls, spans: Sequence[Span]) -> TraceSpans:
        """Return spans as they are kept."""
        shape = Shape.of(spans)
        content = b"".join((shape.line(), *map(span_line, spans)))
        return cls(len(spans), shape.has_root, content)


@dataclass(slots=True)
class ExportedSpans:
    """The spans of an export request.

    Attributes:
        traces: The good ones, by the ids of their traces.
        rejected: How many are not good.
        reasons: What is wrong with those.
    """

    traces: dict[str, TraceSpans] = field(default_factory=dict)
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)


def span_line(span: Span) -> bytes:
    """Return a span as a line of a file."""
    return json.dumps(span).encode() + b"\n"


def read_request(body: bytes, form: RequestForm, most: int) -> ExportedSpans:
    """Read the bytes of an export request.

    Args:
        body: They.
        form: How it is written.
        most: The most bytes that it may have, unpacked too.

    Raises:
        InputError: It cannot be read, or holds more than it may.
    """
    if form.is_packed:
        body = unpacked(body, most)
    return sorted_by_trace(body if form.is_protobuf else as_json(body))


def sorted_by_trace(request: Any) -> ExportedSpans:
    """Sort the good spans of a request by trace; count the others, and say what is wrong.

    So are log records that note what a model was given or gave; others are passed over.

    Args:
        request: An ExportTraceServiceRequest or ExportLogsServiceRequest as JSON, or its bytes in
            protobuf.

    Raises:
        InputError: It is no such request.
        TooManySpans: It holds too many spans or values.
    """
    where = "The body"
    is_protobuf = isinstance(request, bytes)
    spans = each_of_protobuf(request, where) if is_protobuf else each_span(request, where)
    taken: dict[str, list[Span]] = {}
    rejected, reasons = 0, dict[str, None]()
    for count, span in enumerate(spans, start=1):
        if count > MOST_SPANS:
            raise TooManySpans(
                f"An export request may hold {MOST_SPANS:,} spans. Let the exporter send fewer at "
                "once."
            )
        if not isinstance(span, InputError) and is_record(span) and span["event"] is None:
            continue
        reason = _fault(span)
        if reason is None and not isinstance(span, InputError):
            taken.setdefault(span["trace_id"], []).append(span)
            continue
        rejected += 1
        if len(reasons) < _REASONS:
            reasons[reason or ""] = None
    traces = {trace_id: TraceSpans.of(each) for trace_id, each in taken.items()}
    return ExportedSpans(traces, rejected, list(reasons))


def _fault(span: Span | InputError) -> str | None:
    """Return why a span is not taken; the reason does not repeat what it holds."""
    if isinstance(span, InputError):
        return "a span or log record is not as OTLP writes it"
    trace_id, span_id = span["trace_id"], span["span_id"]
    if is_record(span):
        is_traced = bool(TRACE_ID.fullmatch(trace_id)) and (not span_id or _is_span_id(span_id))
        return None if is_traced else "a log record of a model's call names no trace"
    if not TRACE_ID.fullmatch(trace_id) or not int(trace_id, 16):
        return "a traceId is not 16 bytes, or 0"
    if span["parent_id"] == _NO_ID:
        span["parent_id"] = None
    for one in (span_id, span["parent_id"] or "1" * 16):
        if not _is_span_id(one):
            return "a spanId or parentSpanId is not 8 bytes, or 0"
    return None


def _is_span_id(value: str) -> bool:
    return TRACE_ID.fullmatch(value * 2) is not None and value != _NO_ID


def unpacked(body: bytes, most: int) -> bytes:
    """Return a gzipped body unpacked, as far as it may be."""
    packed = zlib.decompressobj(wbits=31)
    bound = min(most, most_unpacked(len(body)))
    try:
        found = packed.decompress(body, bound + 1)
    except zlib.error:
        found = b""
    if len(found) > bound:
        raise InputError(too_large(most, bound), code=TOO_LARGE)
    if not packed.eof or packed.unused_data:
        raise InputError("Content-Encoding says gzip, and the body is not one whole gzip stream.")
    return found


def is_small_request(body: bytes, form: RequestForm) -> bool:
    """Return whether a request is so small, unpacked too, that no child need read it."""
    if not form.is_packed or len(body) > SMALL:
        return len(body) <= SMALL
    try:
        return len(zlib.decompressobj(wbits=31).decompress(body, SMALL + 1)) <= SMALL
    except zlib.error:  # reading says what is wrong
        return True


def too_large(most: int, bound: int) -> str:
    """Return what is said of a request of more bytes than one may have, or one so packed."""
    if bound < most:
        return f"An export request that is packed like this one may unpack to {bound:,} bytes."
    return f"An export request may have {most:,} bytes, packed and unpacked."


def as_json(body: bytes) -> Any:
    """Read the object of a body.

    Raises:
        InputError: It is none, or holds too many values.
    """
    import jiter

    found = None
    try:
        check_values(body)
        try:
            found = jiter.from_json(body, cache_mode="keys")
        except ValueError:
            if len(body) <= _SLOWLY_READ:
                found = json.loads(body)
    except TooManyValues as error:
        raise InputError(f"The body cannot be read: {error}.", code=TOO_LARGE) from None
    except (ValueError, RecursionError):
        pass
    if not isinstance(found, dict):
        raise InputError("The body is no JSON object.")
    return found


# Files of spans.


def shape_in(path: Path) -> Shape:
    """Return the shape of the spans of a file.

    Raises:
        OSError: It is not there.
        ValueError: It is damaged.
    """
    with path.open("rb") as file:
        first = file.readline()
        if second := file.readline():
            return Shape.of_line(second)
    return Shape.of(_of_old_form(first))


def lines_in(path: Path) -> list[bytes]:
    """Return the lines of the spans of a file; none where it is not there, or is damaged.

    Files of the earlier form, a single line, hold the same.
    """
    try:
        with path.open("rb") as file:
            first, rest = file.readline(), file.readlines()
        is_old = not rest and b'"content_hash"' not in first[:20]
        if is_old:
            return [span_line(one) for one in _of_old_form(first)]
    except (OSError, ValueError):
        return []
    # In a file of kept spans no shape stands before them.
    return rest[1:] if rest and rest[0].startswith(b"[") else rest


def _of_old_form(line: bytes) -> list[Span]:
    try:
        found: list[Span] = json.loads(line)["spans"]
    except (TypeError, KeyError):
        raise ValueError("no spans") from None
    return found


def joined(paths: Sequence[Path]) -> list[bytes]:
    """Return the lines of the spans of files, each once: exporters send some of them again."""
    return list(dict.fromkeys(line for path in paths for line in lines_in(path)))


def process_of_files(trace_id: str, paths: Sequence[Path]) -> Draft:
    """Return the process of a trace whose spans files hold.

    Raises:
        InputError: It breaks rules.
    """
    return trace_process(trace_id, list(_spans(joined(paths))), ImportOptions())


def _spans(lines: Iterable[bytes]) -> Iterator[Span]:
    for line in lines:
        with suppress(ValueError):  # a damaged line
            yield json.loads(line)
