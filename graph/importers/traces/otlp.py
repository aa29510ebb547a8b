"""Traces of OpenTelemetry: OTLP as JSON and protobuf, and spans as the Python SDK prints them.

Two conventions are understood: OpenInference (`openinference.span.kind`, `input.value`, …) and
those of OpenTelemetry for generative AI (`gen_ai.*`, as attributes and as events), with what
OpenLLMetry and Logfire write besides.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces import vendors
from veritrail_graph.graph.importers.traces.calls import (
    Call,
    CallKind,
    FoundTrace,
    Trace,
    writing_model,
)
from veritrail_graph.graph.importers.traces.process import TRACE_OPTIONS, process_of, processes_of
from veritrail_graph.graph.importers.traces.reading import left_out, nothing_left
from veritrail_graph.graph.importers.traces.texts import unfold
from veritrail_graph.graph.importers.traces.values import from_dotted, nanoseconds, text_or_none
from veritrail_graph.graph.importers.traces.wire import NotProtobuf, span_messages

NAME = "otlp"
_KINDS = {
    "LLM": CallKind.GENERATION,
    "CHAT_MODEL": CallKind.GENERATION,
    "GENERATION": CallKind.GENERATION,
    "AGENT": CallKind.AGENT,
    "TOOL": CallKind.TOOL,
    "RETRIEVER": CallKind.RETRIEVER,
    "RERANKER": CallKind.RETRIEVER,
}
_OPERATIONS = {
    "chat": CallKind.GENERATION,
    "text_completion": CallKind.GENERATION,
    "completion": CallKind.GENERATION,
    "generate_content": CallKind.GENERATION,
    "execute_tool": CallKind.TOOL,
    "tool": CallKind.TOOL,
    "retrieval": CallKind.RETRIEVER,
    "invoke_agent": CallKind.AGENT,
    "call_llm": CallKind.GENERATION,
    "llm_call": CallKind.GENERATION,
}
_SESSION = ("session.id", "gen_ai.conversation.id", "langfuse.session.id")
"""Attributes that name the conversation: of OpenInference, OpenTelemetry, Langfuse."""
_REQUEST = ("resourceSpans", "resource_spans")
_TRACE_ID = ("traceId", "trace_id")
_VALUES = {
    "array_value": "arrayValue", "kvlist_value": "kvlistValue", "int_value": "intValue",
}  # fmt: skip
"""Types of values as protobuf's writer names them where it keeps the names of fields."""
_LONGEST_TIME = 20
"""Digits of a time in nanoseconds."""
_PROTOBUF = (".pb", ".binpb", ".protobuf")
_LARGEST = 1_000_000_000
"""Bytes of a file of protobuf, which is in memory as a whole."""

Span = dict[str, Any]
"""A span: trace_id, span_id, parent_id, name, start, end, attributes, events."""


class OtlpImporter:
    """Reads traces of OpenTelemetry."""

    name = NAME
    description = "OpenTelemetry traces: OTLP JSON or protobuf; OpenInference and GenAI conventions"
    extra = None
    options = TRACE_OPTIONS

    def detect(self, path: Path) -> str | None:
        """By `resourceSpans`, the keys of a span of the SDK, or the ending of protobuf."""
        if path.is_file() and files.suffix_of(path) in _PROTOBUF:
            return None
        value = vendors.as_request(vendors.entries(files.first_record(path))[0])
        if isinstance(value, dict) and _resources(value) is not None:
            return None
        found = vendors.one_span(value) is not None
        return None if found else "no resourceSpans and no spans of an SDK, Phoenix or Logfire"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a trace."""
        return processes_of(self.traces(path), NAME, options)

    def traces(self, path: Path) -> Iterator[FoundTrace]:
        """The traces, in the order of their first spans.

        A span that cannot be read is left out of its trace, which names it in a warning.
        """
        traces: dict[str, list[Span]] = {}
        faults: dict[str, list[InputError]] = {}
        is_protobuf = files.suffix_of(path) in _PROTOBUF
        documents: Iterable[tuple[int, Any]] = [(1, None)] if is_protobuf else files.values(path)
        for number, value in documents:
            where = f"{path}#{number}"
            try:
                if isinstance(value, InputError):
                    raise value
                found = each_of_protobuf(_bytes(path), str(path)) if is_protobuf else None
                for span in spans_of(value, where) if found is None else found:
                    if isinstance(span, UnreadSpan):
                        faults.setdefault(span.trace_id, []).append(span)
                    else:
                        traces.setdefault(span["trace_id"], []).append(span)
            except InputError as error:
                yield FoundTrace.failing(where, error)
        # A span whose trace is not known is told of with the first trace.
        if traces and NO_TRACE in faults:
            lost = faults.pop(NO_TRACE)
            faults.setdefault(next(iter(traces)), []).extend(lost)
        for trace_id, spans in traces.items():
            warnings = left_out(faults.get(trace_id, ()))
            yield FoundTrace(f"{path}#{trace_id}", partial(_trace, trace_id, spans, warnings))
        for trace_id, wrong in faults.items():
            if trace_id not in traces:
                where = f"{path}#{trace_id}" if trace_id != NO_TRACE else str(path)
                yield FoundTrace.failing(where, nothing_left(wrong, where))


def _bytes(path: Path) -> bytes:
    from veritrail_graph.graph.importers.process_file.reading import open_bytes

    with open_bytes(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise InputError(f"{path} is larger than {_LARGEST:,} bytes; write it in several files")
    return data


def _resources(value: Mapping[str, Any]) -> list[Any] | None:
    found = files.first_of(value, _REQUEST)
    return found if isinstance(found, list) else None


def each_of_protobuf(data: bytes, where: str) -> Iterator[Span | UnreadSpan]:
    """Yield the spans of an export request in protobuf, each as its JSON would say.

    Raises:
        InputError: The bytes are no such request, or hold too many values.
    """
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as Message

    def messages() -> Iterator[Any]:
        for packed in span_messages(data):
            yield MessageToDict(Message.FromString(packed))

    try:
        yield from _each_read(messages(), where)
    except (DecodeError, NotProtobuf):
        raise InputError(f"{where} holds no OTLP export request in protobuf") from None


NO_TRACE = ""


class UnreadSpan(InputError):
    """The reason why a span cannot be read; the others of its trace can.

    Args:
        message: What is wrong.
        trace_id: Its trace, as far as it says so; else `NO_TRACE`.
    """

    def __init__(self, message: str, trace_id: str = NO_TRACE) -> None:
        super().__init__(message)
        self.trace_id = trace_id


def spans_of(value: Any, where: str) -> Iterator[Span | UnreadSpan]:
    """The spans of an export request, of a page of an API, or the one that the SDK printed.

    Raises:
        InputError: It is none of these.
    """
    value = vendors.as_request(value)
    if isinstance(value, dict) and _resources(value) is not None:
        yield from each_span(value, where)
        return
    spans = vendors.entries(value)
    for number, one in enumerate(spans, start=1):
        span = vendors.one_span(one)
        if span is None:
            raise InputError(f"{where}: neither resourceSpans nor a span of an SDK")
        place = where if len(spans) == 1 else f"{where}, span {number}"
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
        "events": [
            {"name": one.get("name"), "attributes": about if isinstance(about, dict) else {}}
            for one in (events if isinstance(events, list) else ())
            if isinstance(one, dict)
            for about in [one.get("attributes")]
        ],
    }


def each_span(value: Any, where: str) -> Iterator[Span | UnreadSpan]:
    """The spans of an export request, one by one; for one that cannot be read, why.

    A request without spans, `resourceSpans` left out or empty, holds none.

    Raises:
        InputError: It is no such request.
    """
    resources = (_resources(value) or []) if isinstance(value, dict) else None
    if resources is None or not isinstance(files.first_of(value, _REQUEST) or [], list):
        raise InputError(f"{where} is no OTLP export request: `resourceSpans` is no list")
    yield from _each_read(_raw_spans(resources, where), where)


def _each_read(spans: Iterable[Any], where: str) -> Iterator[Span | UnreadSpan]:
    for number, one in enumerate(spans, start=1):
        name = one.get("name") if isinstance(one, dict) else None
        place = f"{where}, span {number}" + (f" ({shown(name)})" if isinstance(name, str) else "")
        try:
            yield _span(one, place)
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


def _raw_spans(resources: list[Any], where: str) -> Iterator[Any]:
    def inner(one: Any, *names: str) -> list[Any]:
        found = files.first_of(one, names) if isinstance(one, dict) else 0
        if found is not None and not isinstance(found, list):
            raise InputError(
                f"{where}: the spans are not as OTLP writes them: `{names[0]}` must be a list, in "
                "an object"
            )
        return found or []

    for resource in resources:
        for scope in inner(resource, "scopeSpans", "scope_spans"):
            yield from inner(scope, "spans")


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
        "attributes": _attributes(span.get("attributes") or (), where),
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
    return {"name": one.get("name"), "attributes": _attributes(one.get("attributes") or (), where)}


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


def _attributes(given: Any, where: str) -> dict[str, Any]:
    listed = isinstance(given, (list, tuple))
    if not listed or not all(isinstance(one, dict) and "key" in one for one in given):
        raise InputError(f"{where}: `attributes` must be a list of objects with `key` and `value`")
    return {str(one["key"]): _any(one.get("value")) for one in given}


def _any(value: Any) -> Any:
    """A value of OTLP, which says its type."""
    if not isinstance(value, dict) or not value:
        return value or None
    ((kind, inner),) = list(value.items())[:1]
    kind = _VALUES.get(kind, kind)
    if kind == "arrayValue":
        return [_any(one) for one in inner.get("values", ())]
    if kind == "kvlistValue":
        return {one["key"]: _any(one.get("value")) for one in inner.get("values", ())}
    return int(inner) if kind == "intValue" else inner


def trace_process(
    trace_id: str, spans: list[Span], options: ImportOptions, warnings: Sequence[str] = ()
) -> Draft:
    """The process of one trace, with what could not be read of it."""
    return process_of(_trace(trace_id, spans, warnings), NAME, options)


def _trace(trace_id: str, spans: Sequence[Span], warnings: Sequence[str]) -> Trace:
    sessions = (files.first_of(one["attributes"], _SESSION) for one in spans)
    session = next((one for one in sessions if isinstance(one, str) and one), None)
    calls = [_call(one) for one in spans]
    return Trace(calls, trace_id, warnings=list(warnings), session=session)


def _call(span: Span) -> Call:
    own = span["attributes"]
    flat = {**own, **_of_events([*vendors.noted(own), *span["events"]])}
    attributes = from_dotted(flat)
    kind = _kind(flat)
    given, made = _texts(flat, attributes, kind)
    names = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model", "ai.model.id")
    model = next((flat[name] for name in names if flat.get(name)), None)
    model = vendors.endpoint_of(flat) if model is None else model
    done = (vendors.kind_of(flat), flat.get("gen_ai.operation.name"), flat.get("llm.request.type"))
    return Call(
        span["span_id"], span["name"], kind, span["parent_id"], span["start"], span["end"],
        given, made, writing_model(model, *done, span["name"]), link=_link(flat, kind),
    )  # fmt: skip


def _link(flat: Mapping[str, Any], kind: CallKind) -> str | None:
    """The id of the tool call that the span of a tool answers."""
    if kind is not CallKind.TOOL:
        return None
    return text_or_none(_first(flat, "gen_ai.tool.call.id", "tool.id", "tool_call.id"))


def _kind(flat: Mapping[str, Any]) -> CallKind:
    kind = vendors.kind_of(flat)
    if kind in _KINDS:
        return _KINDS[kind]
    vercel = vendors.operation_of_vercel(flat)
    if vercel is not None:
        return CallKind.TOOL if vercel == "ai.toolCall" else CallKind.GENERATION
    if not kind and vendors.is_model_call(flat):
        return CallKind.GENERATION
    operation = str(flat.get("gen_ai.operation.name") or flat.get("llm.request.type") or "")
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    if not kind and any(name.startswith(("gen_ai.completion", "gen_ai.output")) for name in flat):
        return CallKind.GENERATION
    return CallKind.OTHER


def _texts(flat: Mapping[str, Any], tree: Mapping[str, Any], kind: CallKind) -> tuple[Any, Any]:
    """Return what a span was given and what it gave, in the form that holds most of it."""
    llm, gen_ai = _part(tree, "llm"), _part(tree, "gen_ai")
    given, made = vendors.of_vercel(flat) or (None, None)
    if given is not None or made is not None:
        return given, made
    if kind in (CallKind.GENERATION, CallKind.AGENT):
        given = _messages(llm.get("input_messages")) or _messages(gen_ai.get("prompt"))
        given = given or _json(flat.get("gen_ai.input.messages"))
        made = _messages(llm.get("output_messages")) or _messages(gen_ai.get("completion"))
        made = made or _json(flat.get("gen_ai.output.messages"))
    elif kind is CallKind.RETRIEVER:
        documents = _part(tree, "retrieval").get("documents")
        documents = documents or _part(tree, "reranker").get("output_documents")
        if isinstance(documents, list):
            made = [one.get("document", one) for one in documents if isinstance(one, dict)]
    elif kind is CallKind.TOOL:
        given = flat.get("gen_ai.tool.call.arguments")
        given = given or _content(flat.get("gen_ai.input.messages"))
        made = flat.get("gen_ai.tool.call.result")
        made = made or _content(flat.get("gen_ai.output.messages"))
    if given is None:
        given = _first(flat, *vendors.GIVEN)
    if made is None:
        made = _first(flat, *vendors.MADE)
    return given, made


def _content(messages: Any) -> Any:
    """Return what a tool was given or gave, where events note it as a message: nobody said it."""
    listed = _json(messages)
    only = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
    is_told = isinstance(only, dict) and only.get("role") in ("assistant", "tool", "user")
    return only.get("content", only.get("parts")) if is_told and only is not None else None


def _part(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = tree.get(name)
    return part if isinstance(part, dict) else {}


def _first(flat: Mapping[str, Any], *names: str) -> Any:
    name = next((name for name in names if flat.get(name) not in (None, "")), None)
    found = None if name is None else flat[name]
    return _json_or(found) if name is not None and name.startswith("mlflow.") else found


def _json(value: Any) -> Any:
    return unfold(value) if isinstance(value, str) else value


def _messages(value: Any) -> list[Any] | None:
    """Messages of attributes: OpenInference has each under `message`."""
    if not isinstance(value, list):
        return None
    found = []
    for one in value:
        message = one.get("message", one) if isinstance(one, dict) else {"content": one}
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            message = {**message, "tool_calls": [_tool_call(call) for call in calls]}
        parts = message.get("contents")
        if isinstance(parts, list) and "content" not in message:
            inner = [part.get("message_content", part) for part in parts if isinstance(part, dict)]
            message = {**message, "content": inner}
        found.append({"role": "assistant", "content": "", **message})
    return found


def _tool_call(call: Any) -> Any:
    return call.get("tool_call", call) if isinstance(call, dict) else call


def _of_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what GenAI events hold, as the attributes that others use in their place."""
    given, made = [], []
    for event in events:
        name, about = str(event.get("name")), event["attributes"]
        if name == "gen_ai.content.prompt":
            given += _listed(_json(about.get("gen_ai.prompt")))
        elif name == "gen_ai.content.completion":
            made += _listed(_json(about.get("gen_ai.completion")))
        elif name in ("gen_ai.choice", "gen_ai.assistant.message") and name.endswith("choice"):
            made.append(_said(about, "assistant"))
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            given.append(_said(about, name.split(".")[1]))
        elif name == "gen_ai.client.inference.operation.details":
            given += _listed(_json(about.get("gen_ai.input.messages")))
            made += _listed(_json(about.get("gen_ai.output.messages")))
    found = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps(made)}
    return {key: value for key, value in found.items() if value != "[]"}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _said(about: Mapping[str, Any], role: str) -> dict[str, Any]:
    """A message of an event; where a list of parts or a text is the message, it is the content."""
    message = _json_or(about.get("message"))
    if isinstance(message, (list, str)) and message:
        about, message = {**about, "content": message}, None
    inner = message if isinstance(message, dict) else about
    known = {key: _json_or(inner.get(key)) for key in ("content", "tool_calls") if inner.get(key)}
    link = inner.get("id") if role == "tool" else None
    return {"role": role, "content": "", **known, **({"tool_call_id": link} if link else {})}


def _json_or(value: Any) -> Any:
    unfolded = _json(value)
    return value if unfolded is None else unfolded
