"""Every error as a problem details object, with a stable type and no stack trace.

Source: RFC 9457.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path, PurePath
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from veritrail_graph.api.advice import REST
from veritrail_graph.api.app.part import ProcessInUse
from veritrail_graph.api.app.text_index import IndexFull, IndexUnusable
from veritrail_graph.api.auth.access import NotAllowed
from veritrail_graph.api.auth.database import (
    DatabaseFull,
    NotWritable,
    ServiceUnavailable,
)
from veritrail_graph.api.requests.value_faults import sentence
from veritrail_graph.api.service.http import request_id
from veritrail_graph.api.service.http.bodies import LEAST_RATE, SLOW_SECONDS
from veritrail_graph.graph.errors import (
    BeingWritten,
    ClaimInUse,
    CommitInDoubt,
    DiskFull,
    EngineError,
    EngineStarting,
    EngineUnavailable,
    InputError,
    NotFound,
    NotWritten,
    ProcessConflict,
    QueryTimeout,
    ReadOnlyGraph,
    StoreFull,
    VeriTrailError,
    Violation,
    violation_with_advice,
    with_advice,
)

MEDIA_TYPE = "application/problem+json"
PREFIX = "urn:veritrail:problem:"
"""What the type of every problem begins with."""
OWN_FAULT = (
    "A fault of the program. Its log says more: what `veritrail serve` writes to standard error, "
    "in its terminal or in the log of its container or service; look for the request's id."
)
"""What is said of an error that nothing foresaw."""
RETRY_AFTER_SECONDS = 5
MOST_VIOLATIONS = 100
"""Faults of one request that are listed."""

_log = logging.getLogger("veritrail.requests")
_NO_JSON = "The body cannot be read as JSON; send it with `Content-Type: application/json`."
_TOO_SLOW = (
    f"The body came too slowly: after its first {SLOW_SECONDS:g} seconds an upload has to come "
    f"with {LEAST_RATE:,} bytes a second, counted from its beginning. Send it gzipped, or in parts."
)
_NOT_SENT_AS_JSON = (
    "The Content-Type must be application/json (curl: -H 'Content-Type: application/json')."
)


class BrokenRule(BaseModel):
    """One rule that was broken."""

    kind: str = Field(description="A stable name of the rule.", examples=["unknown_node"])
    where: str = Field(description="The place in what was sent.", examples=["edges[3]"])
    message: str = Field(description="What is wrong and what would be right.")


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:veritrail:problem:not-found",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "No process 'x' is stored.",
                    "instance": "urn:veritrail:request:0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11",
                }
            ]
        }
    )

    type: str = Field(description="A stable name of the problem: `urn:veritrail:problem:KIND`.")
    title: str = Field(description="The phrase of the status.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened, where, and what to do; for people.")
    instance: str | None = Field(None, description="The request: `urn:veritrail:request:ID`.")
    violations: list[BrokenRule] | None = Field(None, description="Every rule that was broken.")


def problems_of(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return what a route says of its problems: `responses=problems_of(404, 409)`.

    Those that every call may have (400, 401, 403, 413, 422, 429, 500, 503 and so on) are added to
    the description by themselves.
    """
    return {status: described(status) for status in statuses}


def described(status: int) -> dict[str, Any]:
    """A problem with one status, in the words of OpenAPI."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": _MEANINGS.get(status, HTTPStatus(status).phrase), "content": content}


_MEANINGS = {
    400: "What was sent cannot be read, or a value is out of its range",
    401: "The key is missing, not known, expired or revoked",
    403: "The key does not have the scope that this call needs",
    404: "There is no such thing",
    405: "This method is not known here",
    406: "The answer cannot be given in the form that was asked for",
    408: "The headers or the body did not arrive in time",
    409: "It is in conflict with what is there",
    413: "The body is too large",
    415: "The body is of a type that is not understood",
    421: "Without a key only requests that name this machine are answered",
    422: "The request is invalid; `violations` lists every fault",
    431: "The address and the headers are too large",
    429: "Too many requests; `Retry-After` says when to come again",
    500: "A fault of the engine or of the program",
    503: "The engine, or the database of the service, does not answer; `Retry-After` says when",
    504: "The query took longer than it may",
    507: "There is no room left on a disk of the service",
}


def problem(
    status: int,
    kind: str,
    detail: str,
    violations: tuple[Violation, ...] = (),
    headers: Mapping[str, str] | None = None,
    advice: Mapping[str, str] = REST,
) -> JSONResponse:
    """A problem as an answer.

    Args:
        status: The HTTP status.
        kind: A stable name of the problem; `type` is made of it.
        detail: What happened, where, and what to do.
        violations: Every rule that was broken.
        headers: More headers of the answer.
        advice: What the door advises, by kind of violation.
    """
    content: dict[str, Any] = {
        "type": f"{PREFIX}{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": _sendable(detail),
    }
    if (asked := request_id.current.get()) is not None:
        content["instance"] = f"urn:veritrail:request:{asked}"
    if violations:
        content["violations"] = [
            {
                "kind": one.kind,
                "where": _sendable(one.where),
                "message": _sendable(violation_with_advice(one, advice)),
            }
            for one in violations
        ]
    return JSONResponse(content, status, dict(headers or {}), MEDIA_TYPE)


def _is_other_type(request: Request) -> bool:
    """Return whether a body says to be something else than JSON, as that of `curl -d` does."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return not (media_type in ("", "application/json") or media_type.endswith("+json"))


def _sendable(text: str) -> str:
    """A text that can be sent; half a character that came with the request is shown escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def answer_of(
    error: VeriTrailError, advice: Mapping[str, str] = REST, home: Path | None = None
) -> JSONResponse:
    """The answer for an error; it does not show addresses of engines and paths of files.

    Args:
        error: The error.
        advice: What the door advises, by code.
        home: The home folder of the service, of which only names of files are shown.
    """
    status, kind = _BY_CODE.get(error.code) or next(
        (answer for of, answer in _ANSWERS if isinstance(error, of)), (500, "error")
    )
    if (fact := next((text for of, text in _HIDDEN if isinstance(error, of)), None)) is not None:
        error = VeriTrailError(fact, code=error.code)
    violations = error.violations if isinstance(error, InputError) else ()
    return problem(
        status,
        kind,
        _without_paths(_ADDRESS.sub("", with_advice(error, advice)), home),
        violations if status in (409, 422) else (),
        {"Retry-After": str(RETRY_AFTER_SECONDS)} if kind in _WAIT or fact == _BUSY else None,
        advice,
    )


def refusal_of(
    faults: Sequence[Mapping[str, Any]], advice: Mapping[str, str] = REST
) -> JSONResponse:
    """The answer to a request whose values break the bounds of its route.

    Args:
        faults: What pydantic says of each value, with its place.
        advice: What the door advises, by kind of fault.
    """
    violations = tuple(
        Violation(fault["type"], ".".join(map(str, fault["loc"]))[:200], sentence(fault))
        for fault in faults[:MOST_VIOLATIONS]
    )
    return problem(422, "invalid-input", "The request is invalid.", violations, advice=advice)


def _without_paths(text: str, home: Path | None) -> str:
    """A text without paths of the home folder: of a file in it, its name is left."""
    if home is None or len(home.parts) < 2:
        return text
    return re.sub(
        rf"{re.escape(str(home))}(?:/[^\s'\",;:)]*)?",
        lambda found: PurePath(found[0]).name if found[0] != str(home) else "VERITRAIL_HOME",
        text,
    )


_ADDRESS = re.compile(r"(?: at)? (?:bolt|neo4j)(?:\+s(?:sc)?)?://[^\s,;)']+")
_BY_CODE = {
    "cross_origin": (403, "cross-origin"),
    "form_expired": (403, "form-expired"),
    "idempotency_conflict": (409, "idempotency-conflict"),
    "job_busy": (409, "job-busy"),
}
_ANSWERS: tuple[tuple[type[Exception], tuple[int, str]], ...] = (
    (NotFound, (404, "not-found")),
    (NotAllowed, (403, "not-allowed")),
    (ProcessConflict, (409, "conflict")),
    (ProcessInUse, (409, "process-in-use")),
    (ClaimInUse, (409, "claim-in-use")),
    (DiskFull, (507, "no-room")),
    (DatabaseFull, (507, "no-room")),
    (NotWritten, (500, "not-written")),
    (IndexFull, (507, "no-room")),
    (IndexUnusable, (503, "index-unusable")),
    (InputError, (422, "invalid-input")),
    (EngineUnavailable, (503, "engine-unavailable")),
    (StoreFull, (503, "store-full")),
    (QueryTimeout, (504, "query-timeout")),
    (ReadOnlyGraph, (503, "read-only")),
    (EngineError, (500, "engine-error")),
)
"""The status and the kind of an error; the first class that fits counts."""

_WAIT = ("engine-unavailable", "index-unusable", "store-full", "read-only")
STARTING = "The graph engine is still starting, which takes a few seconds."
_BUSY = (
    "Another writer stores the same at this moment. Come again; if this does not change, an "
    "operator of the service can remove what was left half-made."
)
_HIDDEN: tuple[tuple[type[Exception], str], ...] = (
    (BeingWritten, _BUSY),
    (
        CommitInDoubt,
        "The connection to the graph engine was lost while it was storing; whether it stored is "
        "not known.",
    ),
    (DiskFull, "There is no room left on the disk of the service."),
    (NotWritten, "A file cannot be written on the disk of the service; its log says why."),
    (IndexFull, "There is no room left for the index of texts."),
    (IndexUnusable, "The index of texts cannot be used now; the log of the service says why."),
    (DatabaseFull, "There is no room left for the database of the service."),
    (NotWritable, "The database of the service cannot be written; its log says why."),
    (ServiceUnavailable, "The database of the service does not answer now."),
    (EngineStarting, STARTING),
    (EngineUnavailable, "The graph engine does not answer now, or is still starting."),
)
"""What is said in place of texts that name machines, programs and files."""


AdviceAt = Callable[[str, Mapping[str, str]], Mapping[str, str]]
"""Gives the advice, by code, for a request with this path and these headers."""


def answer_with_problems(app: FastAPI, advice_at: AdviceAt = lambda _path, _headers: REST) -> None:
    """Let an application answer every error as a problem.

    Args:
        app: The application.
        advice_at: Chooses the advice of the door that the caller uses.
    """

    async def ours(request: Request, error: Exception) -> JSONResponse:
        if isinstance(error, EngineUnavailable) and not isinstance(error, ServiceUnavailable):
            await request.app.state.app.graph.lost()
        if isinstance(error, EngineError | NotWritten):
            fields = {"error": str(error), "request_id": request_id.current.get()}
            _log.warning("engine", extra={"fields": fields})
        known = error if isinstance(error, VeriTrailError) else VeriTrailError(str(error))
        home = request.app.state.settings.home
        return answer_of(known, advice_at(request.url.path, request.headers), home)

    async def http(request: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
        if status == 405 and (known := app.state.methods_at(request.scope["path"])):
            headers["Allow"] = ", ".join(known)
        detail = {
            400: _NO_JSON,
            404: "There is nothing at this address.",
            405: "This method is not known here.",
            408: _TOO_SLOW,
        }
        kind = HTTPStatus(status).phrase.lower().replace(" ", "-")
        words = detail.get(status, HTTPStatus(status).description or HTTPStatus(status).phrase)
        return problem(status, kind, words, headers=headers)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        if any(one["type"] == "json_invalid" for one in found):
            return problem(400, "bad-request", _NO_JSON)
        if any(one["loc"] == ("body",) for one in found) and _is_other_type(request):
            return problem(415, "unsupported-media-type", _NOT_SENT_AS_JSON)
        return refusal_of(found, advice_at(request.url.path, request.headers))

    app.add_exception_handler(VeriTrailError, ours)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
