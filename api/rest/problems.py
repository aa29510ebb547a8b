"""Every error as a problem details object, with a stable type and no stack trace.

Source: RFC 9457.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from graph.errors import (
    EngineError,
    EngineUnavailable,
    InputError,
    NotFound,
    ProcessConflict,
    QueryTimeout,
    ReadOnlyGraph,
    VeriTrailError,
    Violation,
)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 5
_NO_JSON = "The body cannot be read as JSON; send it with `Content-Type: application/json`."


def problem(
    status: int,
    kind: str,
    detail: str,
    violations: tuple[Violation, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A problem as an answer.

    Args:
        status: The HTTP status.
        kind: A stable name of the problem; `type` is made of it.
        detail: What happened, where, and what to do.
        violations: Every rule that was broken.
        headers: More headers of the answer.
    """
    content: dict[str, Any] = {
        "type": f"urn:veritrail:problem:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": _told(detail),
    }
    if violations:
        content["violations"] = [
            {"kind": one.kind, "where": _told(one.where), "message": _told(one.message)}
            for one in violations
        ]
    return JSONResponse(content, status, dict(headers or {}), MEDIA_TYPE)


def _told(text: str) -> str:
    """A text that can be sent; half a character that came with the request is shown escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def told(error: VeriTrailError) -> JSONResponse:
    """An error of ours as an answer."""
    detail = str(error)
    if isinstance(error, NotFound):
        return problem(404, "not-found", detail)
    if isinstance(error, ProcessConflict):
        return problem(409, "conflict", detail, error.violations)
    if isinstance(error, InputError):
        return problem(422, "invalid-input", detail, error.violations)
    if isinstance(error, EngineUnavailable):
        wait = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        return problem(503, "engine-unavailable", detail, headers=wait)
    if isinstance(error, QueryTimeout):
        return problem(504, "query-timeout", detail)
    if isinstance(error, ReadOnlyGraph):
        return problem(503, "read-only", detail)
    return problem(500, "engine-error" if isinstance(error, EngineError) else "error", detail)


def tell_problems(app: FastAPI) -> None:
    """Let an application answer every error as a problem."""

    async def ours(request: Request, error: Exception) -> JSONResponse:
        if isinstance(error, EngineUnavailable):
            await request.app.state.graph.lost()
        return told(error if isinstance(error, VeriTrailError) else VeriTrailError(str(error)))

    async def http(_request: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        detail = {
            400: _NO_JSON,
            404: "There is nothing at this address.",
            405: "This method is not known here.",
        }
        kind = HTTPStatus(status).phrase.lower().replace(" ", "-")
        words = detail.get(status, HTTPStatus(status).description or HTTPStatus(status).phrase)
        return problem(status, kind, words, headers=headers)

    async def invalid(_request: Request, error: Exception) -> JSONResponse:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        if any(one["type"] == "json_invalid" for one in found):
            return problem(400, "bad-request", _NO_JSON)
        violations = tuple(
            Violation(one["type"], ".".join(map(str, one["loc"])), one["msg"]) for one in found
        )
        return problem(422, "invalid-input", "The request is not as it must be.", violations)

    async def fault(_request: Request, _error: Exception) -> JSONResponse:
        return problem(500, "fault", "A fault of the program; its log says more.")

    app.add_exception_handler(VeriTrailError, ours)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, fault)
