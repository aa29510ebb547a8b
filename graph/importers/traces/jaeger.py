"""Traces of Jaeger, as its page and its API hand them out: `{data: [{traceID, spans}]}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MICROSECOND = 1_000


def spans_of(value: Any) -> list[Any] | None:
    """Return the spans of a document of Jaeger; None: it is none."""
    traces = value.get("data") if isinstance(value, dict) else None
    if not isinstance(traces, list):
        traces = [value]
    spans = [
        span
        for trace in traces
        if isinstance(trace, dict) and "traceID" in trace and isinstance(trace.get("spans"), list)
        for span in trace["spans"]
    ]
    return spans or None


def as_span(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a span as the Python SDK prints it; None: it is none of Jaeger."""
    if "traceID" not in value or "spanID" not in value or "operationName" not in value:
        return None
    start, lasted = _microseconds(value, "startTime"), _microseconds(value, "duration")
    logs = value.get("logs")
    return {
        "context": {"trace_id": _text(value["traceID"]), "span_id": _text(value["spanID"])},
        "parent_id": _parent(value),
        "name": value["operationName"],
        "start_time": start,
        "end_time": None if start is None else start + (lasted or 0),
        "attributes": _tags(value.get("tags")),
        "events": [
            {"name": own.pop("event", own.pop("name", None)), "attributes": own}
            for log in (logs if isinstance(logs, list) else ())
            if isinstance(log, dict)
            for own in [_tags(log.get("fields"))]
        ],
    }


def _parent(value: Mapping[str, Any]) -> Any:
    """Return the span that this one is a child of, within its trace."""
    references = value.get("references")
    for one in references if isinstance(references, list) else ():
        if isinstance(one, dict) and one.get("traceID", value["traceID"]) == value["traceID"]:
            return one.get("spanID")
    return value.get("parentSpanID")


def _microseconds(value: Mapping[str, Any], name: str) -> int | None:
    """Return a time in nanoseconds."""
    given = value.get(name)
    is_time = isinstance(given, (int, float)) and not isinstance(given, bool) and given < 1e19
    return int(given * _MICROSECOND) if is_time and given is not None else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _tags(tags: Any) -> dict[str, Any]:
    return {
        one["key"]: one.get("value")
        for one in (tags if isinstance(tags, list) else ())
        if isinstance(one, dict) and isinstance(one.get("key"), str)
    }
