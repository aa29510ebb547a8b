"""Jobs over REST: submit, list, get, cancel, resume."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.app.answers import Page
from veritrail_graph.api.app.changes import Changes
from veritrail_graph.api.app.jobs import Busy
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.requests.job import BudgetUsd, CallLimit
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.pages import (
    CHECKED,
    PROCESS_ID,
    Cursor,
    Limit,
    Listing,
)
from veritrail_graph.api.service.http.problems import problem, problems_of
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.model.job import Job, JobStatus, JobSummary


class JobAccepted(BaseModel):
    """A job that was submitted; with `extract` the ids appear in the job later."""

    job_id: str = Field(examples=["j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"])
    verification_ids: list[str]


class Limits(BaseModel):
    """What a job may cost in all from now on; what is left out stays as it was."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"budget_usd": 5}]}
    )

    budget_usd: BudgetUsd | None = None
    max_calls: CallLimit | None = None


class JobPage(Page):
    """A page of jobs, newest first."""

    jobs: list[JobSummary]


router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED, needs(Scope.VERIFY)])

JobId = Annotated[
    str,
    Path(description="The job, by its job_id.", examples=["j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"]),
]
_FIRST = ("9999", "")


@router.get("", response_model=JobPage)
async def list_jobs(
    app: App,
    process_id: Annotated[
        str | None, Query(pattern=PROCESS_ID, description="Only of this process.")
    ] = None,
    status: Annotated[JobStatus | None, Query(description="Only jobs with this status.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Jobs, newest first; those that ended are removed after a while."""
    listing = Listing("jobs", (process_id, status))
    place = listing.place(cursor, _FIRST)
    found = await app.jobs.page(process_id=process_id, status=status, before=place, limit=limit + 1)
    last = found[limit - 1] if len(found) > limit else None
    behind = listing.cursor(last.created_at, last.job_id) if last else None
    return answer(JobPage.model_construct(jobs=found[:limit], nextCursor=behind))


@router.get("/{job_id}", response_model=Job, responses=problems_of(404))
async def get_job(app: App, job_id: JobId) -> Response:
    """The current state of a job."""
    return answer(await app.jobs.get(job_id))


@router.get(
    "/{job_id}/changes",
    response_model=Changes,
    responses=problems_of(404, 422),
    dependencies=[needs(Scope.READ)],
)
async def get_changes(app: App, job_id: JobId) -> Response:
    """What a job that was submitted with `since` kept, verified and changed until now."""
    return answer(await app.jobs.changes(job_id))


@router.post("/{job_id}:cancel", response_model=Job, responses=problems_of(404))
async def cancel_job(app: App, caller: Calling, job_id: JobId) -> Response:
    """Cancel a job: what is finished stays, what runs stops within two seconds.

    Cancelling a job that has ended, or again, changes nothing.
    """
    return answer(await app.jobs.cancel(job_id, by=caller))


@router.post("/{job_id}:resume", response_model=Job, responses=problems_of(404, 409))
async def resume_job(
    app: App, caller: Calling, job_id: JobId, limits: Limits | None = None
) -> Response:
    """Take up again every claim, sentence or turn that is cancelled, failed, or over budget.

    Of a dialogue, what is behind the first such turn is verified again, too.
    """
    given = limits.model_dump(exclude_none=True) if limits is not None else {}
    try:
        job = await app.jobs.resume(job_id, given, caller)
    except Busy as error:
        return problem(409, "job-busy", str(error), headers={"Retry-After": "1"})
    return answer(job)


async def one_key(request: Request) -> None:
    """Refuse a request with two keys: it would not be clear which job it names.

    Raises:
        InputError: There are two.
    """
    if len(request.headers.getlist("idempotency-key")) > 1:
        raise InputError(
            "The request is invalid.",
            [Violation("wrong_value", "header.idempotency-key", "is sent twice; send one")],
        )


ONE_KEY = Depends(one_key)
"""A dependency of every route that submits a job."""

submitting = APIRouter(
    prefix="/v1/verifications", tags=["verifications"], dependencies=[CHECKED, ONE_KEY]
)

Key = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[\x20-\x7e]+$",
        description="A client that sends the same again under the same key gets the same job.",
    ),
]


@submitting.post(
    "",
    status_code=202,
    response_model=JobAccepted,
    responses=problems_of(404, 409),
    dependencies=[needs(Scope.VERIFY)],
)
async def submit(
    app: App,
    caller: Calling,
    wanted: VerifyRequest,
    idempotency_key: Key = None,
) -> Response:
    """Have claims verified; `Location` says where the job is.

    What was verified with the same settings before belongs to the job and is not paid for again.
    """
    job = await app.jobs.submit(caller, wanted, idempotency_key)
    accepted = {"job_id": job.job_id, "verification_ids": list(job.verification_ids)}
    return answer(accepted, 202, {"Location": f"/v1/jobs/{job.job_id}"})
