"""Addresses of pages: made in one place, so that an id may hold any character."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote, urlencode

from starlette.types import Scope

ESCAPE = "~"


def url(*segments: str | int, **query: object) -> str:
    """The address of a page: `url("processes", process_id, "claims", claim_id, review="open")`.

    Args:
        *segments: The path, as it is meant; every segment is encoded separately.
        **query: The parameters; None is left out, a list is repeated as often
            as it has members, and True is 1.
    """
    path = "/" + "/".join(_segment(str(one)) for one in segments)
    given = [(name, one) for name, value in query.items() for one in _values(value)]
    return f"{path}?{urlencode(given)}" if given else path


def sent(scope: Scope) -> str:
    """The address of a request as it was sent, path and query: the path of a scope is decoded."""
    raw: bytes | None = scope.get("raw_path")
    path = scope["path"] if raw is None else raw.decode("utf-8", "replace")
    query = scope.get("query_string", b"").decode("utf-8", "replace")
    return f"{path}?{query}" if query else path


def plain(segment: str) -> str:
    """The id that `url` was given, of a segment as a route gets it; only node ids need it."""
    return segment[len(ESCAPE) :] if segment.startswith(ESCAPE) else segment


def inside(path: str | None) -> str:
    """An address to go on to: a page of ours, whatever was asked for.

    Browsers take a backslash for a slash, and drop line breaks and tabs.
    """
    wanted = path or ""
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/v1/"))
    is_clean = "\\" not in wanted and all(" " <= one != "\x7f" for one in wanted)
    return wanted if is_ours and is_clean else "/"


@lru_cache(maxsize=4_096)  # the id of a process is in every address of its pages
def _segment(text: str) -> str:
    # Browsers go up a folder at a segment of dots, also where they are encoded.
    if text.startswith(ESCAPE) or text in (".", ".."):
        text = ESCAPE + text
    return quote(text, safe="")


def _values(value: object) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return ["1"]
    if isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    return [str(value)]
