"""The list of processes."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.pages import LONGEST_CURSOR, Listing
from veritrail_graph.api.web.links import url
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.views.processes import PAGE, item_of, unready, wanted
from veritrail_graph.graph.store.standing import StandingStore

router = APIRouter(include_in_schema=False)

LONGEST_SEARCH = 200


@router.get("/", dependencies=[needs(Scope.READ)])
async def list_processes(
    request: Request,
    q: Annotated[str, Query(max_length=LONGEST_SEARCH)] = "",
    cursor: Annotated[str | None, Query(max_length=LONGEST_CURSOR)] = None,
) -> HTMLResponse:
    """The processes, those that need attention first."""
    state = request.app.state
    store = await state.graph.store()
    listing = Listing("pages of processes", (q,))
    after = listing.place(cursor, (0, 0, 0, "")) if cursor else None
    order, jobs, states = await asyncio.gather(
        state.standings.order(), state.jobs.by_process(), store.processes.unfinished()
    )
    found = wanted(order.ranked, q, after)
    page = found[:PAGE]
    standing = await StandingStore(store.database).of([one.named.process_id for one in page])
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
        unready=unready(states)[:PAGE],
        is_known=order.is_known,
        total=len(order.ranked) + order.waiting,
        matching=len(wanted(order.ranked, q, None)) if q else None,
        waiting=order.waiting,
        q=q,
        first=url(q=q or None) if cursor else None,
        next=url(q=q or None, cursor=listing.cursor(*page[-1].place)) if is_more else None,
    )
