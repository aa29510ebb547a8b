"""Verdicts as events of OpenTelemetry, in OTLP JSON, on the spans of the original trace.

The conventions describe the event `gen_ai.evaluation.result`. It is written in two forms: as an
event of a span, and as a log record that names the span, which is the form that the conventions
have since then and that any backend takes beside the spans that it has.

Source: OpenTelemetry Protocol 1.10; semantic conventions for generative AI (in development).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.process_file import Write, json_text
from veritrail_graph.graph.exporters.verdicts.judged import ORIGIN, VERDICT, Judged, JudgedClaims
from veritrail_graph.graph.importers.traces.values import nanoseconds

EVENT = "gen_ai.evaluation.result"
SCOPE = "veritrail_graph"
_INFO = 9
_TRACE, _SPAN = re.compile(r"(?!0+$)[0-9a-f]{32}"), re.compile(r"(?!0+$)[0-9a-f]{16}")
_LOGS_AT_ONCE = 500


async def write_span_events(claims: JudgedClaims, write: Write) -> dict[str, int]:
    """Write one export request for spans, each with its ids and its events alone."""
    counts = _counts(claims)
    spans: dict[str, list[dict[str, Any]]] = {}
    async for one in claims.each():
        _count(counts, one)
        if one.call_id is None:
            counts["outputs without a span"] = counts.get("outputs without a span", 0) + 1
        for span_id, attributes in _results(one):
            if span_id is None:
                continue
            event = {"timeUnixNano": _time(one), "name": EVENT, "attributes": attributes}
            spans.setdefault(span_id, []).append(event)
            counts["events"] += 1
    written = [
        {"traceId": claims.trace_id, "spanId": span_id, "events": events}
        for span_id, events in spans.items()
    ]
    scope = {"scope": {"name": SCOPE}, "spans": written}
    request = {"resourceSpans": [{"resource": {}, "scopeSpans": [scope]}]}
    write(f"{json_text(request)}\n".encode())
    return {**counts, "spans": len(written)}


async def write_log_records(claims: JudgedClaims, write: Write) -> dict[str, int]:
    """Write export requests for logs, one a line."""
    counts = _counts(claims)
    records: list[dict[str, Any]] = []
    async for one in claims.each():
        _count(counts, one)
        for span_id, attributes in _results(one):
            ids = {"traceId": one.trace_id, **({"spanId": span_id} if span_id else {})}
            time = _time(one)
            records.append(
                {
                    "timeUnixNano": time,
                    "observedTimeUnixNano": time,
                    "severityNumber": _INFO,
                    "eventName": EVENT,
                    "attributes": attributes,
                    **ids,
                }
            )
            counts["events"] += 1
        if len(records) >= _LOGS_AT_ONCE:
            write(_logs(records))
            records = []
    if records:
        write(_logs(records))
    return counts


def _counts(claims: JudgedClaims) -> dict[str, int]:
    """Counts of nothing.

    Raises:
        InputError: The trace's id cannot be one of OpenTelemetry.
    """
    if not _TRACE.fullmatch(claims.trace_id):
        raise InputError(
            f"{claims.trace_id[:60]!r} is no trace id of OpenTelemetry (32 hexadecimal digits), so "
            "no event can name the trace. Ingest the trace as OTLP JSON or protobuf."
        )
    return {"events": 0, "claims": 0, "claims without a verdict": 0}


def _count(counts: dict[str, int], one: Judged) -> None:
    counts["claims"] += 1
    counts["claims without a verdict"] += one.verdict is None


def _logs(records: list[dict[str, Any]]) -> bytes:
    scope = {"scope": {"name": SCOPE}, "logRecords": records}
    return f"{json_text({'resourceLogs': [{'resource': {}, 'scopeLogs': [scope]}]})}\n".encode()


def _results(one: Judged) -> Iterator[tuple[str | None, list[dict[str, Any]]]]:
    """Yield what is said of the verified output, and of each output at which an error came in."""
    result: dict[str, Any] = {"gen_ai.evaluation.name": VERDICT}
    if one.verdict is None:
        result["error.type"] = one.found.status.value
    else:
        result["gen_ai.evaluation.score.label"] = one.verdict.value
        if one.found.score is not None:
            result["gen_ai.evaluation.score.value"] = float(one.found.score)
    yield _span(one.call_id), _attributes(one, result)
    for error in one.errors:
        if (span_id := _span(error.call_id)) is not None:
            origin = {"gen_ai.evaluation.name": ORIGIN, "gen_ai.evaluation.score.label": one.origin}
            yield span_id, _attributes(one, origin)


def _span(call_id: str | None) -> str | None:
    return call_id if call_id is not None and _SPAN.fullmatch(call_id) else None


def _attributes(one: Judged, result: dict[str, Any]) -> list[dict[str, Any]]:
    said = {
        **result,
        "gen_ai.evaluation.explanation": one.explanation,
        **{f"veritrail.{key}": value for key, value in one.facts.items()},
    }
    return [{"key": key, "value": _value(value)} for key, value in said.items()]


def _value(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it: with its type, and integers as texts."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _time(one: Judged) -> str:
    return str(nanoseconds(one.found.created_at, one.found.verification_id))
