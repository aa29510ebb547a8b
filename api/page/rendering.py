"""Templates become pages here, with what every page knows, and forms are sent from one of ours.

Every form carries a token that only who may read our pages knows. It is made of what identifies
the sender (the session, the key, or a secret of this process where no key is asked for) and looks
different on every page, so that nothing can be learnt from how well a page compresses.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment
from markupsafe import Markup

from veritrail_graph.api.auth.access import Caller, NotAllowed, Scope
from veritrail_graph.api.page import links
from veritrail_graph.api.page.plugin_pages import links_beside, page_packages
from veritrail_graph.api.service.http import request_id
from veritrail_graph.api.show.rendering import environment
from veritrail_graph.api.show.texts import file_name


@lru_cache(maxsize=1)
def page_environment() -> Environment:
    """The environment of pages, whose templates make addresses."""
    made = environment(*page_packages())
    made.globals.update(url=links.url, links_beside=links_beside)
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
    """Return what every template knows."""
    caller: Caller | None = getattr(request.state, "caller", None)
    return {
        "caller": caller,
        "is_signed_in": caller is not None and getattr(request.state, "session", None) is not None,
        "is_guest": caller is not None and caller.only_process is not None,
        "may": (lambda *scopes: caller is not None and all(map(caller.may, map(Scope, scopes)))),
        "form_token": lambda: form_token(request),
        "here": links.sent(request.scope),
        "path": request.url.path,
        "request_id": request_id.current.get(),
    }


FIELD = "form_token"
_SIZE = 32
_OWN = secrets.token_bytes(_SIZE)


class ForeignForm(NotAllowed):
    """A form was sent that no page of ours gave out."""

    code = "form_expired"


def form_token(request: Request) -> Markup:
    """The hidden field that every form has."""
    pad = secrets.token_bytes(_SIZE)
    value = base64.urlsafe_b64encode(pad + _mixed(pad, _known(request))).decode("ascii")
    return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, value)


def check_token(request: Request, given: str) -> None:
    """See that a form is one of ours.

    Raises:
        ForeignForm: It is not.
    """
    try:
        read = base64.urlsafe_b64decode(given.encode("ascii", "replace"))
    except (ValueError, binascii.Error):
        read = b""
    pad, rest = read[:_SIZE], read[_SIZE:]
    if len(rest) != _SIZE or not hmac.compare_digest(_mixed(pad, rest), _known(request)):
        raise ForeignForm(
            "This form is too old, or was not made by this service. Go back, load the page again "
            "and send it once more; nothing was changed."
        )


async def _from_our_page(request: Request, form_token: Annotated[str, Form()] = "") -> None:
    check_token(request, form_token)


FromOurPage: Any = Depends(_from_our_page)
"""What every POST of a page asks for: `dependencies=[FromOurPage]`."""


def _known(request: Request) -> bytes:
    secret: bytes = getattr(request.state, "form_secret", None) or _OWN
    return hashlib.sha256(b"form\0" + secret).digest()


def _mixed(one: bytes, other: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(one, other, strict=True))


def csv_file(name: str, text: str) -> Response:
    """A table as a file to keep; the mark at its beginning tells spreadsheets that it is UTF-8."""
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name(name)}"',
        "Cache-Control": "private, no-store",
    }
    content = text.encode("utf-8-sig", "replace")
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)
