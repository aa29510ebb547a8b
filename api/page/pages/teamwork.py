"""Teams on the page: comments on claims, rounds of review, decisions, exports for other tools."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.teamwork import AnnotationFormat, NewRound
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.review import fault_words, reviewer_of
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.page.views.review import CHOICES
from veritrail_graph.api.service.http.access import WITHOUT_LINKS, App, Calling, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ClaimId, ProcessId
from veritrail_graph.api.show.texts import file_name
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.model.review import Reviewed
from veritrail_graph.graph.reviewing import NewReview

router = APIRouter(route_class=OneVersion, include_in_schema=False)

_READ = [needs(Scope.READ)]
_POST = [needs(Scope.READ, Scope.WRITE), FromOurPage]
_REVIEW = [needs(Scope.READ, Scope.REVIEW), FromOurPage]
DRAWN = 50
"""Claims that a round draws unless another number is typed in."""

MOST_DISPUTES = 50
"""Disputed claims that the page shows."""


@router.post("/processes/{process_id}/claims/{claim_id}/comments", dependencies=_REVIEW)
async def comment(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    text: Annotated[str, Form(max_length=20_000)] = "",
    author: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Comment on a claim."""
    who = reviewer_of(request, caller)
    name = who.name if who.by_key else author or who.name
    await app.teamwork.comment(process_id, claim_id, text, name or "", by=caller)
    return RedirectResponse(url("processes", process_id, "claims", claim_id) + "#comments", 303)


@router.post("/processes/{process_id}/claims/{claim_id}/comments/remove", dependencies=_REVIEW)
async def remove_comment(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: ClaimId,
    comment_id: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """Remove a comment."""
    await app.teamwork.remove_comment(process_id, comment_id, by=caller)
    return RedirectResponse(url("processes", process_id, "claims", claim_id) + "#comments", 303)


@router.get("/processes/{process_id}/rounds", dependencies=[*_READ, WITHOUT_LINKS])
async def show(request: Request, app: App, caller: Calling, process_id: ProcessId) -> HTMLResponse:
    """The rounds with their progress, and the claims whose reviewers differ."""
    return await _page(request, app, caller, process_id)


async def _page(
    request: Request,
    app: Application,
    caller: Caller,
    process_id: str,
    status: int = 200,
    *,
    part: str = "",
    wrong: tuple[str, ...] = (),
    filled: dict[str, str] | None = None,
) -> HTMLResponse:
    process = await app.processes.get(process_id)
    found = await app.teamwork.rounds(process_id)
    states = await app.reviews.states(process_id)
    names = [name for name, one in states.items() if one.disputed][:MOST_DISPUTES]
    claims = await app.claims.some(process_id, names)
    disputes: list[tuple[str, str, Reviewed]] = [
        (name, claims[name].text, states[name]) for name in names if name in claims
    ]
    return render(
        request,
        "rounds.html",
        status,
        process=process,
        rounds=found.rounds,
        disputes=disputes,
        more=sum(one.disputed for one in states.values()) - len(disputes),
        who=reviewer_of(request, caller),
        choices=CHOICES,
        part=part,
        wrong=wrong,
        filled={
            "reviewers": "",
            "size": str(max(min(DRAWN, process.claims), 1)),
            "each": "2",
            "name": "",
            "seed": "0",
            "reason": "",
        }
        | (filled or {}),
    )


@router.post("/processes/{process_id}/rounds", dependencies=_POST)
async def begin(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    reviewers: Annotated[str, Form(max_length=20_000)] = "",
    size: Annotated[str, Form(max_length=20)] = "",
    each: Annotated[str, Form(max_length=20)] = "1",
    name: Annotated[str, Form(max_length=1_000)] = "",
    seed: Annotated[str, Form(max_length=20)] = "0",
) -> Response:
    """Draw claims by lot, and assign them."""
    filled = {"reviewers": reviewers, "size": size, "each": each, "name": name, "seed": seed}
    try:
        numbers = [one.strip() for one in (size, each, seed or "0")]
        if not all(one.isascii() and one.isdigit() and len(one) < 10 for one in numbers):
            raise InputError("Sample, reviewers of a claim and seed are whole numbers.")
        wanted = NewRound(
            reviewers.splitlines(), int(numbers[0]), int(numbers[1]), name, int(numbers[2])
        )
        await app.teamwork.begin(process_id, wanted, by=caller)
    except NotFound:
        raise
    except InputError as error:
        wrong = fault_words(error)
        return await _page(
            request, app, caller, process_id, 422, part="begin", wrong=wrong, filled=filled
        )
    return RedirectResponse(url("processes", process_id, "rounds"), 303)


@router.post("/processes/{process_id}/rounds/end", dependencies=_POST)
async def end(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    round_id: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """Remove a round; reviews stay."""
    await app.teamwork.end(process_id, round_id, by=caller)
    return RedirectResponse(url("processes", process_id, "rounds"), 303)


@router.post("/processes/{process_id}/rounds/decide", dependencies=_REVIEW)
async def decide(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    claim_id: Annotated[str, Form(max_length=200)] = "",
    verdict: Annotated[str, Form(max_length=50)] = "",
    reason: Annotated[str, Form(max_length=20_000)] = "",
    name: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Decide between the reviewers of a claim."""
    who = reviewer_of(request, caller)
    decider = who.name if who.by_key else name or who.name
    try:
        if not verdict or not reason.strip():
            raise InputError("Choose a verdict, and say why.")
        given = NewReview(verdict, reason.replace("\r\n", "\n"), decider or "")
        await app.teamwork.decide(process_id, claim_id, given, by=caller)
    except NotFound:
        raise
    except InputError as error:
        wrong = fault_words(error)
        return await _page(
            request, app, caller, process_id, 422, part=claim_id, wrong=wrong,
            filled={"reason": reason},
        )  # fmt: skip
    return RedirectResponse(url("processes", process_id, "rounds") + "#disputes", 303)


@router.get("/processes/{process_id}/annotation.json", dependencies=_READ)
async def export(
    app: App,
    process_id: ProcessId,
    format_name: Annotated[AnnotationFormat, Query(alias="format")] = "label-studio",
    blind: bool = False,
) -> Response:
    """Claims for an annotation tool."""
    found = await app.teamwork.export(process_id, format_name, blind=blind)
    name = file_name(f"{process_id}-{format_name}.json")
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "private, no-store",
    }
    content = json.dumps(found, ensure_ascii=True, indent=1)
    return Response(content, media_type="application/json", headers=headers)
