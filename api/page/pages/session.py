"""Signing in with a key, and out again; style sheets, scripts and icons."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from veritrail_graph.api.auth.access import NotAllowed
from veritrail_graph.api.auth.key_cache import Unauthorized
from veritrail_graph.api.auth.sessions import SECONDS
from veritrail_graph.api.page.links import inside
from veritrail_graph.api.page.plugin_pages import page_packages
from veritrail_graph.api.page.rendering import FromOurPage, render
from veritrail_graph.api.service.http.access import App, Calling
from veritrail_graph.api.service.http.attempts import TooManyAttempts
from veritrail_graph.api.service.http.guard import COOKIE, cookie_of, crosses
from veritrail_graph.api.show.rendering import PREFIX, assets

router = APIRouter(include_in_schema=False)


@router.get("/sign-in")
async def show_sign_in(request: Request, next: str = "/") -> Response:  # noqa: A002  # its name
    """Answer with the form for a key; who needs none, or has shown one, goes on."""
    state = request.app.state
    token = cookie_of(request.headers)
    is_in = token is not None and await state.sessions.admit(token) is not None
    if is_in or not await state.ring.asks():
        return RedirectResponse(inside(next), 303)
    return render(request, "sign_in.html", next=inside(next), wrong=None)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    app: App,
    key: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002  # its name
) -> Response:
    """Open a session for a caller who shows a key.

    There is no token to ask for yet; browsers say which page sent a form.
    """
    state = request.app.state
    if crosses(request.headers, frozenset()):
        raise NotAllowed("A page from elsewhere may not sign anybody in here.", code="cross_origin")
    onward = inside(next)
    if not await state.ring.asks():
        return RedirectResponse(onward, 303)
    try:
        if not key.strip():
            raise Unauthorized("Enter a key.")
        admitted = await state.attempts.admit(request.scope, key.strip())
    except Unauthorized as error:
        return render(request, "sign_in.html", 401, next=onward, wrong=str(error))
    except TooManyAttempts as error:
        words = f"{error} Try again in {error.wait} s."
        wait = {"Retry-After": str(error.wait)}
        return render(request, "sign_in.html", 429, wait, next=onward, wrong=words)
    caller = admitted.caller
    token = await state.sessions.open(caller.key_id)
    await app.audit.record(caller, "session.open", target=caller.key_id)
    answer = RedirectResponse(onward, 303)
    # Lax, not Strict: a link in a message to a claim shall open it. What changes something is
    # sent by POST, which a page from elsewhere cannot send with this cookie.
    answer.set_cookie(COOKIE, token, SECONDS, secure=is_tls(request), httponly=True, samesite="lax")
    return answer


@router.post("/sign-out", dependencies=[FromOurPage])
async def sign_out(request: Request, app: App, caller: Calling) -> Response:
    """End the session."""
    token = getattr(request.state, "session", None)
    if token is not None:
        await request.app.state.sessions.end(token)
        await app.audit.record(caller, "session.end", target=caller.key_id or "local")
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return answer


def is_tls(request: Request) -> bool:
    """Return whether the browser asked by https, also where a proxy in front ended it.

    A sign counts from any sender: a false one makes a cookie stricter, and opens nothing.
    """
    headers = request.headers
    schemes = {request.url.scheme, urlsplit(headers.get("origin", "")).scheme}
    schemes.add(headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower())
    if "https" in schemes or _FORWARDED_BY_TLS.search(headers.get("forwarded", "")):
        return True
    # Browsers send it to addresses of https and of this machine only.
    return "sec-fetch-site" in headers and not _is_this_machine(request.url.hostname or "")


_FORWARDED_BY_TLS = re.compile(r'\bproto="?https\b', re.IGNORECASE)


def _is_this_machine(host: str) -> bool:
    return host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")


FOR_EVER = "public, max-age=31536000, immutable"


@router.get(PREFIX + "{name}")
async def get_static(request: Request, name: str, v: str | None = None) -> Response:
    """A file; cached without end where the address names its content, else asked for each time."""
    asset = assets(*page_packages()).get(name)
    if asset is None:
        raise HTTPException(404)
    tag = f'"{asset.version}"'
    keep = FOR_EVER if v == asset.version else "no-cache"
    headers = {"Cache-Control": keep, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)


@router.get("/favicon.ico")
async def favicon() -> Response:
    """The mark, for browsers that ask for it by its old name."""
    asset = assets()["mark.svg"]
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(asset.content, media_type=asset.media_type, headers=headers)
