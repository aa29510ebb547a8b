"""Who reviews on a page: the name of the key or, where keys have no owner, a name that is typed."""

from __future__ import annotations

from urllib.parse import quote, unquote

from fastapi import Request, Response

from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.auth.key_cache import ENVIRONMENT
from veritrail_graph.api.web.views.review_rows import Reviewer
from veritrail_graph.graph.reviewing import text_faults

COOKIE = "veritrail_reviewer"

_KEPT_SECONDS = 180 * 86_400


def reviewer_of(request: Request, caller: Caller) -> Reviewer:
    """Who reviews.

    A key speaks for its owner, and no other name can be given with it. The key that is set from
    outside belongs to whoever runs the service, and says nothing of persons.
    """
    if caller.key_id is not None and caller != ENVIRONMENT:
        return Reviewer(caller.name, by_key=True)
    name = unquote(request.cookies.get(COOKIE, "")).strip()
    return Reviewer(None if not name or text_faults("", name) else name)


def keep_name(answer: Response, name: str) -> None:
    """Let the browser keep the name of whoever reviews."""
    answer.set_cookie(
        COOKIE, quote(name), max_age=_KEPT_SECONDS, path="/", httponly=True, samesite="lax"
    )
