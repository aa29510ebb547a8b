"""`veritrail serve` in a thread of this process, on a real port of loopback.

A child imports everything anew, which takes longer than most tests of a route. The command is the
real one; it gets arguments, environment and stderr of its own while it starts. It works on no jobs
(`--no-worker`): of the job engine there is one in a process.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import uvicorn
from fastapi import routing

PATIENCE = 30.0


@cache
def share_routes() -> None:
    """Let all services of this process share what FastAPI makes of a route at its first request.

    Each would make it anew of the same functions, which takes longer than most tests of a route.
    """
    included = routing._IncludedRouter
    build = included._build_effective_context
    kept: dict[Any, Any] = {}

    def once(router: Any, route: Any) -> Any:
        context = router.include_context
        depends = tuple(one.dependency for one in context.dependencies)
        key = id(route), context.prefix, depends
        if key not in kept:
            nobodys = copy.copy(router)
            nobodys.include_context = replace(context, dependency_overrides_provider=None)
            kept[key] = route, build(nobodys, route)  # with the route, whose id stays its own
        return kept[key][1]

    mock.patch.object(included, build.__name__, once).start()


class ServiceThread:
    """A service that runs until `stop`.

    Args:
        arguments: Those of `veritrail serve`.
        environment: The whole environment that it starts with.
        log_path: Where its log goes.

    Raises:
        AssertionError: It did not start; the message holds its log.
    """

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], log_path: Path
    ) -> None:
        share_routes()
        self._started = threading.Event()
        self._status: int | None = None
        self._server: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._log = log_path.open("a", encoding="utf-8", buffering=1)
        self._handlers: list[logging.Handler] = []
        self._thread = threading.Thread(target=self._serve, daemon=True, name="veritrail serve")
        root = logging.getLogger()
        before = list(root.handlers), root.level
        with ExitStack() as stack:
            argv = ["veritrail", "serve", *arguments]
            stack.enter_context(mock.patch.dict(os.environ, dict(environment), clear=True))
            stack.enter_context(mock.patch.object(sys, "argv", argv))
            stack.enter_context(mock.patch.object(sys, "stderr", self._log))
            stack.enter_context(mock.patch.object(signal, "signal", _main_thread_only()))
            stack.enter_context(mock.patch.object(uvicorn.Server, "startup", self._startup()))
            self._thread.start()
            self._started.wait(PATIENCE)
        self._handlers = [one for one in root.handlers if one not in before[0]]
        for handler in self._handlers:
            handler.addFilter(_of_service)
        root.handlers[:] = [*before[0], *self._handlers]
        root.setLevel(before[1])
        assert self._server is not None, log_path.read_text(encoding="utf-8")[-3000:]

    def _serve(self) -> None:
        from veritrail_graph.api.cli.app import status

        try:
            self._status = status()
        finally:
            self._started.set()

    def _startup(self) -> Callable[..., Any]:
        """Notes the server and its loop, and says when it listens."""
        original = uvicorn.Server.startup

        async def startup(server: uvicorn.Server, *arguments: Any, **options: Any) -> None:
            await original(server, *arguments, **options)
            self._server, self._loop = server, asyncio.get_running_loop()
            self._started.set()

        return startup

    def stop(self) -> int:
        """End it as SIGTERM does; gives its exit status."""
        from sse_starlette.sse import AppStatus

        assert self._server is not None
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._server.handle_exit, signal.SIGTERM, None)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the service did not end"
        # That a server ends is kept for the whole process: streams of the next would end at once.
        AppStatus.should_exit = False
        root = logging.getLogger()
        root.handlers[:] = [one for one in root.handlers if one not in self._handlers]
        self._log.close()
        assert self._status is not None
        return self._status


def _of_service(record: logging.LogRecord) -> bool:
    """Return whether a record is not of a test that runs beside the service."""
    return record.thread != threading.main_thread().ident


def _main_thread_only() -> Callable[..., Any]:
    """`signal.signal` for the main thread; another one may not set signal handlers."""
    original = signal.signal

    def set_handler(number: int, handler: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            return original(number, handler)
        return signal.getsignal(number)

    return set_handler
