"""Links that show a process to people without a key: opened, made, listed and ended."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.sharing import NewShare
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.faults import ADVICE
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.pages.session import is_tls
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.requests.limits import LINK_DAYS, MOST_LINK_DAYS
from veritrail_graph.api.service.http.access import App, Calling, needs
from veritrail_graph.api.service.http.guard import SHARE_COOKIE
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ProcessId
from veritrail_graph.graph.errors import InputError, NotFound, with_advice

router = APIRouter(route_class=OneVersion, include_in_schema=False)

_POST = [needs(Scope.READ, Scope.WRITE), FromOurPage]


@router.get("/shared/{token}")
async def open_link(request: Request, app: App, token: str) -> Response:
    """Let the browser keep the link, and go on to what it shows.

    Raises:
        NotFound: It has ended, or there was none.
    """
    link = await app.sharing.links.admit(token)
    if link is None:
        raise NotFound("This link has ended, or was never made. Ask for a new one.")
    answer = RedirectResponse(url("processes", link.process_id), 303)
    seconds = max(int(link.expires_at - time.time()), 1)
    answer.set_cookie(
        SHARE_COOKIE, token, seconds, secure=is_tls(request), httponly=True, samesite="lax"
    )
    return answer


@router.get("/processes/{process_id}/share", dependencies=[needs(Scope.READ, Scope.WRITE)])
async def show(request: Request, app: App, process_id: ProcessId) -> HTMLResponse:
    """The links of a process, and a form that makes one."""
    return await _page(request, app, process_id)


async def _page(
    request: Request,
    app: Application,
    process_id: str,
    status: int = 200,
    *,
    made: NewShare | None = None,
    wrong: str | None = None,
    days: str = str(LINK_DAYS),
    note: str = "",
) -> HTMLResponse:
    process = await app.processes.get(process_id)
    found = await app.sharing.of_process(process_id)
    address = str(request.base_url.replace(scheme="https" if is_tls(request) else "http"))
    address = address.rstrip("/")
    return render(
        request,
        "share.html",
        status,
        process=process,
        shares=found.shares,
        address=f"{address}{made.path}" if made else None,
        made=made,
        wrong=wrong,
        days=days,
        note=note,
        most=MOST_LINK_DAYS,
        asks=await request.app.state.ring.asks(),
    )


@router.post("/processes/{process_id}/share", dependencies=_POST)
async def make(
    request: Request,
    app: App,
    caller: Calling,
    process_id: ProcessId,
    days: Annotated[str, Form(max_length=20)] = "",
    note: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Make a link, and show it this once."""
    try:
        try:
            number = float(days.replace(",", "."))
        except ValueError:
            raise InputError("Type a number of days.") from None
        made = await app.sharing.create(process_id, days=number, note=note, by=caller)
    except NotFound:
        raise
    except InputError as error:
        words = with_advice(error, ADVICE)
        return await _page(request, app, process_id, 422, wrong=words, days=days, note=note)
    return await _page(request, app, process_id, 201, made=made)


@router.post("/processes/{process_id}/share/end", dependencies=_POST)
async def end(
    app: App,
    caller: Calling,
    process_id: ProcessId,
    share_id: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """End a link at once."""
    await app.sharing.revoke(process_id, share_id, by=caller)
    return RedirectResponse(url("processes", process_id, "share"), 303)
