"""The graph of a process: stages, or the surroundings of a claim or a node; and lists of nodes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.names import ProcessId
from veritrail_graph.api.http.pages import LONGEST_CURSOR, Listing
from veritrail_graph.api.web.edge_counts import EdgeCounts
from veritrail_graph.api.web.exploring import explore
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.views.explored import PART_WORDS, Explored, Part
from veritrail_graph.api.web.views.marks import mark_now, mark_of
from veritrail_graph.api.web.views.node_list import Listed, listed_among, listed_rows
from veritrail_graph.api.web.views.overview import overview_of
from veritrail_graph.api.web.views.picture import draw
from veritrail_graph.api.web.views.selection import (
    AT_A_TIME,
    MOST_DRAWN,
    MOST_OPENED,
    Selection,
    read_opened,
)
from veritrail_graph.graph.importers.process_file.plain import MAX_NODE_ID, MAX_STAGE
from veritrail_graph.graph.model import Process, Role, Verdict
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.judged_claims import ClaimFilter
from veritrail_graph.graph.store.listed_nodes import ANY_NODE, NodeQuery
from veritrail_graph.graph.store.node_search import NodeSearch
from veritrail_graph.graph.store.placed_claims import Tally, tally

router = APIRouter(include_in_schema=False)

LONGEST_SEARCH = 200
LONGEST_ID = 200
LONGEST_OPENED = 2_000
ROWS = 50
"""Nodes of one page of a list."""

STARTS = 5
"""Claims and final outputs that a picture can be begun with from the stages."""


def selection_of(
    claim: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID)] = None,
    verification: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID)] = None,
    node: Annotated[str | None, Query(min_length=1, max_length=MAX_NODE_ID)] = None,
    open: Annotated[str | None, Query(max_length=LONGEST_OPENED)] = None,  # noqa: A002
    at: Annotated[int | None, Query(ge=0)] = None,
    q: Annotated[str | None, Query(max_length=LONGEST_SEARCH)] = None,
    stage: Annotated[str | None, Query(pattern=r"^\d{0,10}$")] = None,
    role: Annotated[str | None, Query(pattern=r"^(root|intermediate|terminal|)$")] = None,
    kind: Annotated[str | None, Query(max_length=MAX_NODE_ID)] = None,
    cited: bool = False,
    all: bool = False,  # noqa: A002
    cursor: Annotated[str | None, Query(max_length=LONGEST_CURSOR)] = None,
) -> Selection:
    """What an address of the page selects; an empty field of a form is none."""
    opened, left_out = read_opened(open)
    wanted_stage = min(int(stage), MAX_STAGE) if stage else None
    wanted_role = Role(role) if role else None
    wanted = NodeQuery(q or None, wanted_stage, wanted_role, kind or None, True if cited else None)
    return Selection(claim, verification, node, opened, at, wanted, all, cursor or None, left_out)


@router.get("/processes/{process_id}/graph", dependencies=[needs(Scope.READ)])
async def show_graph(
    request: Request, process_id: ProcessId, selection: Annotated[Selection, Depends(selection_of)]
) -> HTMLResponse:
    """Stages, or a part of the process around a claim or a node."""
    store = await request.app.state.graph.store()
    if selection.is_focused:
        return await _focused(request, store, process_id, selection)
    process, counts, listed = await asyncio.gather(
        store.processes.get(process_id),
        tally(store.database, process_id),
        _everywhere(store, process_id, selection),
    )
    counted, starts = await asyncio.gather(
        edge_counts(request).of(store, process), _starts(store, process, counts)
    )
    return render(
        request,
        "graph.html",
        **_shared(process, selection, listed),
        overview=overview_of(process, counts.together, counted.edges, counts.judged),
        counts=counts,
        counted=counted,
        starts=starts,
        picture=None,
    )


async def _focused(
    request: Request, store: Store, process_id: str, selection: Selection
) -> HTMLResponse:
    process, explored = await asyncio.gather(
        store.processes.get(process_id), explore(store, process_id, selection)
    )
    picture = await asyncio.to_thread(draw, explored, process, selection)
    selection = replace(selection, opened=explored.opened)
    if selection.everywhere:
        listed = await _everywhere(store, process_id, selection)
    else:
        listed = await _in_picture(store, process_id, selection, explored)
    return render(
        request,
        "graph.html",
        **_shared(process, selection, listed),
        overview=None,
        picture=picture,
        explored=explored,
        mark=_mark(explored),
        looked_at=picture.box_at(selection.at) or picture.box_of(explored.focus.begin),
    )


def edge_counts(request: Request) -> EdgeCounts:
    """The counts that this service keeps."""
    state = request.app.state
    if not hasattr(state, "edge_counts"):
        state.edge_counts = EdgeCounts()
    kept: EdgeCounts = state.edge_counts
    return kept


def _shared(process: Process, selection: Selection, listed: Listed | None) -> dict[str, Any]:
    return {
        "process": process,
        "selection": selection,
        "listed": listed,
        "limits": {"drawn": MOST_DRAWN, "opened": MOST_OPENED, "step": AT_A_TIME},
        "parts": {part.value: (part, *PART_WORDS[part]) for part in Part},
    }


def _mark(explored: Explored) -> Any:
    found = explored.verification
    if found is None:
        return mark_of(None) if explored.focus.claim is not None else None
    return mark_now(found)


@dataclass(frozen=True, slots=True)
class _Starts:
    """What a picture can be begun with: claims that went wrong, and final outputs."""

    claims: tuple[Any, ...]
    unsupported: int
    terminals: tuple[str, ...]
    more_terminals: int


async def _starts(store: Store, process: Process, counts: Tally) -> _Starts:
    unsupported = counts.states.get(Verdict.NOT_FULLY_SUPPORTED.value, 0)
    wanted = ClaimFilter(verdict=Verdict.NOT_FULLY_SUPPORTED.value if unsupported else None)
    claims, _ = await store.claims.page(process.process_id, wanted, limit=STARTS)
    terminals = process.terminals
    return _Starts(tuple(claims), unsupported, terminals[:STARTS], max(0, len(terminals) - STARTS))


async def _everywhere(store: Store, process_id: str, selection: Selection) -> Listed | None:
    """Nodes of the whole process; looked for only where somebody asks, as it takes a while."""
    if not selection.everywhere:
        return None
    listing = _listing(process_id, selection)
    after = listing.place(selection.cursor, (-1, -1))
    nodes, more = await NodeSearch(store.database).search(process_id, selection.wanted, after, ROWS)
    following = listing.cursor(*nodes[-1].place) if more else None
    return listed_rows(nodes, selection, following)


async def _in_picture(
    store: Store, process_id: str, selection: Selection, explored: Explored
) -> Listed:
    """Those nodes of the picture that are looked for."""
    nodes = explored.nodes
    if selection.wanted != ANY_NODE:
        names = [node.node_id for node in nodes]
        search = NodeSearch(store.database)
        nodes = tuple(await search.among(process_id, names, selection.wanted))
    listing = _listing(process_id, selection)
    after = listing.place(selection.cursor, (-1, -1))
    return listed_among(
        nodes, explored, selection, after, ROWS, lambda place: listing.cursor(*place)
    )


def _listing(process_id: str, selection: Selection) -> Listing:
    filters = [pair for pair in selection.query if pair[0] not in ("open", "at")]
    return Listing("page-nodes", (process_id, filters))
