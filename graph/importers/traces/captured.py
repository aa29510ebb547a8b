"""Export requests as lines of a file, as an OpenTelemetry Collector writes them: OTLP as JSON."""

from __future__ import annotations

import base64
import json
from typing import Any

from veritrail_graph.graph.importers.traces.received import (
    ExportedSpans,
    RequestForm,
    as_json,
    sorted_by_trace,
    unpacked,
)
from veritrail_graph.graph.importers.traces.wire import messages_of_spans

_IDS = ("traceId", "spanId", "parentSpanId")
_SPANS = ("resourceSpans", "scopeSpans", "spans")
_LOGS = ("resourceLogs", "scopeLogs", "logRecords")


def request_line(body: bytes, form: RequestForm, most: int) -> tuple[bytes, ExportedSpans]:
    """Return an export request as a line of JSON, and the spans that are in it.

    Args:
        body: Its bytes.
        form: How it is written.
        most: The most bytes that it may have, unpacked too.

    Raises:
        InputError: It cannot be read, or holds more than it may.
    """
    if form.is_packed:
        body = unpacked(body, most)
    request = body if form.is_protobuf else as_json(body)
    spans = sorted_by_trace(request)  # it also bounds what is turned into JSON
    if isinstance(request, bytes):
        request = _of_protobuf(request)
    line = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
    return line.encode("utf-8", "replace") + b"\n", spans


def _of_protobuf(body: bytes) -> dict[str, Any]:
    """Return a request as JSON, with its ids in hexadecimal, as OTLP asks."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    has_records = any(is_record for _, is_record in messages_of_spans(body))
    form = ExportLogsServiceRequest if has_records else ExportTraceServiceRequest
    request: dict[str, Any] = MessageToDict(form.FromString(body))
    resources, scopes, spans = _LOGS if has_records else _SPANS
    for resource in request.get(resources, ()):
        for scope in resource.get(scopes, ()):
            for span in scope.get(spans, ()):
                for one in (span, *span.get("links", ())):
                    for name in _IDS:
                        if name in one:
                            one[name] = base64.b64decode(one[name]).hex()
    return request
