"""Templates become pages here, with what every page knows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.http import request_id
from veritrail_graph.api.rendering import environment
from veritrail_graph.api.web import links


@lru_cache(maxsize=1)
def page_environment() -> Environment:
    """The environment of pages, whose templates make addresses."""
    made = environment()
    made.globals["url"] = links.url
    return made


def warm_up() -> None:
    """Read all templates of pages, so that no first visitor waits for it."""
    made = page_environment()
    for name in made.list_templates(extensions=["html"]):
        made.get_template(name)


def render(
    request: Request,
    template: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **context: Any,
) -> HTMLResponse:
    """A page, from a template and what it shows."""
    known = shared(request) | context
    return HTMLResponse(page_environment().get_template(template).render(known), status, headers)


def shared(request: Request) -> dict[str, Any]:
    """What every template knows."""
    from veritrail_graph.api.web.forms import form_token

    caller: Caller | None = getattr(request.state, "caller", None)
    return {
        "caller": caller,
        "is_signed_in": caller is not None and getattr(request.state, "session", None) is not None,
        "may": (lambda scope: caller is not None and caller.may(Scope(scope))),
        "form_token": lambda: form_token(request),
        "here": links.sent(request.scope),
        "path": request.url.path,
        "request_id": request_id.current.get(),
    }
