"""Jobs: the list, one of them as it works, and its buttons."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.auth.database import ServiceUnavailable
from veritrail_graph.api.http.access import Calling, needs, record
from veritrail_graph.api.http.pages import LONGEST_CURSOR, Listing
from veritrail_graph.api.jobs.model import Job
from veritrail_graph.api.jobs.orders import Busy
from veritrail_graph.api.jobs.reading import JobClaim
from veritrail_graph.api.rest.events import feeds_of
from veritrail_graph.api.web.forms import FromOurPage
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.views.jobs import CLAIMS, job_view, lines_of
from veritrail_graph.graph.errors import EngineUnavailable, NotFound
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.store.standing import StandingStore

router = APIRouter(include_in_schema=False, dependencies=[needs(Scope.VERIFY)])

PAGE = 25
_FIRST = ("9999", "")

Cursor = Annotated[str | None, Query(max_length=LONGEST_CURSOR)]


@router.get("/jobs")
async def list_jobs(
    request: Request,
    process: Annotated[str | None, Query(max_length=128)] = None,
    cursor: Cursor = None,
) -> Response:
    """Jobs, newest first."""
    listing = Listing("pages of jobs", (process,))
    before = listing.place(cursor, _FIRST)
    jobs = request.app.state.jobs
    found = await jobs.page(process_id=process, before=before, limit=PAGE + 1)
    page = found[:PAGE]
    last = page[-1] if len(found) > PAGE else None
    return render(
        request,
        "jobs.html",
        views=[job_view(job) for job in page],
        process=process,
        first=url("jobs", process=process) if cursor else None,
        next=url("jobs", process=process, cursor=listing.cursor(last.created_at, last.job_id))
        if last
        else None,
    )


@router.get("/jobs/{job_id}")
async def show_job(
    request: Request,
    job_id: str,
    after: Annotated[int | None, Query(ge=-1, le=10**9)] = None,
) -> Response:
    """A job as it stands; a script of the page follows it, and without one it loads again."""
    state = request.app.state
    last = await feeds_of(request.app).last(job_id)  # before the rest: nothing is missed
    job: Job = await state.jobs.get(job_id)
    claims, workers = await asyncio.gather(
        state.jobs.claims(job_id, after, CLAIMS + 1), state.jobs.workers()
    )
    shown = claims[:CLAIMS]
    known, outcomes, is_down = await _looked_up(request, job, shown)
    view = job_view(job, outcomes)
    return render(
        request,
        "job.html",
        view=view,
        job=job,
        name=await _name(request, job) if not is_down else job.process_id,
        lines=lines_of(job.process_id, shown, known),
        is_down=is_down,
        workers=workers,
        last_event=last.seq if last is not None else 0,
        first=url("jobs", job_id, after=-1) if shown and shown[0].place > 0 else None,
        next=url("jobs", job_id, after=shown[-1].place) if len(claims) > CLAIMS else None,
        is_pinned=after is not None,
    )


async def _looked_up(
    request: Request, job: Job, shown: Sequence[JobClaim]
) -> tuple[dict[str, Verification], dict[str, int] | None, bool]:
    """What the graph says of a job: of the claims that are shown, and in all; whether it is down.

    A graph that is down does not hide how the job stands.
    """
    try:
        store = await request.app.state.graph.store()
        headers, outcomes = await asyncio.gather(
            store.trails.headers([one.verification_id for one in shown]),
            StandingStore(store.database).outcomes(job.verification_ids),
        )
    except ServiceUnavailable:
        raise
    except EngineUnavailable:
        await request.app.state.graph.lost()
        return {}, None, True
    return {one.verification_id: one for one in headers}, outcomes, False


async def _name(request: Request, job: Job) -> str:
    store = await request.app.state.graph.store()
    try:
        name: str = (await store.processes.get(job.process_id)).name
    except NotFound:
        return job.process_id
    return name


@router.post("/jobs/{job_id}/cancel", dependencies=[FromOurPage])
async def cancel_job(request: Request, caller: Calling, job_id: str) -> Response:
    """Cancel a job; what is finished stays."""
    await request.app.state.jobs.cancel(job_id)
    await record(request, caller, "job.cancel", job_id)
    return RedirectResponse(url("jobs", job_id), 303)


@router.post("/jobs/{job_id}/resume", dependencies=[FromOurPage])
async def resume_job(request: Request, caller: Calling, job_id: str) -> Response:
    """Take up again every claim that has no verdict."""
    jobs: Any = request.app.state.jobs
    for pause in (0.3, 0.7, None):  # something of it may still be stopping
        try:
            await jobs.resume(job_id, {})
            break
        except Busy:
            if pause is None:
                raise
            await asyncio.sleep(pause)
    await record(request, caller, "job.resume", job_id)
    return RedirectResponse(url("jobs", job_id), 303)
