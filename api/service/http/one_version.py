"""Routes whose answer is about one version of a process.

Source: ours (docs/adr/0055-one-version.md).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from typing_extensions import override

from veritrail_graph.api.app import Application
from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.service.http.held_file import HeldFile
from veritrail_graph.graph.errors import EngineError, NotFound

_Handle = Callable[[Request], Coroutine[Any, Any, Response]]

READING = ("GET", "HEAD")
READING_POST = ":batchGet"
"""How the path of a call ends that only reads, though it is sent with POST."""


def is_watched(path: str, method: str) -> bool:
    """Return whether a call only reads a process or a verification."""
    reads = method in READING or path.endswith(READING_POST)
    return reads and ("{process_id}" in path or "{verification_id}" in path)


class OneVersion(APIRoute):
    """A route that is answered anew where its process was replaced or removed meanwhile.

    A path that names a process or a verification is watched; one that names neither, or that
    changes something, is answered as any other.
    """

    @property
    def is_watched(self) -> bool:
        """Return whether the route only reads a process or a verification."""
        return all(is_watched(self.path, method) for method in self.methods or ())

    @override
    def get_route_handler(self) -> _Handle:
        handle = super().get_route_handler()
        return partial(_watched, handle) if self.is_watched else handle


async def _watched(handle: _Handle, request: Request) -> Response:
    app: Application = request.app.state.app
    ids = request.path_params
    try:
        await app.graph.store()
    except EngineError:  # a caller who may not ask, or asks wrongly, is told that first
        return await handle(request)
    answers = _Answers(handle, request)
    try:
        read = answers.next
        if "process_id" in ids:
            read = partial(_shown, app, answers, ids["process_id"])
        return await app.versions.of_ids(ids, read)
    except BaseException:
        answers.drop()
        raise


class _Answers:
    """The answers to one request, of which the last is sent."""

    def __init__(self, handle: _Handle, request: Request) -> None:
        self._handle = handle
        self._last: Response | None = None
        self.request = request

    async def next(self) -> Response:
        """Another answer; the one before is dropped."""
        self.drop()
        self._last = await self._handle(self.request)
        return self._last

    def drop(self) -> None:
        """Let go of what the last answer holds."""
        if isinstance(self._last, HeldFile):
            self._last.close()
        self._last = None


async def _shown(app: Application, answers: _Answers, process_id: str) -> Response:
    """The answer; a caller with a link is shown the process that the link was made for."""
    caller: Caller = answers.request.state.caller
    if caller.shows is not None and not caller.shows(await app.versions.get(process_id)):
        raise NotFound("This link was made for another process, which was removed.")
    return await answers.next()
