"""The OTLP receiver: instrumented programs send their spans here, and traces become processes.

Source: OpenTelemetry Protocol 1.10, OTLP/HTTP.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.otlp import JSON, PATH, PROTOBUF, export_answer, media_type
from veritrail_graph.api.service.http.pages import CHECKED
from veritrail_graph.api.service.http.problems import described, problem
from veritrail_graph.api.service.http.receiving import UploadRefused

router = APIRouter(tags=["processes"], dependencies=[CHECKED])

_BINARY = {"schema": {"type": "string", "format": "binary"}}


def _text(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


_EXAMPLE = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "eee19b7ec3c1b174",
                            "name": "answer",
                            "startTimeUnixNano": "1738573200000000000",
                            "endTimeUnixNano": "1738573201000000000",
                            "attributes": [
                                _text("openinference.span.kind", "LLM"),
                                _text("input.value", "How many piers has the harbour?"),
                                _text("output.value", "The harbour has two piers."),
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}
_BODY = {
    "requestBody": {
        "required": True,
        "description": (
            "An ExportTraceServiceRequest, in protobuf or JSON, of at most 64 MB, unpacked too; "
            "`Content-Encoding: gzip` is taken."
        ),
        "content": {
            PROTOBUF: _BINARY,
            JSON: {"schema": {"type": "object"}, "example": _EXAMPLE},
        },
    }
}


def _problem(status: int) -> dict[str, Any]:
    common = described(status)
    return {**common, "content": {**common["content"], PROTOBUF: _BINARY}}


_PROBLEMS = (400, 401, 403, 408, 413, 415, 421, 422, 429, 431, 500, 503, 507)


@router.post(
    PATH,
    response_class=Response,
    responses={
        200: {
            "description": "An ExportTraceServiceResponse in the encoding of the request; "
            "`partialSuccess` says how many spans were not taken, and why",
            "content": {
                JSON: {"schema": {"type": "object"}, "example": {}},
                PROTOBUF: _BINARY,
            },
        },
        **{status: _problem(status) for status in _PROBLEMS},
    },
    openapi_extra=_BODY,
    dependencies=[needs(Scope.INGEST)],
)
async def receive_spans(request: Request, app: App, caller: Calling) -> Response:
    """Take spans of traces; a trace becomes a process when it is whole, or quiet for a while.

    The id of the process is that of the trace. Problems are answered to a request in protobuf as a
    `google.rpc.Status`.
    """
    kind = media_type(request.headers.get("content-type", ""))
    try:
        async with request.app.state.exports.read(request, caller) as export:
            found = await app.traces.receive(export, caller)
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    except ClientDisconnect:
        return problem(400, "bad-request", "The body was cut.")  # no client reads it
    return Response(export_answer(found, kind), media_type=kind)
