"""The OTLP receiver: instrumented programs send their spans here, and traces become processes.

Source: OpenTelemetry Protocol 1.10, OTLP/HTTP.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.otlp import (
    JSON,
    LOGS_PATH,
    PATH,
    PROTOBUF,
    export_answer,
    media_type,
)
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
_EXAMPLE_OF_LOGS = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "eee19b7ec3c1b174",
                            "timeUnixNano": "1738573201000000000",
                            "eventName": "gen_ai.choice",
                            "body": {
                                "kvlistValue": {
                                    "values": [_text("content", "The harbour has two piers.")]
                                }
                            },
                        }
                    ]
                }
            ]
        }
    ]
}


def _body(message: str, example: dict[str, Any]) -> dict[str, Any]:
    return {
        "requestBody": {
            "required": True,
            "description": (
                f"An {message}, in protobuf or JSON, of at most 64 MB, unpacked too; "
                "`Content-Encoding: gzip` is taken."
            ),
            "content": {
                PROTOBUF: _BINARY,
                JSON: {"schema": {"type": "object"}, "example": example},
            },
        }
    }


def _problem(status: int) -> dict[str, Any]:
    common = described(status)
    return {**common, "content": {**common["content"], PROTOBUF: _BINARY}}


_PROBLEMS = (400, 401, 403, 408, 413, 415, 421, 422, 429, 431, 500, 503, 507)


def _responses(message: str, what: str) -> dict[int | str, dict[str, Any]]:
    return {
        200: {
            "description": f"An {message} in the encoding of the request; "
            f"`partialSuccess` says how many {what} were not taken, and why",
            "content": {
                JSON: {"schema": {"type": "object"}, "example": {}},
                PROTOBUF: _BINARY,
            },
        },
        **{status: _problem(status) for status in _PROBLEMS},
    }


@router.post(
    PATH,
    response_class=Response,
    responses=_responses("ExportTraceServiceResponse", "spans"),
    openapi_extra=_body("ExportTraceServiceRequest", _EXAMPLE),
    dependencies=[needs(Scope.INGEST)],
)
async def receive_spans(request: Request, app: App, caller: Calling) -> Response:
    """Take spans of traces; a trace becomes a process when it is whole, or quiet for a while.

    The id of the process is that of the trace. Problems are answered to a request in protobuf as a
    `google.rpc.Status`.
    """
    return await _received(request, app, caller)


@router.post(
    LOGS_PATH,
    response_class=Response,
    responses=_responses("ExportLogsServiceResponse", "log records"),
    openapi_extra=_body("ExportLogsServiceRequest", _EXAMPLE_OF_LOGS),
    dependencies=[needs(Scope.INGEST)],
)
async def receive_logs(request: Request, app: App, caller: Calling) -> Response:
    """Take log records that note what a model was given and gave, as events of their spans.

    Those of a trace whose process is stored are added to it as late spans are. Other log records
    are taken and not kept.
    """
    return await _received(request, app, caller, of_logs=True)


async def _received(
    request: Request, app: App, caller: Caller, *, of_logs: bool = False
) -> Response:
    kind = media_type(request.headers.get("content-type", ""))
    try:
        async with request.app.state.exports.read(request, caller) as export:
            found = await app.traces.receive(export, caller)
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    except ClientDisconnect:
        return problem(400, "bad-request", "The body was cut.")  # no client reads it
    return Response(export_answer(found, kind, of_logs=of_logs), media_type=kind)
