"""The review page and the agreement page."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.auth.key_cache import ENVIRONMENT
from veritrail_graph.api.page.faults import ADVICE
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.page.views.agreement import (
    WHOM,
    AgreementState,
    disputed,
    disputes_of,
    line_of,
    lines_of,
)
from veritrail_graph.api.page.views.review import (
    CHOICES,
    JUDGED_BLIND,
    SOURCES,
    NodeInPlace,
    Read,
    Reviewer,
    marked_in,
    open_view,
    reading_of,
    rows_of,
    saved_view,
)
from veritrail_graph.api.page.views.review_queue import (
    SHOWN,
    Queue,
    ReviewState,
    queue_of,
    state_of,
)
from veritrail_graph.api.service.http.access import WITHOUT_LINKS, App, Calling, needs
from veritrail_graph.api.service.http.answers import answer
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.graph.agreement import agreement_of
from veritrail_graph.graph.errors import (
    EngineError,
    EngineUnavailable,
    InputError,
    NotFound,
    ReviewOutdated,
    VeriTrailError,
    Violation,
    with_advice,
)
from veritrail_graph.graph.model import Process, Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.review import reviewed_claims
from veritrail_graph.graph.reviewing import NewReview, Seen, text_faults

COOKIE = "veritrail_reviewer"

_KEPT_SECONDS = 180 * 86_400


def reviewer_of(request: Request, caller: Caller) -> Reviewer:
    """Return who reviews.

    A key speaks for its owner, and no other name can be given with it. The key that is set from
    outside belongs to the operator of the service, and says nothing of persons.
    """
    if caller.key_id is not None and caller != ENVIRONMENT:
        return Reviewer(caller.name, by_key=True)
    name = unquote(request.cookies.get(COOKIE, "")).strip()
    return Reviewer(None if not name or text_faults("", name) else name)


def keep_name(answer: Response, name: str) -> None:
    """Let the browser keep the name of the reviewer."""
    answer.set_cookie(
        COOKIE, quote(name), max_age=_KEPT_SECONDS, path="/", httponly=True, samesite="lax"
    )


async def _asked(request: Request, process_id: str) -> ReviewState:
    return state_of(process_id, request.query_params)


Asked = Annotated[ReviewState, Depends(_asked)]


@dataclass(frozen=True, slots=True)
class Given:
    """The fields of a review form.

    Attributes:
        claim_id: The claim.
        verdict: The verdict, or nothing.
        reason: Why.
        overrides: The verification that was looked at, or nothing.
        words: A sign for the claim's text as it was looked at.
        once: Tells this form from every other one.
        next: The claim that comes next, or nothing.
        then: `next`, `stay`, or `list` where the claim was rated in the list.
    """

    claim_id: str
    verdict: str
    reason: str
    overrides: str
    words: str
    once: str
    next: str
    then: str


async def _given(
    claim_id: Annotated[str, Form()] = "",
    verdict: Annotated[str, Form()] = "",
    reason: Annotated[str, Form()] = "",
    overrides: Annotated[str, Form()] = "",
    words: Annotated[str, Form()] = "",
    once: Annotated[str, Form()] = "",
    next_: Annotated[str, Form(alias="next")] = "",
    then: Annotated[str, Form()] = "next",
) -> Given:
    reason = reason.replace("\r\n", "\n")
    return Given(claim_id, verdict, reason, overrides, words, once, next_, then)


GivenForm = Annotated[Given, Depends(_given)]


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that is shown again.

    Attributes:
        verdict: The verdict that was chosen, or nothing.
        reason: What was typed.
        heading: What is wrong with it, in a few words; empty: nothing is.
        wrong: The same at length.
    """

    verdict: str = ""
    reason: str = ""
    heading: str = ""
    wrong: tuple[str, ...] = ()


def status_of(error: VeriTrailError) -> int:
    """The status of the page that tells an error."""
    kinds = ((NotFound, 404), (ReviewOutdated, 409), (InputError, 422), (EngineError, 503))
    return next((status for kind, status in kinds if isinstance(error, kind)), 500)


def _heading(error: VeriTrailError) -> str:
    words = {
        404: "It is not there any more",
        409: "Look again: it changed meanwhile",
        422: "Not saved yet",
        503: "Not saved: the graph does not answer now",
    }
    return words.get(status_of(error), "Not saved")


def draft_of(given: Given, error: VeriTrailError) -> Draft:
    """A form that is shown again, with what was wrong."""
    return Draft(given.verdict, given.reason, _heading(error), fault_words(error))


def fault_words(error: VeriTrailError) -> tuple[str, ...]:
    """Return what was wrong with what was sent, in sentences."""
    if isinstance(error, EngineError):
        return (
            "What you wrote is kept below. Wait a moment and send it again: nothing is stored "
            "twice.",
        )
    faults = error.violations if isinstance(error, InputError) else ()
    return words_of(faults) or (with_advice(error, ADVICE),)


def words_of(faults: Iterable[Violation]) -> tuple[str, ...]:
    """Faults in sentences."""
    return tuple(f"The {fault.where} {fault.message}." for fault in faults)


router = APIRouter(route_class=OneVersion, include_in_schema=False)

_log = logging.getLogger("veritrail.requests")


@router.get("/processes/{process_id}/review", dependencies=[needs(Scope.READ), WITHOUT_LINKS])
async def show_review(
    request: Request, app: App, caller: Calling, asked: Asked, saved: str | None = None
) -> Response:
    """A claim to review, with the list of claims."""
    return await _page(request, app, asked, reviewer_of(request, caller), saved=saved)


@router.post(
    "/processes/{process_id}/reviewer", dependencies=[needs(Scope.READ, Scope.REVIEW), FromOurPage]
)
async def begin(
    request: Request,
    app: App,
    caller: Calling,
    asked: Asked,
    name: Annotated[str, Form()] = "",
    is_blind: Annotated[str, Form()] = "",
) -> Response:
    """Keep the name of the reviewer, where no key says it; go on blind or not."""
    who = reviewer_of(request, caller)
    said = {"claim": asked.claim or "", "blind": "1" if is_blind else "0"}
    blind = state_of(asked.process_id, said)
    answer = RedirectResponse(blind.href, 303)
    if who.by_key:
        return answer
    if faults := text_faults("", name.strip()):
        draft = Draft(heading="That is no name", wrong=words_of(faults))
        return await _page(request, app, blind, Reviewer(None), 422, draft=draft)
    keep_name(answer, name.strip())
    return answer


@router.post(
    "/processes/{process_id}/review", dependencies=[needs(Scope.READ, Scope.REVIEW), FromOurPage]
)
async def save(
    request: Request, app: App, caller: Calling, asked: Asked, given: GivenForm
) -> Response:
    """Append a review; what cannot be stored comes back with everything that was typed."""
    who = reviewer_of(request, caller)
    try:
        await _add(app, asked, who, given, caller)
    except VeriTrailError as error:
        return await _again(request, app, asked, who, given, error)
    if given.then == "list":
        place = asked.saved(given.claim_id, asked.claim) + f"#row-{given.claim_id}"
    else:
        place = asked.saved(given.claim_id, given.next if given.then == "next" else None)
    return RedirectResponse(place, 303)


async def _add(
    app: Application, asked: ReviewState, who: Reviewer, given: Given, caller: Caller
) -> Review:
    reason, is_first = given.reason, True
    if not given.verdict:
        message = "is missing; choose one of the four"
        raise InputError("No verdict was chosen", [Violation("missing", "verdict", message)])
    if asked.blind:
        said = await app.reviews.of_claims(asked.process_id, [given.claim_id])
        counting = said[given.claim_id].counting if given.claim_id in said else ()
        is_first = not any(one.reviewer == who.name for one in counting)
        if is_first and not reason.strip() and given.verdict != ReviewVerdict.UNCLEAR:
            reason = JUDGED_BLIND
    overrides = given.overrides or None
    # A reviewer who reviewed the claim before has seen the verdict since.
    is_blind = asked.blind and is_first
    new = NewReview(given.verdict, reason, who.name or "", overrides, blind=is_blind)
    seen = Seen(given.words, overrides)
    return await app.reviews.add(
        asked.process_id, given.claim_id, new, once=given.once, seen=seen, by=caller
    )


async def _again(
    request: Request,
    app: Application,
    asked: ReviewState,
    who: Reviewer,
    given: Given,
    error: VeriTrailError,
) -> Response:
    """The form once more, with what was typed; where nothing can be read, it is shown alone."""
    draft = draft_of(given, error)
    status = status_of(error)
    if isinstance(error, EngineUnavailable):
        await app.graph.lost()
    if isinstance(error, EngineError):
        _log.warning("engine", extra={"fields": {"error": str(error)}})
    elif not isinstance(error, NotFound):
        with suppress(VeriTrailError):
            there = asked.to(given.claim_id)
            return await _page(request, app, there, who, status, draft=draft)
    can_retry = not isinstance(error, NotFound)
    return render(
        request,
        "review_kept.html",
        status,
        state=asked,
        given=given,
        draft=draft,
        choices=CHOICES,
        can_retry=can_retry,
    )


async def _page(
    request: Request,
    app: Application,
    asked: ReviewState,
    who: Reviewer,
    status: int = 200,
    *,
    draft: Draft | None = None,
    saved: str | None = None,
) -> Response:
    process = await app.processes.get(asked.process_id)
    every, said = await asyncio.gather(
        app.reviews.queue(asked.process_id, judged=asked.tells),
        app.reviews.reviewers(asked.process_id),
    )
    mine = await _assigned(app, asked, who)
    queue = queue_of(asked, every, said, who.name, assigned=mine)
    read = await _read(app, process, queue, saved)
    if queue.is_lost and status == 200:
        status = 404
    return render(
        request,
        "review.html",
        status,
        process=process,
        state=asked,
        queue=queue,
        who=who,
        rows=rows_of(read, asked, queue, who),
        open=open_view(read, asked, queue, who),
        reading=await _reading(app, asked, process, read, queue.claim),
        saved=saved_view(read, asked, saved, who) if saved is not None else None,
        draft=draft or Draft(),
        choices=CHOICES,
        shows=SHOWN,
        once=secrets.token_urlsafe(12),
    )


async def _assigned(app: Application, asked: ReviewState, who: Reviewer) -> set[str]:
    """The claims that the reviewer is to review, where these are asked for."""
    if asked.show != "assigned" or who.name is None:
        return set()
    return await app.teamwork.assigned(asked.process_id, who.name)


async def _read(app: Application, process: Process, queue: Queue, saved: str | None) -> Read:
    """The claims of the list, and the trail and the answer of the open one."""
    names = dict.fromkeys([*queue.listed, *filter(None, (queue.claim, saved))])
    claims, reviewed = await asyncio.gather(
        app.claims.some(process.process_id, list(names)),
        app.reviews.of_claims(process.process_id, list(names)),
    )
    found = claims.get(queue.claim) if queue.claim is not None else None
    if found is None:
        return Read(process, claims, reviewed)
    trail = await app.verifications.outline(
        process.process_id, found.claim_id, found.verification_id
    )
    ref, text = None, None
    with suppress(NotFound):
        ref, text = await app.nodes.text(process.process_id, found.node_id)
    top = None if ref is None else ref.stage
    return Read(process, claims, reviewed, trail.verification if trail else None, text, top)


async def _reading(
    app: Application, asked: ReviewState, process: Process, read: Read, claim_id: str | None
) -> NodeInPlace | None:
    """The node that is read in place; None: none, or it is not there."""
    if asked.node is None:
        return None
    with suppress(NotFound):
        ref, text = await app.nodes.text(process.process_id, asked.node)
        found = await app.nodes.lineage(process.process_id, asked.node, limit=SOURCES + 1)
        own = next(one for one in found.nodes if one.node_id == asked.node)
        sources = [one.node_id for one in found.nodes if one.node_id != asked.node]
        name = process.stage_names.get(ref.known_stage, "")
        claim = read.claims.get(claim_id or "")
        marked = marked_in(asked.node, claim, read.verification)
        made_of = (sources, own.upstream)
        return reading_of(asked, ref, text, name, made_of, marked)
    return None


async def _asked_agreement(
    process_id: str,
    whom: str | None = None,
    reviewer: str | None = None,
    after: str | None = None,
    blind: str | None = None,
) -> AgreementState:
    known = whom if whom in WHOM else "all"
    return AgreementState(process_id, known, reviewer or None, after or None, blind == "1")


AskedAgreement = Annotated[AgreementState, Depends(_asked_agreement)]


@router.get("/processes/{process_id}/agreement", dependencies=[needs(Scope.READ), WITHOUT_LINKS])
async def show_agreement(
    request: Request, app: App, caller: Calling, asked: AskedAgreement
) -> Response:
    """Figures, and the disagreements side by side."""
    name = asked.process_id
    process = await app.processes.get(name)
    who = reviewer_of(request, caller)
    every, judged = await asyncio.gather(app.reviews.queue(name), app.reviews.judged(name))
    report = agreement_of(name, judged)
    said = reviewed_claims(one.review for one in judged)
    found = disputed(asked, every, said, who.name)
    claims, reviewed = await asyncio.gather(
        app.claims.some(name, found.names), app.reviews.of_claims(name, found.names)
    )
    return render(
        request,
        "agreement.html",
        process=process,
        state=asked,
        who=who,
        report=report,
        overall=line_of("Judge and people", report.overall),
        verdicts=tuple(Verdict),
        lines=lines_of(report),
        found=found,
        disputes=disputes_of(asked, found, claims, reviewed, who),
    )


@router.get("/processes/{process_id}/agreement.json", dependencies=[needs(Scope.READ)])
async def download_agreement(app: App, process_id: str) -> Response:
    """The figures, as `veritrail reviews agreement --json` prints them."""
    found = await app.reviews.agreement(process_id)
    headers = {"Content-Disposition": 'attachment; filename="agreement.json"'}
    return answer(found, 200, headers)
