"""More of a trail than the page of a claim shows: sentences, nodes of a stage, routes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.names import ClaimId, ProcessId
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.trails import outline_of, texts_of
from veritrail_graph.api.web.views.excerpts import shown_sentences
from veritrail_graph.api.web.views.routes import routes_of
from veritrail_graph.api.web.views.trail import cards_of_stage, cited_in, nodes_of_stage
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.importers.process_file.plain import MAX_NODE_ID, MAX_STAGE
from veritrail_graph.graph.model import Process, Verification
from veritrail_graph.graph.outline import TrailOutline
from veritrail_graph.graph.store import Store

router = APIRouter(include_in_schema=False, prefix="/processes/{process_id}/claims/{claim_id}")

MORE = 50
"""Sentences that are shown at a time."""

MORE_CARDS = 20
"""Nodes that are shown at a time."""

MORE_ROUTES = 50
"""Routes that are shown at a time."""

FURTHEST_ROUTE = 10_000
"""Routes beyond this one are counted and not listed."""

Name = Annotated[str, Query(min_length=1, max_length=200)]
After = Annotated[int, Query(ge=0, le=10_000_000)]


@router.get("/evidence", dependencies=[needs(Scope.READ)])
async def show_more(
    request: Request,
    process_id: ProcessId,
    claim_id: ClaimId,
    verification: Name,
    node: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
    stage: Annotated[int | None, Query(ge=0, le=MAX_STAGE)] = None,
    iteration: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    after: After = 0,
    fragment: bool = False,
) -> HTMLResponse:
    """More of a trail: further sentences of a node, or further nodes of a stage.

    With an iteration, the trail is that of the iterations up to it.

    Raises:
        NotFound: The trail is not stored (any more).
    """
    store = await request.app.state.graph.store()
    outline, process = await _trail(store, process_id, claim_id, verification)

    numbers = {one.number for one in outline.verification.iterations}
    current = iteration if iteration in numbers else None
    here = {"verification": verification, "iteration": current, "node": node, "stage": stage}

    def further(**query: Any) -> str:
        return url("processes", process_id, "claims", claim_id, "evidence", **{**here, **query})

    known: dict[str, Any] = {
        "process": process,
        "claim": outline.verification.claim,
        "verification": outline.verification,
        "node": node,
        "stage": stage,
        "stage_name": process.stage_names.get(stage) if stage is not None else None,
        "back": _back(process_id, claim_id, verification, current),
        "evidence_url": further,
    }
    if node is not None:
        found = await _sentences(store, outline.verification, node, after)
    else:
        found = await _cards(store, outline, process, stage, current, after)
    template = "parts/more_evidence.html" if fragment else "evidence.html"
    return render(request, template, **known, **found)


@router.get("/routes", dependencies=[needs(Scope.READ)])
async def show_routes(
    request: Request,
    process_id: ProcessId,
    claim_id: ClaimId,
    verification: Name,
    after: Annotated[int, Query(ge=0, le=FURTHEST_ROUTE - MORE_ROUTES)] = 0,
    fragment: bool = False,
) -> HTMLResponse:
    """Further routes from a source to the answer.

    Raises:
        NotFound: The trail is not stored (any more).
    """
    store = await request.app.state.graph.store()
    outline, process = await _trail(store, process_id, claim_id, verification)
    end = after + MORE_ROUTES
    found = routes_of(outline.verification, end)
    is_more = len(found.routes) == end and end < found.total
    place = ("processes", process_id, "claims", claim_id, "routes")
    return render(
        request,
        "parts/more_routes.html" if fragment else "routes.html",
        process=process,
        claim=outline.verification.claim,
        routes=found,
        shown=found.routes[after:],
        after=after,
        following=url(*place, verification=verification, after=end)
        if is_more and end < FURTHEST_ROUTE
        else None,
        back=_back(process_id, claim_id, verification),
    )


async def _trail(
    store: Store, process_id: str, claim_id: str, name: str
) -> tuple[TrailOutline, Process]:
    outline = await outline_of(store, process_id, claim_id, name)
    if outline is None:
        raise NotFound(
            "This trail is not stored any more: the verification was deleted, or its process "
            "replaced. Go back to the claim."
        )
    return outline, await store.processes.get(process_id)


def _back(process_id: str, claim_id: str, verification: str, current: int | None = None) -> str:
    place = ("processes", process_id, "claims", claim_id)
    return url(*place, verification=verification, iteration=current)


async def _sentences(
    store: Store, verification: Verification, node_id: str, after: int
) -> dict[str, Any]:
    every = cited_in(verification, node_id)
    texts = await texts_of(store, verification.process_id, [node_id])
    end = after + MORE
    return {
        "sentences": shown_sentences(every[after:end], texts.get(node_id)),
        "cards": (),
        "after": after,
        "total": len(every),
        "following": end if end < len(every) else None,
    }


async def _cards(
    store: Store,
    outline: TrailOutline,
    process: Process,
    stage: int | None,
    current: int | None,
    after: int,
) -> dict[str, Any]:
    names = nodes_of_stage(outline.verification, stage, current)
    end = after + MORE_CARDS
    texts = await texts_of(store, process.process_id, names[after:end])
    return {
        "sentences": (),
        "cards": cards_of_stage(outline.verification, stage, after, MORE_CARDS, texts, current),
        "after": after,
        "total": len(names),
        "following": end if end < len(names) else None,
    }
