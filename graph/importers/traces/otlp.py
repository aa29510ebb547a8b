"""Traces of OpenTelemetry: OTLP as JSON and protobuf, and what the Python SDK prints.

Two conventions are understood: OpenInference (`openinference.span.kind`, `input.value`, …) and
those of OpenTelemetry for generative AI (`gen_ai.*`, as attributes and as events), with what
OpenLLMetry and Logfire write besides. Events may be log records (`logs`) in the same file.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces import joined, logs, unread, vendors
from veritrail_graph.graph.importers.traces.attributes import call_of, kind_of_span
from veritrail_graph.graph.importers.traces.calls import FoundTrace, Trace
from veritrail_graph.graph.importers.traces.joined import NO_TRACE, UnreadSpan
from veritrail_graph.graph.importers.traces.process import TRACE_OPTIONS, process_of, processes_of
from veritrail_graph.graph.importers.traces.values import (
    listed_attributes,
    nanoseconds,
    status_of,
    typed,
)
from veritrail_graph.graph.importers.traces.wire import NotProtobuf, messages_of_spans

NAME = "otlp"
_SESSION = ("session.id", "gen_ai.conversation.id", "langfuse.session.id")
"""Attributes that name the conversation: of OpenInference, OpenTelemetry, Langfuse."""
_SPANS = (
    ("resourceSpans", "resource_spans"),
    ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"),
    ("spans",),
)
_LOGS = (("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs"),
         ("logRecords", "log_records"))  # fmt: skip
_RECORD_IDS = ("traceId", "trace_id"), ("spanId", "span_id")
_PRINTED_RECORD = ("body", "severity_number")
_TRACE_ID = ("traceId", "trace_id")
_LONGEST_TIME = 20
"""Digits of a time in nanoseconds."""
_PROTOBUF = (".pb", ".binpb", ".protobuf")
_LARGEST = 1_000_000_000
"""Bytes of a file of protobuf, which is in memory as a whole."""

Span = dict[str, Any]
"""A span: trace_id, span_id, parent_id, name, start, end, attributes, events; or a log record."""


class OtlpImporter:
    """Reads traces of OpenTelemetry."""

    name = NAME
    description = "OpenTelemetry traces: OTLP JSON or protobuf; OpenInference and GenAI conventions"
    extra = None
    options = TRACE_OPTIONS

    def detect(self, path: Path) -> str | None:
        """By `resourceSpans`, the keys of a span of the SDK, or the ending of protobuf."""
        if path.is_file() and _is_protobuf(path):
            return None
        value = vendors.as_request(vendors.entries(files.first_record(path))[0])
        if _is_request(value) or _is_printed_record(value):
            return None
        found = vendors.one_span(value) is not None
        if not found and isinstance(value, dict) and "context.trace_id" in value:
            return (
                "rows of a data frame of Phoenix without the column context.span_id, which is "
                "their index: write reset_index().to_json(FILE, orient='records', lines=True)"
            )
        return None if found else "no resourceSpans and no spans of an SDK, Phoenix or Logfire"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a trace."""
        return processes_of(self.traces(path), NAME, options)

    def together(self, paths: Sequence[Path], options: ImportOptions) -> Iterator[Found]:
        """One a trace; what several files hold of one trace is joined."""
        return processes_of(joined.traces(paths, _reading()), NAME, options)

    def traces(self, path: Path) -> Iterator[FoundTrace]:
        """The traces, in the order of their first spans.

        A span that cannot be read is left out of its trace, which names it in a warning. So are
        log records that note nothing of a model, in the first trace.
        """
        return joined.traces([path], _reading())


def _items(path: Path) -> Iterator[tuple[str, Span | InputError]]:
    """Yield the spans and log records of a file, or why they cannot be read, with their places."""
    is_protobuf = _is_protobuf(path)
    documents: Iterable[tuple[int, Any]] = [(1, None)] if is_protobuf else files.values(path)
    for number, value in documents:
        where = f"{path}#{number}"
        try:
            if isinstance(value, files.NoValue):
                yield where, UnreadSpan(str(value))
                continue
            if isinstance(value, InputError):
                raise value
            found = each_of_protobuf(_bytes(path), str(path)) if is_protobuf else None
            for span in spans_of(value, where) if found is None else found:
                yield where, span
        except InputError as error:
            yield where, error


def _is_protobuf(path: Path) -> bool:
    return files.suffix_of(path) in _PROTOBUF and not files.begins_as_json(path)


def _bytes(path: Path) -> bytes:
    from veritrail_graph.graph.importers.process_file.reading import open_bytes

    with open_bytes(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise InputError(f"{path} is larger than {_LARGEST:,} bytes; write it in several files")
    return data


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(files.first_of(value, names[0]), list) for names in (_SPANS, _LOGS)
    )


def _is_printed_record(value: Any) -> bool:
    """Return whether a value is a log record as the Python SDK prints it."""
    return isinstance(value, dict) and all(name in value for name in _PRINTED_RECORD)


def each_of_protobuf(data: bytes, where: str) -> Iterator[Span | UnreadSpan]:
    """Yield what an export request in protobuf holds, spans or log records, as its JSON says it.

    Raises:
        InputError: The bytes are no such request, or hold too many values.
    """
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as Message

    def messages() -> Iterator[tuple[Any, bool]]:
        for packed, is_record in messages_of_spans(data):
            form = LogRecord if is_record else Message
            yield MessageToDict(form.FromString(packed)), is_record

    try:
        yield from _each_read(messages(), where)
    except (DecodeError, NotProtobuf):
        raise InputError(f"{where} holds no OTLP export request in protobuf") from None


def spans_of(value: Any, where: str) -> Iterator[Span | UnreadSpan]:
    """The spans of an export request, of a page of an API, or the one that the SDK printed.

    Raises:
        InputError: It is none of these.
    """
    value = vendors.as_request(value)
    if _is_request(value):
        yield from each_span(value, where)
        return
    spans = vendors.entries(value)
    for number, one in enumerate(spans, start=1):
        place = where if len(spans) == 1 else f"{where}, span {number}"
        if _is_printed_record(one):
            yield from _each_read([(one, True)], place)
            continue
        span = vendors.one_span(one)
        if span is None:
            raise InputError(f"{where}: neither resourceSpans nor a span of an SDK")
        try:
            yield _of_sdk(span, f"{place} ({shown(str(span.get('name')))})")
        except InputError as error:
            yield UnreadSpan(str(error), _hex(span["context"].get("trace_id")))


def _of_sdk(span: Mapping[str, Any], where: str) -> Span:
    context, attributes = span["context"], span.get("attributes") or {}
    if not isinstance(attributes, dict):
        raise InputError(f"{where}: `attributes` must be an object")
    if not context.get("trace_id") or not context.get("span_id"):
        raise InputError(f"{where}: a span needs a trace_id and a span_id")
    start = nanoseconds(span.get("start_time"), f"{where}, start_time")
    ended = span.get("end_time")
    events = span.get("events")
    return {
        "trace_id": _hex(context.get("trace_id")),
        "span_id": _hex(context.get("span_id")),
        "parent_id": _hex(span.get("parent_id")) or None,
        "name": str(span.get("name")),
        "start": start,
        "end": nanoseconds(ended, f"{where}, end_time") if ended else start,
        "attributes": dict(attributes),
        "status": status_of({**attributes, **span}),
        "events": [
            {
                "name": files.first_of(one, ("name", "event_name", "eventName", "event.name")),
                "attributes": _of_event(one.get("attributes")),
                "body": one.get("body"),
            }
            for one in (events if isinstance(events, list) else ())
            if isinstance(one, dict)
        ],
    }


def _of_event(given: Any) -> dict[str, Any]:
    """The attributes of an event, as an object or as OTLP lists them; none where they are bad."""
    if isinstance(given, dict):
        return given
    try:
        return listed_attributes(given or (), "")
    except InputError:
        return {}


def each_span(value: Any, where: str) -> Iterator[Span | UnreadSpan]:
    """The spans and log records of an export request, one by one; for a bad one, why.

    A request without spans, `resourceSpans` left out or empty, holds none.

    Raises:
        InputError: It is no such request.
    """
    known = {*_SPANS[0], *_LOGS[0]}
    if isinstance(value, dict) and value and known.isdisjoint(value):
        odd = ", ".join(shown(str(name)) for name in list(value)[:3])
        raise InputError(
            f"{where} is no OTLP export request: it holds {odd}, and neither `{_SPANS[0][0]}` nor "
            f"`{_LOGS[0][0]}`"
        )
    for names in (_SPANS, _LOGS):
        held = files.first_of(value, names[0]) if isinstance(value, dict) else 0
        if held is not None and not isinstance(held, list):
            raise InputError(f"{where} is no OTLP export request: `{names[0][0]}` is no list")
        yield from _each_read(
            ((one, names is _LOGS) for one in _inner(held or [], names[1:], where)), where
        )


def _each_read(spans: Iterable[tuple[Any, bool]], where: str) -> Iterator[Span | UnreadSpan]:
    for number, (one, is_record) in enumerate(spans, start=1):
        name = one.get("name") if isinstance(one, dict) else None
        what = "log record" if is_record else "span"
        place = f"{where}, {what} {number}"
        place += f" ({shown(name)})" if isinstance(name, str) else ""
        try:
            yield _record(one, place) if is_record else _span(one, place)
        except InputError as error:
            yield UnreadSpan(str(error), _trace_of(one))
        except (AttributeError, TypeError, KeyError, ValueError, RecursionError):
            yield UnreadSpan(f"{place}: it is not as OTLP writes it", _trace_of(one))


def _trace_of(span: Any) -> str:
    """The trace of a span that cannot be read."""
    try:
        return _id(files.first_of(span, _TRACE_ID), 32, "", required=False) or NO_TRACE
    except (InputError, AttributeError):
        return NO_TRACE


def _inner(held: list[Any], path: Sequence[Sequence[str]], where: str) -> Iterator[Any]:
    """Yield what lists within lists hold, below names one under the other."""
    if not path:
        yield from held
        return
    for one in held:
        found = files.first_of(one, path[0]) if isinstance(one, dict) else 0
        if found is not None and not isinstance(found, list):
            raise InputError(
                f"{where}: the spans are not as OTLP writes them: `{path[0][0]}` must be a list, "
                "in an object"
            )
        odd = [name for name, inner in one.items() if isinstance(inner, list) and inner]
        if found is None and odd:
            raise InputError(
                f"{where}: {shown(odd[0])} is no field of OTLP that holds spans; it is "
                f"`{path[0][0]}`"
            )
        yield from _inner(found or [], path[1:], where)


def _record(record: Any, where: str) -> logs.Record:
    """A log record of an export request, or as the SDK prints it."""
    if not isinstance(record, dict):
        raise InputError(f"{where}: it is no object")
    trace_id, span_id = (
        _id(_unprefixed(files.first_of(record, names)), length, where, required=False)
        for names, length in zip(_RECORD_IDS, (32, 16), strict=True)
    )
    given, body = record.get("attributes") or (), record.get("body")
    about = given if isinstance(given, dict) else listed_attributes(given, where)
    if isinstance(body, dict) and "severity_number" not in record:
        body = typed(body)
    printed = files.first_of(record, ("timestamp", "observed_timestamp"))
    time = nanoseconds(printed, f"{where}, timestamp") if printed else 0
    names = ("timeUnixNano", "observedTimeUnixNano")
    time = next((at for one in names if (at := _nanoseconds(record, one, where))), time)
    ids = ("" if not int(one or "0", 16) else one or "" for one in (trace_id, span_id))
    return logs.record_of(record, about, body, (next(ids), next(ids)), time)


def _unprefixed(value: Any) -> Any:
    return value.removeprefix("0x") if isinstance(value, str) else value


def _span(span: Any, where: str) -> Span:
    if not isinstance(span, dict):
        raise InputError(f"{where}: it is no object")
    events = span.get("events") or ()
    if not isinstance(events, (list, tuple)):
        raise InputError(f"{where}: `events` must be a list")
    start = _nanoseconds(span, "startTimeUnixNano", where)
    parent = files.first_of(span, ("parentSpanId", "parent_span_id"))
    return {
        "trace_id": _id(files.first_of(span, _TRACE_ID), 32, where),
        "span_id": _id(files.first_of(span, ("spanId", "span_id")), 16, where),
        "parent_id": _id(parent, 16, where, required=False),
        "name": str(span.get("name", "span")),
        "start": start,
        "end": _nanoseconds(span, "endTimeUnixNano", where) or start,
        "attributes": listed_attributes(span.get("attributes") or (), where),
        "status": status_of(span),
        "events": [_event(one, where) for one in events],
    }


def _nanoseconds(span: Mapping[str, Any], name: str, where: str) -> int:
    """A time of OTLP; 0: none is given."""
    snake = re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", name)
    given = files.first_of(span, (name, snake))
    digits = str(given) if isinstance(given, (int, str)) and given is not True else ""
    if given in (None, ""):
        return 0
    if len(digits) > _LONGEST_TIME or not (digits.isascii() and digits.isdigit()):
        said = shown(str(given))
        raise InputError(f"{where}: {name} is {said}; it must be nanoseconds since 1970, as digits")
    return int(digits)


def _event(one: Any, where: str) -> dict[str, Any]:
    if not isinstance(one, dict):
        raise InputError(f"{where}: an event is no object")
    about = listed_attributes(one.get("attributes") or (), where)
    return {"name": one.get("name"), "attributes": about, "body": one.get("body")}


def _id(value: Any, length: int, where: str, *, required: bool = True) -> str | None:
    """An id in hexadecimal: JSON holds it so, or in base64 where protobuf's own writer wrote it."""
    if not value:
        if required:
            raise InputError(f"{where}: a span needs a traceId and a spanId")
        return None
    if not isinstance(value, str):
        raise InputError(f"{where}: an id must be a text, and is {shown(str(value))}")
    if len(value) != length:
        try:
            value = base64.b64decode(value, validate=True).hex()
        except (binascii.Error, ValueError):
            raise InputError(f"{where}: {str(value)[:60]!r} is no id of a span or trace") from None
    return str(value).lower()


def _hex(value: Any) -> str:
    return str(value or "").removeprefix("0x").lower()


def trace_process(
    trace_id: str, spans: list[Span], options: ImportOptions, warnings: Sequence[str] = ()
) -> Draft:
    """The process of one trace, with what could not be read of it."""
    return process_of(_trace(trace_id, spans, warnings), NAME, options)


def _reading() -> joined.TraceReading:
    return joined.TraceReading(_items, _trace)


def _trace(trace_id: str | None, spans: Sequence[Span], warnings: Sequence[str]) -> Trace:
    spans = logs.with_events(spans, kind_of_span)
    sessions = (files.first_of(one["attributes"], _SESSION) for one in spans)
    session = next((one for one in sessions if isinstance(one, str) and one), None)
    calls, apart = [], []
    for span in spans:
        call, texts = call_of(span)
        calls.append(call)
        apart += texts
    lost = unread.names(apart, calls)
    if not lost and not any(call.made for call in calls):  # of all that it may be in
        found = (name for span in spans for name in unread.hidden(span["attributes"]))
        lost = tuple(dict.fromkeys(found))
    return Trace(calls, trace_id, warnings=list(warnings), session=session, unread=lost)
