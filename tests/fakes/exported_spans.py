"""Spans as instrumented programs export them; all of it is invented."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from veritrail_graph.graph.importers.traces.received import ExportedSpans, sorted_by_trace

SOURCE = "The lighthouse of Varnholm was lit in 1884. Its lamp is seen for nineteen miles."
ANSWER = "The lighthouse was lit in 1884 and is seen for nineteen miles."
NOTE = "Boats steer by the lighthouse of Varnholm when they come from the north."
_SECOND = 1_000_000_000
_BEGIN = 1_738_573_200 * _SECOND


def span(
    trace_id: str, number: int, parent: int | None, at: int, name: str, **attributes: str
) -> dict[str, Any]:
    """A span that lasts a second; attributes with `__` for dots."""
    start = _BEGIN + at * _SECOND
    found: dict[str, Any] = {
        "traceId": trace_id,
        "spanId": f"{number:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + _SECOND),
        "attributes": [
            {"key": key.replace("__", "."), "value": {"stringValue": value}}
            for key, value in attributes.items()
        ],
    }
    if parent is not None:
        found["parentSpanId"] = f"{parent:016x}"
    return found


def retrieval(trace_id: str, number: int = 2, parent: int | None = 1) -> dict[str, Any]:
    """A step that finds the source text."""
    kind = {"openinference__span__kind": "RETRIEVER", "input__value": "When was it lit?"}
    key = "retrieval__documents__0__document__content"
    return span(trace_id, number, parent, 1, "search", **kind, **{key: SOURCE})


def generation(
    trace_id: str,
    number: int = 3,
    parent: int | None = 1,
    given: str = SOURCE,
    made: str = ANSWER,
    at: int = 3,
) -> dict[str, Any]:
    """A step in which a model writes."""
    return span(
        trace_id, number, parent, at, "write", openinference__span__kind="LLM",
        llm__input_messages__0__message__role="user",
        llm__input_messages__0__message__content=f"Summarise:\n\n{given}",
        llm__output_messages__0__message__role="assistant",
        llm__output_messages__0__message__content=made,
    )  # fmt: skip


def root(trace_id: str, made: str = ANSWER) -> dict[str, Any]:
    """What the others are inside of; it ends last."""
    found = span(
        trace_id, 1, None, 0, "assistant", openinference__span__kind="CHAIN",
        input__value="When was it lit?", output__value=made,
    )  # fmt: skip
    found["endTimeUnixNano"] = str(_BEGIN + 60 * _SECOND)
    return found


def trace(trace_id: str) -> list[dict[str, Any]]:
    """A whole trace, in the order in which its spans end."""
    return [retrieval(trace_id), generation(trace_id), root(trace_id)]


def request(*spans: Any) -> dict[str, Any]:
    """An export request."""
    resource = {"attributes": [{"key": "host.name", "value": {"stringValue": "SECRET-HOST"}}]}
    scope = {"scope": {"name": "invented"}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def exported(*spans: Any) -> ExportedSpans:
    """The same as it is read."""
    return sorted_by_trace(request(*spans))


def as_json(*spans: Any) -> bytes:
    """The same as it is sent."""
    return json.dumps(request(*spans)).encode()


def as_protobuf(*spans: dict[str, Any]) -> bytes:
    """The same in protobuf."""
    made = copy.deepcopy(request(*spans))
    for one in made["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in one:
                one[key] = base64.b64encode(bytes.fromhex(one[key])).decode()
    found: bytes = ParseDict(made, ExportTraceServiceRequest()).SerializeToString()
    return found
