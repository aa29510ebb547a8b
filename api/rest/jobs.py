"""Jobs over REST: list, look, cancel, resume."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from veritrail_graph.api.app.jobs import Busy, JobStatus
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import Calling, needs, record
from veritrail_graph.api.http.answers import answer
from veritrail_graph.api.http.names import CHECKED, PROCESS_ID
from veritrail_graph.api.http.pages import Cursor, Limit, Listing
from veritrail_graph.api.http.problems import problem, problems_of
from veritrail_graph.api.rest.job_models import JobModel, JobPage, Limits

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED, needs(Scope.VERIFY)])

JobId = Annotated[
    str,
    Path(description="The job, by its job_id.", examples=["j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"]),
]
_FIRST = ("9999", "")


@router.get("", response_model=JobPage)
async def list_jobs(
    request: Request,
    process_id: Annotated[
        str | None, Query(pattern=PROCESS_ID, description="Only of this process.")
    ] = None,
    status: Annotated[JobStatus | None, Query(description="Only those that stand so.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Jobs, newest first; those that ended are removed after a while."""
    listing = Listing("jobs", (process_id, status))
    place = listing.place(cursor, _FIRST)
    jobs = request.app.state.jobs
    found = await jobs.page(process_id=process_id, status=status, before=place, limit=limit + 1)
    last = found[limit - 1] if len(found) > limit else None
    return answer(
        {
            "jobs": [job.summary() for job in found[:limit]],
            "nextCursor": listing.cursor(last.created_at, last.job_id) if last else None,
        }
    )


@router.get("/{job_id}", response_model=JobModel, responses=problems_of(404))
async def get_job(request: Request, job_id: JobId) -> Response:
    """A job as it stands now."""
    return answer((await request.app.state.jobs.get(job_id)).document())


@router.post("/{job_id}:cancel", response_model=JobModel, responses=problems_of(404))
async def cancel_job(request: Request, caller: Calling, job_id: JobId) -> Response:
    """Cancel a job: what is finished stays, what runs stops within two seconds.

    Cancelling a job that has ended, or again, changes nothing.
    """
    job = await request.app.state.jobs.cancel(job_id)
    await record(request, caller, "job.cancel", job_id)
    return answer(job.document())


@router.post("/{job_id}:resume", response_model=JobModel, responses=problems_of(404, 409))
async def resume_job(
    request: Request, caller: Calling, job_id: JobId, limits: Limits | None = None
) -> Response:
    """Take up again every claim that has no verdict: cancelled, failed, or over budget."""
    given = limits.model_dump(exclude_none=True) if limits is not None else {}
    try:
        job = await request.app.state.jobs.resume(job_id, given)
    except Busy as error:
        return problem(409, "job-busy", str(error), headers={"Retry-After": "1"})
    await record(request, caller, "job.resume", job_id)
    return answer(job.document())
