"""Routing on the path as it was sent, so that an id may hold any character, slashes too.

A server hands over a path that is decoded: what was one id with a slash in it has become two
segments. Here every segment is decoded separately, but for slashes and percent signs; those are
decoded when a route has matched.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

from veritrail_graph.api.service.http.problems import problem


class SegmentConvertor(StringConvertor):
    """A parameter of a path: one segment, decoded to its end."""

    def convert(self, value: str) -> str:
        """The text that was sent."""
        return value.replace("%2F", "/").replace("%25", "%")

    def to_string(self, value: str) -> str:
        """A segment for a text."""
        return _kept(str(value))


# Every `{name}` of every route is one; there is nothing to write at the routes.
register_url_convertor("str", SegmentConvertor())


class SentPath:
    """Gives routes the path as it was sent, decoded segment by segment.

    Args:
        app: What routes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless its path is no text."""
        raw = scope.get("raw_path") if scope["type"] == "http" else None
        if raw is None:
            await self._app(scope, receive, send)
            return
        try:
            path = "/".join(_decoded(segment) for segment in raw.split(b"/"))
        except UnicodeDecodeError:
            answer = problem(400, "bad-request", "The path is not UTF-8 once it is decoded.")
            await answer(scope, receive, send)
            return
        scope["path"] = path  # in place: the log wants to know which route it was
        await self._app(scope, receive, send)


def _decoded(segment: bytes) -> str:
    return _kept(unquote_to_bytes(segment).decode("utf-8"))


def _kept(text: str) -> str:
    """A segment in which a slash is no border, and a percent sign begins the code of one."""
    return text.replace("%", "%25").replace("/", "%2F")
