"""Traces of OpenTelemetry: OTLP as JSON and protobuf, and spans as the Python SDK prints them.

Two conventions are understood: OpenInference (`openinference.span.kind`, `input.value`, …) and
those of OpenTelemetry for generative AI (`gen_ai.*`, as attributes and as events), with what
OpenLLMetry and Logfire write besides.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, Trace
from veritrail_graph.graph.importers.traces.process import TRACE_OPTIONS, process_of
from veritrail_graph.graph.importers.traces.texts import unfold
from veritrail_graph.graph.importers.traces.values import from_dotted, nanoseconds, text_or_none

NAME = "otlp"
_KINDS = {
    "LLM": CallKind.GENERATION,
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
}
_PROTOBUF = (".pb", ".binpb", ".protobuf")

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
        value = files.first_record(path)
        if isinstance(value, dict) and (_resources(value) is not None or _is_sdk(value)):
            return None
        return "no resourceSpans and no spans of an SDK"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a trace, in the order of their first spans."""
        traces: dict[str, list[Span]] = {}
        if files.suffix_of(path) in _PROTOBUF:
            documents: Iterable[tuple[int, Any]] = [(1, from_protobuf(_bytes(path), str(path)))]
        else:
            documents = files.values(path)
        for number, value in documents:
            where = f"{path}#{number}"
            try:
                if isinstance(value, InputError):
                    raise value
                for span in spans_of(value, where):
                    traces.setdefault(span["trace_id"], []).append(span)
            except InputError as error:
                yield Found.failing(where, error)
        for trace_id, spans in traces.items():
            yield Found(f"{path}#{trace_id}", partial(trace_process, trace_id, spans, options))


def _bytes(path: Path) -> bytes:
    from veritrail_graph.graph.importers.process_file.reading import open_bytes

    with open_bytes(path) as file:
        return file.read()


def _resources(value: Mapping[str, Any]) -> list[Any] | None:
    found = value.get("resourceSpans", value.get("resource_spans"))
    return found if isinstance(found, list) else None


def _is_sdk(value: Mapping[str, Any]) -> bool:
    context = value.get("context")
    return isinstance(context, dict) and "span_id" in context and "attributes" in value


def from_protobuf(data: bytes, where: str) -> Any:
    """An export request as its JSON.

    Raises:
        InputError: The bytes are no such request.
    """
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(data)
    except DecodeError:
        raise InputError(f"{where} holds no OTLP export request in protobuf") from None
    return MessageToDict(request)


def spans_of(value: Any, where: str) -> Iterator[Span]:
    """The spans of an export request, or the one that the SDK printed.

    Raises:
        InputError: It is neither.
    """
    resources = _resources(value) if isinstance(value, dict) else None
    if resources is not None:
        try:
            yield from _of_request(resources, where)
        except (AttributeError, TypeError, KeyError, ValueError) as error:
            raise InputError(f"{where}: the spans are not as OTLP writes them ({error})") from None
        return
    if not isinstance(value, dict) or not _is_sdk(value):
        raise InputError(f"{where}: neither resourceSpans nor a span of an SDK")
    context = value["context"]
    yield {
        "trace_id": _hex(context.get("trace_id")),
        "span_id": _hex(context.get("span_id")),
        "parent_id": _hex(value.get("parent_id")) or None,
        "name": str(value.get("name")),
        "start": nanoseconds(value.get("start_time"), where),
        "end": nanoseconds(value.get("end_time") or value.get("start_time"), where),
        "attributes": dict(value.get("attributes") or {}),
        "events": [
            {"name": one.get("name"), "attributes": dict(one.get("attributes") or {})}
            for one in value.get("events") or ()
            if isinstance(one, dict)
        ],
    }


def each_span(value: Any, where: str) -> Iterator[Span | InputError]:
    """The spans of an export request, one by one; for one that cannot be read, why.

    A request without `resourceSpans` holds none.

    Raises:
        InputError: It is no such request.
    """
    resources = value.get("resourceSpans") or [] if isinstance(value, dict) else None
    if not isinstance(resources, list):
        raise InputError(f"{where} is no OTLP export request: `resourceSpans` is no list")
    try:
        for one in _raw_spans(resources):
            try:
                found: Span | InputError = _span(one, where)
            except InputError as error:
                found = error
            except (AttributeError, TypeError, KeyError, ValueError, RecursionError):
                found = InputError(f"{where}: a span is not as OTLP writes it")
            yield found
    except (AttributeError, TypeError) as error:
        raise InputError(f"{where}: the spans are not as OTLP writes them ({error})") from None


def _raw_spans(resources: list[Any]) -> Iterator[Any]:
    for resource in resources:
        for scope in resource.get("scopeSpans", resource.get("scope_spans")) or ():
            yield from scope.get("spans") or ()


def _of_request(resources: list[Any], where: str) -> Iterator[Span]:
    for span in _raw_spans(resources):
        yield _span(span, where)


def _span(span: Mapping[str, Any], where: str) -> Span:
    start = int(span.get("startTimeUnixNano") or 0)
    return {
        "trace_id": _id(span.get("traceId"), 32, where),
        "span_id": _id(span.get("spanId"), 16, where),
        "parent_id": _id(span.get("parentSpanId"), 16, where, required=False),
        "name": str(span.get("name", "span")),
        "start": start,
        "end": int(span.get("endTimeUnixNano") or 0) or start,
        "attributes": _attributes(span.get("attributes") or ()),
        "events": [_event(one) for one in span.get("events") or ()],
    }


def _event(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": one.get("name"), "attributes": _attributes(one.get("attributes") or ())}


def _id(value: Any, length: int, where: str, *, required: bool = True) -> str | None:
    """An id in hexadecimal: JSON holds it so, or in base64 where protobuf's own writer wrote it."""
    if not value:
        if required:
            raise InputError(f"{where}: a span has no traceId or spanId")
        return None
    if len(value) != length:
        try:
            value = base64.b64decode(value, validate=True).hex()
        except (binascii.Error, ValueError):
            raise InputError(f"{where}: {str(value)[:60]!r} is no id of a span or trace") from None
    return str(value).lower()


def _hex(value: Any) -> str:
    return str(value or "").removeprefix("0x").lower()


def _attributes(given: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {str(one["key"]): _any(one.get("value")) for one in given}


def _any(value: Any) -> Any:
    """A value of OTLP, which says its type."""
    if not isinstance(value, dict) or not value:
        return value or None
    ((kind, inner),) = list(value.items())[:1]
    if kind == "arrayValue":
        return [_any(one) for one in inner.get("values", ())]
    if kind == "kvlistValue":
        return {one["key"]: _any(one.get("value")) for one in inner.get("values", ())}
    return int(inner) if kind == "intValue" else inner


def trace_process(trace_id: str, spans: list[Span], options: ImportOptions) -> Draft:
    """The process of one trace."""
    return process_of(Trace([_call(one) for one in spans], trace_id), NAME, options)


def _call(span: Span) -> Call:
    flat = {**span["attributes"], **_of_events(span["events"])}
    attributes = from_dotted(flat)
    kind = _kind(flat)
    given, made = _texts(flat, attributes, kind)
    names = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
    model = next((flat[name] for name in names if flat.get(name)), None)
    return Call(
        span["span_id"], span["name"], kind, span["parent_id"], span["start"], span["end"],
        given, made, text_or_none(model), link=_link(flat, kind),
    )  # fmt: skip


def _link(flat: Mapping[str, Any], kind: CallKind) -> str | None:
    """The id of the tool call that the span of a tool answers."""
    if kind is not CallKind.TOOL:
        return None
    return text_or_none(_first(flat, "gen_ai.tool.call.id", "tool.id", "tool_call.id"))


def _kind(flat: Mapping[str, Any]) -> CallKind:
    kind = str(flat.get("openinference.span.kind") or flat.get("traceloop.span.kind") or "").upper()
    if kind in _KINDS:
        return _KINDS[kind]
    operation = str(flat.get("gen_ai.operation.name") or flat.get("llm.request.type") or "")
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    if not kind and any(name.startswith(("gen_ai.completion", "gen_ai.output")) for name in flat):
        return CallKind.GENERATION
    return CallKind.OTHER


def _texts(flat: Mapping[str, Any], tree: Mapping[str, Any], kind: CallKind) -> tuple[Any, Any]:
    """What a span was given and what it gave, in the form that holds most of it."""
    llm, gen_ai = _part(tree, "llm"), _part(tree, "gen_ai")
    given = made = None
    if kind is CallKind.GENERATION:
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
        made = flat.get("gen_ai.tool.call.result")
    if given is None:
        given = _first(flat, "input.value", "traceloop.entity.input", "gen_ai.input", "input")
    if made is None:
        made = _first(flat, "output.value", "traceloop.entity.output", "gen_ai.output", "output")
    return given, made


def _part(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = tree.get(name)
    return part if isinstance(part, dict) else {}


def _first(flat: Mapping[str, Any], *names: str) -> Any:
    return next((flat[name] for name in names if flat.get(name) not in (None, "")), None)


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
    """What events of the GenAI conventions hold, as the attributes that others use instead."""
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
    message = _json(about.get("message"))
    inner = message if isinstance(message, dict) else about
    known = {key: _json_or(inner.get(key)) for key in ("content", "tool_calls") if inner.get(key)}
    link = inner.get("id") if role == "tool" else None
    return {"role": role, "content": "", **known, **({"tool_call_id": link} if link else {})}


def _json_or(value: Any) -> Any:
    unfolded = _json(value)
    return value if unfolded is None else unfolded
