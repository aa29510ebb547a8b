"""Jobs: the form that starts one, the list, one of them as it works, and its buttons."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.engines import engine_choices, usual_engine
from veritrail_graph.api.app.jobs import Busy, JobClaim
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.auth.database import ServiceUnavailable
from veritrail_graph.api.configured.judge import judge_options
from veritrail_graph.api.page.faults import field_words
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.starting import answered, broken_engines, start
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.page.views.changes import MOST_MATCHES, ChangesView, changes_view
from veritrail_graph.api.page.views.job_costs import (
    ESTIMATE_SECONDS,
    Cost,
    cost_of,
    started_lines,
)
from veritrail_graph.api.page.views.jobs import (
    CLAIMS,
    WHICH,
    Filled,
    job_view,
    lines_of,
    part_lines,
    request_of,
)
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import LONGEST_CURSOR, Listing
from veritrail_graph.api.show.words import judged_by, replaced_words
from veritrail_graph.graph.errors import EngineUnavailable, InputError, NotFound, Violation
from veritrail_graph.graph.model import Process, Verification
from veritrail_graph.graph.model.job import OPEN, Job
from veritrail_graph.graph.model.listed import ClaimFilter, Place
from veritrail_graph.graph.sentences import SentenceSplitter

if TYPE_CHECKING:
    from veritrail_graph.api.configured.judge import JudgeOptions


router = APIRouter(
    route_class=OneVersion, include_in_schema=False, dependencies=[needs(Scope.VERIFY)]
)

_SHOWS = needs(Scope.READ)
"""What a page needs besides that shows claims."""

MOST_COMPARED_LIVE = 300
"""Claims of an open job that are compared with an earlier version for its page."""

TERMINALS = 50
"""Terminal nodes that are offered; any other can be typed in."""


@router.get("/processes/{process_id}/verify", dependencies=[_SHOWS])
async def show_form(request: Request, app: App, process_id: str) -> Response:
    """The form."""
    process = await app.processes.get(process_id)
    query = request.query_params
    filled = Filled.of(
        {name: query[name] for name in ("which", "node_id", "claims") if name in query}
    )
    if not process.claims and "which" not in query:
        can_state = await app.claims.lacking(process_id)
        filled = replace(filled, which="answer" if can_state else "typed")
    return await _form(request, process, filled.anew())


@router.post("/processes/{process_id}/verify", dependencies=[_SHOWS, FromOurPage])
async def look_or_start(request: Request, app: App, caller: Calling, process_id: str) -> Response:
    """Say what it may cost; when that was seen, start."""
    sent = await request.form()  # was read already, for its token
    filled = Filled.of(sent)
    process = await app.processes.get(process_id)

    async def work() -> Response:
        wanted = request_of(process_id, filled)
        if sent.get("step") == "change":
            return await _form(request, process, filled)
        if sent.get("step") == "start":
            return await start(app, caller, wanted, filled.once)
        return await price(request, app, caller, process, filled)

    return await answered(filled, partial(_form, request, process), work)


async def price(
    request: Request, app: Application, caller: Caller, process: Process, filled: Filled
) -> Response:
    """Show what a verification may cost, with the button that starts it.

    Raises:
        InputError: It cannot be done as it is asked for.
    """
    wanted = request_of(process.process_id, filled)
    plan = await app.jobs.plan(caller, wanted)
    cost = await _cost(app, wanted)
    asks = judge_options(app.settings, wanted).calls_models
    return render(
        request,
        "verify_cost.html",
        process=process,
        filled=filled,
        cost=cost,
        started=started_lines(plan, wanted, asks_models=asks),
        budget=wanted.budget_usd,
        which=dict(WHICH)[filled.which],
    )


async def _cost(app: Application, wanted: VerifyRequest) -> Cost:
    """Return what it may cost.

    Raises:
        InputError: A claim, a node, a model or a setting is wrong.
    """
    from veritrail_graph.api.app.estimation import chosen_unstored

    settings = app.settings
    how = judge_options(settings, wanted)
    is_new = not wanted.names_claims and await app.claims.lacking(wanted.process_id, wanted.node_id)
    if wanted.extract or (is_new and how.writes):
        why = "How many claims the text holds is known when they have been taken from it."
        model = wanted.model or settings.model
        return Cost(None, how.engine_words, model, True, why_unknown=why)
    claim_ids: list[str] = []
    if wanted.unfinished and not is_new:
        claim_ids = await _unverified(app, wanted.process_id)
        if not claim_ids:
            raise InputError("Every stored claim has a verdict. Choose other claims.")
    if not how.calls_models:
        known = len(claim_ids)
        if wanted.names_claims or is_new:
            splitter = SentenceSplitter.for_language(settings.language)
            known = len(await chosen_unstored(await app.graph.store(), wanted, splitter))
        known = known or (await app.processes.get(wanted.process_id)).claims
        by_words = any(engine.name == "lexical" for engine in how.engines)
        return Cost(known, how.engine_words, is_by_words=by_words)
    model = wanted.model or settings.model
    if claim_ids:
        wanted = wanted.model_copy(update={"claim_ids": tuple(claim_ids)})
    return await _estimated(app, how, wanted, model)


async def _estimated(
    app: Application, how: JudgeOptions, wanted: VerifyRequest, model: str | None
) -> Cost:
    """Return what models would be asked, unless that takes too long to find out."""
    from veritrail_graph.api.app.estimation import estimate_claims

    try:
        async with asyncio.timeout(ESTIMATE_SECONDS):
            store = await app.graph.store()
            found = await estimate_claims(app.settings, store, how, wanted)
    except TimeoutError:
        why = (
            "Walking a process of this size takes longer than this page waits; "
            "`veritrail estimate` says it."
        )
        number = len(wanted.claims or wanted.claim_ids or ()) or None
        return Cost(number, how.engine_words, model, True, why_unknown=why)
    return cost_of(found, how.engine_words)


async def _unverified(app: Application, process_id: str) -> list[str]:
    """Ids of the stored claims that have no verdict."""
    found: list[str] = []
    place: Place | None = (-1, "")
    while place is not None:
        claims, place = await app.claims.page(process_id, ClaimFilter(verdict="none"), place, 1_000)
        found += [one.claim_id for one in claims]
    return found


async def _form(
    request: Request,
    process: Process,
    filled: Filled,
    status: int = 200,
    wrong: str | None = None,
    violations: Sequence[Violation] = (),
) -> Response:
    settings = request.app.state.settings
    engines = engine_choices(settings)
    tally = await request.app.state.app.claims.tally(process.process_id)
    left = tally.total - tally.judged
    if filled.which == "unverified" and not left and process.claims and not wrong:
        filled = replace(filled, which="all")
    return render(
        request,
        "verify.html",
        status,
        process=process,
        filled=filled,
        wrong=wrong,
        violations=violations,
        field_words=field_words,
        which=WHICH,
        engines=engines,
        usual=usual_engine(settings, engines),
        broken=broken_engines(engines),
        can_extract=any(one.works and one.writes for one in engines),
        left=left,
        default_engine=settings.engine_name(),
        default_verdict_engine=settings.verdict.engine,
        default_model=settings.model,
        terminals=process.terminals[:TERMINALS],
    )


PAGE = 25
_FIRST = ("9999", "")

Cursor = Annotated[str | None, Query(max_length=LONGEST_CURSOR)]


@router.get("/jobs")
async def list_jobs(
    request: Request,
    app: App,
    process: Annotated[str | None, Query(max_length=128)] = None,
    cursor: Cursor = None,
) -> Response:
    """Jobs, newest first."""
    listing = Listing("pages of jobs", (process,))
    before = listing.place(cursor, _FIRST)
    found = await app.jobs.page(process_id=process, before=before, limit=PAGE + 1)
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


@router.get("/jobs/{job_id}", dependencies=[_SHOWS])
async def show_job(
    request: Request,
    app: App,
    job_id: str,
    after: Annotated[int | None, Query(ge=-1, le=10**9)] = None,
) -> Response:
    """The state of a job; a script of the page follows it, and without one it loads again."""
    last = await app.feeds.last(job_id)  # before the rest: nothing is missed
    job: Job = await app.jobs.get(job_id)
    claims, workers = await asyncio.gather(
        app.jobs.claims(job_id, after, CLAIMS + 1), app.jobs.workers()
    )
    shown = claims[:CLAIMS]
    known, outcomes, is_down = await _looked_up(app, job, shown)
    view = job_view(job, outcomes)
    process = None if is_down else await _process(app, job.process_id)
    earlier = None if is_down or job.since is None else await _process(app, job.since)
    changes = None if is_down else await _changes(app, job)
    return render(
        request,
        "job.html",
        view=view,
        job=job,
        name=process.name if process else job.process_id,
        kept=None if is_down or view.is_open else await _kept(app, job),
        is_record=process is not None and process.run_of_record == job.run_id,
        lines=lines_of(job.process_id, shown, known)
        if view.is_verification
        else part_lines(job, shown),
        is_down=is_down,
        changes=changes,
        is_since_stored=earlier is not None,
        once=secrets.token_urlsafe(16),
        workers=workers,
        last_event=last.seq if last is not None else 0,
        first=url("jobs", job_id, after=-1) if shown and shown[0].place > 0 else None,
        next=url("jobs", job_id, after=shown[-1].place) if len(claims) > CLAIMS else None,
        is_pinned=after is not None,
    )


async def _kept(app: Application, job: Job) -> str | None:
    """Return that verdicts of a job do not count, and whose do; None: they all count."""
    kept = await app.checking.outweighed(job)
    if not kept:
        return None
    judges = dict.fromkeys(judged_by(one.engine or "", one.model) for one in kept)
    return replaced_words(len(kept), f"those of {', '.join(judges)} stay in force")


async def _looked_up(
    app: Application, job: Job, shown: Sequence[JobClaim]
) -> tuple[dict[str, Verification], dict[str, int] | None, bool]:
    """Return what the graph says of a job: of the claims that are shown, and in all.

    Whether it is down.

    A graph that is down does not hide the state of the job.
    """
    try:
        headers, outcomes = await asyncio.gather(
            app.verifications.headers([one.verification_id for one in shown]),
            app.verifications.outcomes(job.verification_ids),
        )
    except ServiceUnavailable:
        raise
    except EngineUnavailable:
        await app.graph.lost()
        return {}, None, True
    return {one.verification_id: one for one in headers}, outcomes, False


async def _changes(app: Application, job: Job) -> ChangesView | None:
    """Return what a job against an earlier version kept and changed until now.

    The page is made anew with every claim that ends: that of a large job says it at the end.
    """
    is_open = job.status in OPEN
    if job.since is None or (is_open and len(job.verification_ids) > MOST_COMPARED_LIVE):
        return None
    try:
        found = await app.jobs.changes(job.job_id)
    except ServiceUnavailable:
        raise
    except EngineUnavailable:
        return None
    return changes_view(job.process_id, found)


async def _process(app: Application, process_id: str) -> Process | None:
    try:
        return await app.processes.get(process_id)
    except NotFound:
        return None


@router.post("/jobs/{job_id}/cancel", dependencies=[FromOurPage])
async def cancel_job(app: App, caller: Calling, job_id: str) -> Response:
    """Cancel a job; what is finished stays."""
    await app.jobs.cancel(job_id, by=caller)
    return RedirectResponse(url("jobs", job_id), 303)


@router.post("/jobs/{job_id}/resume", dependencies=[FromOurPage])
async def resume_job(app: App, caller: Calling, job_id: str) -> Response:
    """Take up again every claim that has no verdict."""
    for pause in (0.3, 0.7, None):  # something of it may still be stopping
        try:
            await app.jobs.resume(job_id, by=caller)
            break
        except Busy:
            if pause is None:
                raise
            await asyncio.sleep(pause)
    return RedirectResponse(url("jobs", job_id), 303)


LONGEST_PAIR = 2_000
"""Characters of a pair of claims in a form."""


@router.post("/jobs/{job_id}/pairs", dependencies=[FromOurPage])
async def verify_with_pairs(request: Request, app: App, caller: Calling, job_id: str) -> Response:
    """Verify the claims of a job again, with pairs that a person confirmed on its page."""
    sent = await request.form()  # was read already, for its token
    wanted = await app.jobs.with_pairs(job_id, _pairs(sent.getlist("pair")))
    return await start(app, caller, wanted, str(sent.get("once", ""))[:100])


def _pairs(sent: Sequence[object]) -> list[dict[str, object]]:
    """The pairs that were chosen, each sent as JSON: the earlier claim_id, then that of now.

    Raises:
        InputError: None was chosen, there are too many, or one is no pair.
    """
    if not sent:
        raise InputError("Choose at least one pair of claims that say the same.")
    if len(sent) > MOST_MATCHES:
        raise InputError(f"At most {MOST_MATCHES} pairs can be confirmed at a time.")
    pairs = []
    for one in sent:
        try:
            earlier, claim_id = json.loads(str(one)[:LONGEST_PAIR])
        except (ValueError, TypeError, RecursionError):
            raise InputError("That is no pair of claims. Load the page of the job again.") from None
        pairs.append({"earlier": earlier, "claim_id": claim_id})
    return pairs


@router.post("/jobs/{job_id}/{act}", dependencies=[FromOurPage])
async def pin_run(app: App, caller: Calling, job_id: str, act: Literal["pin", "unpin"]) -> Response:
    """Let the verdicts of the job's run count whatever else was verified, or end that."""
    job = await app.jobs.get(job_id)
    await app.verifications.pin(job.run_id, on=act == "pin", by=caller)
    return RedirectResponse(url("jobs", job_id), 303)
