"""A node: its text, what it was made from, what was made of it, and the claims that rest on it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.links import plain, url
from veritrail_graph.api.page.rendering import render
from veritrail_graph.api.page.views.node import as_text, cited_here, pieces_near, resting
from veritrail_graph.api.service.http.access import App, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import LONGEST_CURSOR, Listing, ProcessId
from veritrail_graph.api.show.sources import place_of
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.queried import QueryRows

router = APIRouter(route_class=OneVersion, include_in_schema=False)

AT_A_TIME = 25
"""Neighbours, and claims, that are shown at a time."""

MOST_RESTING = 1_000
"""Claims that rest on a node that are shown at most."""

BESIDE = 4_000
"""Characters of the text that is shown beside a drawing."""

NodeId = Annotated[str, Path(description="The node, by its node_id.")]
PlaceInList = Annotated[str | None, Query(max_length=LONGEST_CURSOR)]


@router.get("/processes/{process_id}/nodes/{node_id}", dependencies=[needs(Scope.READ)])
async def show_node(
    request: Request,
    app: App,
    process_id: ProcessId,
    node_id: NodeId,
    piece: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    sources: PlaceInList = None,
    feeds: PlaceInList = None,
    rest: Annotated[int | None, Query(ge=1, le=MOST_RESTING)] = None,
    part: Literal["text", "rest"] | None = None,
) -> HTMLResponse:
    """A node; `part` gives a part of the page, for the scripts of pages."""
    node_id = plain(node_id)
    if part is not None:
        return await _part(request, app, process_id, node_id, part, rest or AT_A_TIME)
    node, text, process = await asyncio.gather(
        app.nodes.listed(process_id, node_id),
        app.nodes.piece(process_id, node_id, piece),
        app.processes.get(process_id),
    )
    upstream, downstream, cited, errors, attributed = await asyncio.gather(
        _neighbours(app, process_id, node_id, Direction.UPSTREAM, sources),
        _neighbours(app, process_id, node_id, Direction.DOWNSTREAM, feeds),
        app.nodes.cited_here(process_id, node_id),
        app.nodes.errors_here(process_id, node_id, AT_A_TIME),
        app.attributions.of_node(process_id, node_id, limit=1),
    )
    return render(
        request,
        "node.html",
        process=process,
        node=node,
        text=text,
        pieces=pieces_near(text.number, text.pieces),
        metadata=as_text(text.metadata),
        in_document=place_of(text.metadata),
        upstream=upstream,
        downstream=downstream,
        cited=cited_here(cited[0], is_cut=cited[1]),
        errors=errors[0],
        more_errors=errors[1],
        is_attributed=bool(attributed.sentences),
        claims=await _resting(app, process_id, node_id, rest) if rest else None,
        base={"piece": piece if piece > 1 else None, "sources": sources, "feeds": feeds},
    )


async def _part(
    request: Request, app: Application, process_id: str, node_id: str, part: str, rest: int
) -> HTMLResponse:
    """One part of the page."""
    if part == "text":
        text = await app.nodes.piece(process_id, node_id)
        return render(request, "node_text.html", text=text, most=BESIDE)
    claims = await _resting(app, process_id, node_id, rest)
    return render(request, "node_rest.html", process_id=process_id, claims=claims)


async def _neighbours(
    app: Application, process_id: str, node_id: str, way: Direction, cursor: str | None
) -> dict[str, Any]:
    listing = Listing("page-neighbours", (process_id, node_id, way.value))
    after = listing.place(cursor, (-1, -1))
    nodes, more = await app.nodes.neighbours(process_id, node_id, way, after, AT_A_TIME)
    return {
        "nodes": nodes,
        "next": listing.cursor(*nodes[-1].place) if more else None,
        "is_first": cursor is None,
    }


async def _resting(app: Application, process_id: str, node_id: str, most: int) -> dict[str, Any]:
    asked = {"process_id": process_id, "node_id": node_id, "limit": most}
    found = await app.queries.run("impact", asked)
    rows = _rows(found)
    # The query knows verdicts only; what could not be checked is no "not checked".
    without = [row["claim_id"] for row in rows if not row["verdict"]]
    known = await app.claims.some(process_id, without) if without else {}
    ends = {name: (one.status, one.error) for name, one in known.items()}
    is_last = most >= MOST_RESTING
    following = min(most * 4, MOST_RESTING)
    return {
        "rows": resting(rows, ends),
        "is_indicative": bool(found.indicative),
        "is_cut": found.truncated and is_last,
        "more": url("processes", process_id, "nodes", node_id, rest=following) + "#rest"
        if found.truncated and not is_last
        else None,
    }


def _rows(found: QueryRows) -> list[dict[str, Any]]:
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]
