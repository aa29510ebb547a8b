"""The list of processes, a process with its claims, and reports to download."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.teamwork import WaitingClaims
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.page.downloads import download
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.claim import claim_picture
from veritrail_graph.api.page.pages.review import reviewer_of
from veritrail_graph.api.page.rendering import render
from veritrail_graph.api.page.views import process as views
from veritrail_graph.api.page.views.process import PAGE, item_of, unready_words, wanted
from veritrail_graph.api.page.views.shared import shared_words
from veritrail_graph.api.page.views.timeline import (
    MOST_STEPS,
    Timeline,
    is_run,
    may_be_run,
    timeline,
)
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.held_file import HeldFile
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import (
    LONGEST_CURSOR,
    ClaimId,
    Cursor,
    Listing,
    ProcessId,
)
from veritrail_graph.api.show.answer import AnswerText, answer_text
from veritrail_graph.api.show.costs import spent
from veritrail_graph.api.show.node_names import names_of
from veritrail_graph.api.show.reports.data import ClaimSelection, states_named
from veritrail_graph.api.show.reports.files import (
    MEDIA_TYPES,
    SUFFIXES,
    Asked,
    pieces,
)
from veritrail_graph.api.show.reports.sources import StoredSource
from veritrail_graph.api.show.stages import stage_bars
from veritrail_graph.api.show.texts import PART, SLACK
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Process, Verdict
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.model.listed import ANY_NODE, JudgedClaim
from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE

router = APIRouter(route_class=OneVersion, include_in_schema=False)

LONGEST_SEARCH = 200


@router.get("/", dependencies=[needs(Scope.READ)])
async def list_processes(
    request: Request,
    app: App,
    caller: Calling,
    q: Annotated[str, Query(max_length=LONGEST_SEARCH)] = "",
    cursor: Annotated[str | None, Query(max_length=LONGEST_CURSOR)] = None,
) -> Response:
    """The processes, those that need attention first; with a link to one, that one."""
    if caller.only_process is not None:
        return RedirectResponse(url("processes", caller.only_process), 303)
    listing = Listing("pages of processes", (q,))
    after = listing.place(cursor, (0, 0, 0, 0, "")) if cursor else None
    asked = time.monotonic()
    order, jobs, states, waiting = await asyncio.gather(
        app.summaries.order(),
        app.jobs.by_process(),
        app.processes.unfinished(),
        _waiting(request, app, caller),
    )
    found = wanted(order.ranked, q, after)
    page = found[:PAGE]
    names = [one.named.process_id for one in page]
    # What was read for this very page is not read a second time.
    read = {one.named.process_id: one.standing for one in page} if order.begun >= asked else None
    standing = await app.processes.summaries(names, read)
    there = [one for one in page if one.named.process_id in standing]
    items = [
        item_of(one, standing[one.named.process_id], jobs.get(one.named.process_id, ()))
        for one in there
    ]
    is_more = len(found) > PAGE
    return render(
        request,
        "processes.html",
        items=items,
        unready=[(one, unready_words(one)) for one in states[:PAGE]],
        is_known=order.is_known,
        total=len(order.ranked) + order.waiting,
        matching=len(wanted(order.ranked, q, None)) if q else None,
        waiting=order.waiting,
        to_review=waiting,
        q=q,
        first=url(q=q or None) if cursor else None,
        next=url(q=q or None, cursor=listing.cursor(*page[-1].place)) if is_more else None,
    )


async def _waiting(request: Request, app: Application, caller: Caller) -> list[WaitingClaims]:
    """Return what waits for the reviewer who looks at the page, if anybody is known."""
    name = reviewer_of(request, caller).name
    if name is None or not caller.may(Scope.REVIEW):
        return []
    return await app.teamwork.waiting(name)


ROWS = 50
"""Claims of one page of the list."""

MOST_PAIRS = 200
"""Claims that may repeat others on one page."""

PROBES = 20
"""Questions that are shown."""

CHIPS = 8
"""Texts that are shown to choose from at first."""

MOST_NODES = 200
"""Nodes that can be chosen."""

PLACED = 100
"""Claims whose places are marked in the steps of a run of agents."""

ATTRIBUTED = 20
"""Nodes with attributed sentences that are named."""

Reviewed = Literal["none", "any", "confirmed", "overridden", "unclear"]


@router.get("/processes/{process_id}", dependencies=[needs(Scope.READ)])
async def show_process(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    verdict: State | None = None,
    error_stage: Annotated[int | None, Query(ge=0, le=MAX_STAGE)] = None,
    review: Reviewed | None = None,
    node: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
    part: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    order: Literal["text"] | None = None,
    cursor: Cursor = None,
) -> HTMLResponse:
    """A process with the claims that are asked for, those first that need attention."""
    wanted = views.Wanted(verdict, error_stage, review)
    process, tally, cost, with_claims = await asyncio.gather(
        app.processes.get(process_id),
        app.claims.tally(process_id),
        app.verifications.cost(process_id),
        app.claims.nodes(process_id, MOST_NODES),
    )
    unsupported = tally.states.get(Verdict.NOT_FULLY_SUPPORTED.value, 0)
    nodes = _nodes(process, dict(with_claims))
    shown = node if node is not None else _first_node(process, nodes)
    asked = {*(name for name, _ in nodes[:CHIPS]), *(() if shown is None else (shown,))}
    (
        (claims, following),
        (answer, text, every),
        questions,
        (probes, more),
        attributed,
        run,
    ) = await asyncio.gather(
        _listed(app, process_id, wanted, order, cursor),
        _answer(app, process_id, shown, part, wanted),
        app.nodes.questions(process_id, asked),
        app.claims.search(process_id, asked=True, limit=PROBES),
        app.attributions.nodes(process_id, limit=ATTRIBUTED),
        _timeline(app, process, unsupported),
    )
    known = {
        "verdict": verdict,
        "error_stage": error_stage,
        "review": review,
        "node": node,
        "part": part if part > 1 else None,
        "order": order,
    }
    pictured = views.pictured_in(answer) if answer else None
    return render(
        request,
        "process.html",
        picture=await _picture(app, process, pictured) if pictured else None,
        run=run,
        attributed=attributed[0],
        more_attributed=attributed[1],
        process=process,
        shared=shared_words(caller, tally),
        verifications=cost.verifications,
        of_questions=cost.questions,
        of_turns=cost.turns,
        is_dialogue=is_dialogue(process.terminals),
        tally=tally,
        counts=views.counts(tally),
        indicative=views.indicative_words(tally),
        is_mixed=0 < tally.indicative < tally.judged,
        stages=stage_bars(process, tally.together, unsupported, tally.without_stage),
        spent=spent(cost.usage, modelled=cost.modelled > 0, unmetered=cost.unmetered > 0),
        nodes=nodes,
        questions=questions,
        called=await _called(app, process_id, [name for name, _ in nodes[:MOST_NODES]]),
        probes=views.claim_rows(probes, process, None),
        more_probes=more is not None,
        chips=CHIPS,
        shown_node=shown,
        answer=answer,
        unsupported=views.unsupported_in(answer) if answer else (),
        order=order,
        all_placed=every,
        wanted=wanted,
        cursor=cursor,
        rows=views.claim_rows(claims, process, shown, text),
        reviews=views.REVIEW_WORDS,
        next_url=_here(process_id, known, cursor=following) if following else None,
        first_url=_here(process_id, known) if cursor else None,
        to=lambda **changed: _here(process_id, known, **changed),
    )


async def _listed(
    app: Application,
    process_id: str,
    wanted: views.Wanted,
    order: str | None,
    cursor: str | None,
) -> tuple[list[JudgedClaim], str | None]:
    """A page of the list of claims, and the cursor behind it; None: there are no more.

    Where a filter is on, and on demand, they come in the order of the input.
    """
    if wanted.is_narrow or order == "text":
        filters = (process_id, wanted.verdict, wanted.error_stage, wanted.review)
        listing = Listing("page-claims", filters)
        after = listing.place(cursor, (-1, ""))
        claims, last = await app.claims.page(process_id, wanted.filter, after, ROWS)
        return claims, listing.cursor(*last) if last else None
    listing = Listing("page-claims-by-attention", (process_id,))
    first = listing.place(cursor, (-1, -1, ""))
    claims, behind = await app.claims.by_attention(process_id, views.RANKS, first, ROWS)
    return claims, listing.cursor(*behind) if behind else None


def _here(process_id: str, known: dict[str, Any], **changed: Any) -> str:
    """The address of this page, but for what changes."""
    return url("processes", process_id, **(known | changed))


def _nodes(process: Process, claims: dict[str, int]) -> list[tuple[str, int]]:
    """The nodes that can be chosen, final outputs first, with the number of their claims."""
    terminals = {name: claims.get(name, 0) for name in process.terminals[:MOST_NODES]}
    return list((terminals | claims).items())


async def _called(app: Application, process_id: str, names: list[str]) -> dict[str, str]:
    """Return what people call those of some nodes that have a title or a name."""
    read = await app.nodes.with_metadata(process_id, names) if names else []
    return names_of((one.node_id, one.metadata) for one in read)


def _first_node(process: Process, nodes: list[tuple[str, int]]) -> str | None:
    """The final output with most claims; where none has any, the node with most."""
    terminals = set(process.terminals)
    ranked = sorted(nodes, key=lambda one: (not one[1], one[0] not in terminals, -one[1]))
    return ranked[0][0] if ranked else None


async def _answer(
    app: Application, process_id: str, node_id: str | None, part: int, wanted: views.Wanted
) -> tuple[AnswerText | None, str | None, bool]:
    """A part of a text with its claims, the text itself if it is long, and whether all are in."""
    if node_id is None:
        return None, None, True
    _, text = await app.nodes.text(process_id, node_id)
    part = min(part, max(-(-len(text) // PART), 1))
    start, end = (part - 1) * PART - SLACK, part * PART
    placed, every = await app.claims.in_text(process_id, node_id, start, end)
    answer = answer_text(text, views.text_claims(placed, wanted), part)
    return answer, text if answer.parts > 1 else None, every


async def _picture(app: Application, process: Process, claim_id: str) -> Markup | None:
    """Return the picture that the page begins with; None: the claim was removed meanwhile."""
    with suppress(NotFound):
        return await claim_picture(app, process, await app.claims.get(process.process_id, claim_id))
    return None


async def _timeline(app: Application, process: Process, unsupported: int) -> Timeline | None:
    """Return the steps of a run of agents; None: it is another process."""
    if is_dialogue(process.terminals) or not may_be_run(process):
        return None
    nodes, _ = await app.drawings.search(process.process_id, ANY_NODE, (-1, -1), MOST_STEPS)
    if not is_run(process, nodes):
        return None
    if not unsupported:
        return timeline(process, nodes, ())
    page, _ = await app.checking.findings(process.process_id, limit=PLACED)
    return timeline(process, nodes, page.findings)


@router.get("/processes/{process_id}/near-duplicates", dependencies=[needs(Scope.READ)])
async def near_duplicates(request: Request, app: App, process_id: str) -> HTMLResponse:
    """Claims that may repeat others, for a person to compare; nothing is removed here."""
    process = await app.processes.get(process_id)
    found = await app.claims.near_duplicates(process_id)
    texts = {claim.claim_id: claim.text for claim in await app.claims.all(process_id)}
    pairs = [
        (one, texts[one.like], texts[one.claim_id])
        for one in found[:MOST_PAIRS]
        if one.like in texts and one.claim_id in texts
    ]
    return render(
        request,
        "near_duplicates.html",
        process=process,
        pairs=pairs,
        more=max(0, len(found) - MOST_PAIRS),
    )


_READ = [needs(Scope.READ)]

Kinds = Annotated[list[str], Query()]
Nodes = Annotated[list[str], Query()]

_FORMATS = {suffix: name for name, suffix in SUFFIXES.items()}
_DOSSIERS = ("html", "json")


@router.get("/processes/{process_id}/report.{suffix}", dependencies=_READ)
async def download_report(
    request: Request,
    process_id: ProcessId,
    suffix: str,
    verdict: Kinds = [],  # noqa: B006 (FastAPI copies it)
    node: Nodes = [],  # noqa: B006
    strict: bool = False,
) -> HeldFile:
    """A report of a process, or of the claims that are asked for."""
    _check_suffix("report", suffix, _FORMATS)
    wanted = ClaimSelection(node_ids=tuple(node), states=states_named(verdict))
    asked = Asked(_FORMATS[suffix], strict=strict)
    return await _file(request, process_id, wanted, asked, f"{process_id}-report.{suffix}")


@router.get("/processes/{process_id}/dossier.{suffix}", dependencies=_READ)
async def download_dossier(request: Request, process_id: ProcessId, suffix: str) -> HeldFile:
    """All there is of every claim of a process, for somebody without access."""
    _check_suffix("dossier", suffix, _DOSSIERS)
    asked = Asked(suffix, dossier=True)
    return await _file(
        request, process_id, ClaimSelection(), asked, f"{process_id}-dossier.{suffix}"
    )


@router.get("/processes/{process_id}/claims/{claim_id}/dossier.{suffix}", dependencies=_READ)
async def download_claim_dossier(
    request: Request, process_id: ProcessId, claim_id: ClaimId, suffix: str
) -> HeldFile:
    """All there is of one claim."""
    _check_suffix("dossier", suffix, _DOSSIERS)
    asked = Asked(suffix, dossier=True)
    name = f"{process_id}-{claim_id}-dossier.{suffix}"
    return await _file(request, process_id, ClaimSelection(claim_ids=(claim_id,)), asked, name)


def _check_suffix(what: str, suffix: str, known: Iterable[str]) -> None:
    if suffix not in known:
        names = ", ".join(f"{what}.{one}" for one in known)
        raise NotFound(f"There is no {what}.{suffix[:20]}; there are {names}.")


async def _file(
    request: Request, process_id: str, wanted: ClaimSelection, asked: Asked, name: str
) -> HeldFile:
    origin = await StoredSource.read(request.app.state.app, process_id, wanted)
    return await download(pieces(origin, asked), name, MEDIA_TYPES[asked.format])
