"""Checking over REST: an answer with its sources or a file is stored and verified in jobs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, ValidationError
from starlette.requests import ClientDisconnect

from veritrail_graph.api.advice import REST
from veritrail_graph.api.app.answers import Ingested, fault_object
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.check import CheckBody
from veritrail_graph.api.requests.importing import import_options
from veritrail_graph.api.requests.job import BudgetUsd, CallLimit, Name
from veritrail_graph.api.requests.value_faults import violations_of
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import CHECKED, Cursor, Limit, Listing, ProcessId
from veritrail_graph.api.service.http.problems import problem, problems_of
from veritrail_graph.api.service.http.receiving import UploadRefused, any_name, parse_name
from veritrail_graph.api.service.http.uploading import (
    Force,
    Keep,
    Replace,
    Stored,
    TableColumns,
    store_any,
    upload_options,
)
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model.finding import Findings

router = APIRouter(
    route_class=OneVersion, prefix="/v1/processes", tags=["processes"], dependencies=[CHECKED]
)
checking = APIRouter(prefix="/v1/check", tags=["verifications"], dependencies=[CHECKED])
MOST_BYTES, MOST_VALUES = 20_000_000, 100_000
"""Of a body that is an answer with its sources."""
_NOT_OPTIONS = ("process_id", "claims", "claim_ids", "node_id", "extract")


class CheckBegun(BaseModel):
    """A process that is being checked, or why it is not."""

    source: str = Field(description="Where it was in the body.")
    process_id: str | None = None
    job_id: str | None = Field(
        None, description="The job that verifies it; null: `error` says why."
    )
    error: dict[str, Any] | None = None


class CheckAccepted(BaseModel):
    """A check that was begun: the job and the process of the first input, and all of them."""

    process_id: str
    job_id: str
    run_id: str = Field(description="The run that the job carries out.")
    verification_ids: list[str] = Field(description="With a model they appear in the job later.")
    checks: list[CheckBegun]


def _body_schema() -> dict[str, Any]:
    """Return the schema of the body as a whole, without references into itself."""
    schema = CheckBody.model_json_schema()
    named = schema.pop("$defs")["SourceText"]
    items = schema["properties"]["sources"]["items"]
    items["anyOf"] = [named if "$ref" in one else one for one in items["anyOf"]]
    return schema


_BODY = {
    "requestBody": {
        "required": True,
        "description": (
            "An answer and its sources as JSON. With `format`: a file in that format "
            "(docs/formats), of which there may be several processes."
        ),
        "content": {
            "application/json": {"schema": _body_schema()},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@checking.post(
    "",
    status_code=202,
    response_model=CheckAccepted,
    responses=problems_of(409, 415, 507),
    openapi_extra=_BODY,
    dependencies=[needs(Scope.INGEST), needs(Scope.VERIFY)],
)
async def begin_check(
    request: Request,
    app: App,
    caller: Calling,
    format_name: Annotated[
        str | None,
        Query(
            alias="format",
            max_length=100,
            description="The body is a file in this format, or `detect`. Without it: JSON with "
            "an answer and its sources.",
        ),
    ] = None,
    filename: Annotated[
        str | None, Query(max_length=500, description="With format: what the file is called.")
    ] = None,
    question: Annotated[
        str | None, Query(max_length=10_000, description="With format: what it answers.")
    ] = None,
    columns: TableColumns = None,
    engine: Annotated[Name | None, Query(description="With format: who judges.")] = None,
    model: Annotated[Name | None, Query(description="With format: the model.")] = None,
    budget_usd: Annotated[BudgetUsd | None, Query(description="With format: for each job.")] = None,
    max_calls: Annotated[CallLimit | None, Query(description="With format: for each job.")] = None,
    again: Annotated[
        bool, Query(description="With format: also what has a verdict of this judge.")
    ] = False,
    replace: Replace = False,
    keep: Keep = False,
    force: Force = False,
) -> Response:
    """Store an answer with its sources, or a file, and have its claims verified.

    Where there are no claims a model takes them from the final outputs; without a model they are
    the sentences that state something. `Location` says where the findings of its run will be.
    What is stored already with other content is replaced only with `replace`, which needs the
    scope `write`.
    """
    if columns is not None and format_name is None:
        raise InputError("`columns` are of a table: send it as a file, with `format`.")
    given = {"engine": engine, "model": model, "budget_usd": budget_usd, "max_calls": max_calls}
    options = {name: value for name, value in given.items() if value is not None}
    options |= {"again": True} if again else {}
    importing = import_options(question=question, columns=columns)
    storing = upload_options(
        caller,
        None,
        replace=replace,
        keep=keep,
        force=force,
        format_name=format_name,
        importing=importing,
    )
    try:
        if format_name is not None:
            # What is wrong with it is said before anything is stored.
            await app.checking.expect_judge(_request("-", options))
            found: list[Stored] = await store_any(
                request,
                caller,
                request,
                storing,
                filename or any_name(request.headers.get("content-type", "")),
                encoding=request.headers.get("content-encoding", ""),
            )
        else:
            wanted = await _body(request, caller)
            options = _checked_options(wanted.options)
            await app.checking.expect_judge(_request("-", options))
            made = await app.checking.answer_over(wanted)
            found = [("answer", await app.processes.ingest_source(made, storing, by=caller))]
            request.app.state.app.summaries.forget()
    except UploadRefused as error:
        return problem(error.status, error.kind, str(error), headers=error.headers)
    except ClientDisconnect:
        return problem(400, "bad-request", "The body was cut.")  # no client reads it
    if not found:
        raise InputError("There is no process in the body.")
    return await _begun(app, caller, found, options)


async def _body(request: Request, caller: Calling) -> CheckBody:
    """Return the answer and its sources.

    Raises:
        InputError: The body is something else; all faults are listed.
        UploadRefused: It is too large, or a form.
    """
    from veritrail_graph.graph.importers.process_file.reading import TooManyValues

    parse_name(request.headers.get("content-type", ""))
    async with request.app.state.uploads.received(request, "body.json", caller) as file:
        if (await asyncio.to_thread(file.stat)).st_size > MOST_BYTES:
            words = f"A body without `format` may have {MOST_BYTES:,} bytes; send a file with it."
            raise UploadRefused(413, "body-too-large", words)
        content = await asyncio.to_thread(file.read_bytes)
    try:
        return await asyncio.to_thread(_parsed, content)
    except TooManyValues:
        raise InputError(f"The body holds more than {MOST_VALUES:,} values.") from None
    except ValidationError as error:
        violations = violations_of(error, "body.")
    raise InputError("The request is invalid.", violations)


def _parsed(content: bytes) -> CheckBody:
    from veritrail_graph.graph.importers.process_file.reading import check_values

    check_values(content, MOST_VALUES)  # each would take a hundred bytes
    return CheckBody.model_validate_json(content)


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    others = [name for name in _NOT_OPTIONS if name in options]
    if others:
        raise InputError(f"body.options: {', '.join(others)} is nothing that a check takes.")
    return options


def _request(process_id: str, options: dict[str, Any]) -> VerifyRequest:
    return VerifyRequest.checked({**options, "process_id": process_id}, "body.options.")


async def _begun(
    app: App, caller: Calling, found: list[Stored], options: dict[str, Any]
) -> Response:
    """Have each process that was stored verified; one that cannot be leaves the others alone.

    Raises:
        VeriTrailError: None of them can be.
    """
    checks: list[CheckBegun] = []
    first: CheckAccepted | None = None
    fault: VeriTrailError | None = None
    for where, one in found:
        name = one.process_id if isinstance(one, Ingested) else None
        try:
            if not isinstance(one, Ingested):
                raise one
            wanted = await app.checking.request_of(_request(one.process_id, options))
            job = await app.jobs.submit(caller, wanted, None)
        except InputError as error:
            fault = fault or error
            said = fault_object(error, REST)
            checks.append(CheckBegun(source=where, process_id=name, job_id=None, error=said))
            continue
        checks.append(CheckBegun(source=where, process_id=name, job_id=job.job_id))
        first = first or CheckAccepted(
            process_id=one.process_id,
            job_id=job.job_id,
            run_id=job.run_id,
            verification_ids=list(job.verification_ids),
            checks=[],
        )
    if first is None:
        assert fault is not None  # noqa: S101  # there is at least one input
        raise fault
    place = f"/v1/processes/{quote(first.process_id, safe='')}/findings?run_id={first.run_id}"
    return answer(first.model_copy(update={"checks": checks}), 202, {"Location": place})


@router.get(
    "/{process_id}/findings",
    response_model=Findings,
    responses=problems_of(404),
    dependencies=[needs(Scope.READ)],
)
async def list_findings(
    app: App,
    process_id: ProcessId,
    run_id: Annotated[
        Name | None,
        Query(description="What this run found, in place of what counts; that of a job has it."),
    ] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The verdicts that count for the claims of a process, and a finding for each wrong one.

    A page is of claims; `findings` has those of them that are not supported. With `run_id` it is
    what that run found: also what failed, and which of its verdicts do not count.
    """
    listing = Listing("findings", (process_id, run_id))
    place = listing.place(cursor, (-1, ""))
    found, last = await app.checking.findings(process_id, place, limit, run_id)
    behind = listing.cursor(*last) if last is not None else None
    return answer(found.model_copy(update={"nextCursor": behind}))
