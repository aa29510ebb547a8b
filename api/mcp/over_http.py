"""MCP over HTTP: `POST /mcp` of a service answers as the server on stdio does.

Nothing is kept between two requests, so any worker may answer each. What a request may do, and
what it may cost, is said by the key that it shows, as at every other door.

Source: Model Context Protocol 2026-07-28, Streamable HTTP; earlier versions are answered as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.routing import Route
from typing_extensions import override

from veritrail_graph.api.app.engines import engine_choices
from veritrail_graph.api.auth.access import Scope as KeyScope
from veritrail_graph.api.mcp.advice import ADVICE
from veritrail_graph.api.service.http import request_id
from veritrail_graph.api.service.http.bodies import MAX_BODY
from veritrail_graph.api.service.http.guard import MCP_PATH
from veritrail_graph.api.service.http.problems import problem
from veritrail_graph.api.service.http.staying import Stay
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.responses import Response
    from starlette.types import Message, Receive, Scope, Send

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.auth.access import Caller

MOST_SECONDS = 3_600.0
"""How long an answer may take, verification of claims included."""

_caller: ContextVar[Caller] = ContextVar("mcp_caller")


class OverHttp:
    """The endpoint; the server behind it is made with the first request.

    Args:
        app: The application of the service.
        seconds: How long an answer may take.
    """

    def __init__(self, app: Application, seconds: float = MOST_SECONDS) -> None:
        self._app, self._seconds = app, seconds
        self._running: asyncio.Task[None] | None = None
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._ending = asyncio.Event()

    @property
    def route(self) -> Route:
        """The route of the endpoint."""
        return Route(MCP_PATH, self, methods=["POST"], include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in the name of who sends it."""
        scope["route"] = self.route  # for the log and the figures
        manager = await self._opened()
        answer = _Answer(send)
        caller: Caller = scope["state"]["caller"]
        stay = asyncio.ensure_future(Stay(scope["app"], caller).ends())
        token = _caller.set(replace(caller, request_id=request_id.current.get()))
        try:
            async with asyncio.timeout(self._seconds) as limit:
                stay.add_done_callback(lambda _: _end(limit))
                await manager.handle_request(scope, receive, answer)
        except TimeoutError:
            await answer.break_off(scope, receive, self._refusal(stay))
        finally:
            _caller.reset(token)
            stay.cancel()

    def _refusal(self, stay: asyncio.Future[None]) -> Response:
        """Return why an answer was broken off."""
        if stay.done():
            words = "The service is ending, or the key opens nothing any more."
            return problem(503, "ending", words, headers={"Retry-After": "5"})
        return problem(504, "timeout", f"The answer took longer than {self._seconds:g} seconds.")

    async def close(self) -> None:
        """End the server, and what it still does."""
        self._ending.set()
        if self._running is not None:
            await self._running

    async def _opened(self) -> StreamableHTTPSessionManager:
        """Return the server, which runs until it is closed."""
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._manager))
        return await asyncio.shield(self._manager)

    async def _run(self, opened: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        try:
            # Its imports take most of a second.
            manager = await asyncio.to_thread(_manager, self._app)
            async with manager.run():
                opened.set_result(manager)
                await self._ending.wait()
        except BaseException as error:
            self._manager = None
            if not opened.done():
                opened.set_exception(error)
                return
            raise


class _Answer:
    """The answer to a request, as far as it is sent.

    Args:
        send: Takes it.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun = self._is_over = False

    async def __call__(self, message: Message) -> None:
        """Send a part."""
        self._is_begun = True
        self._is_over = not message.get("more_body", message["type"] == "http.response.start")
        await self._send(message)

    async def break_off(self, scope: Scope, receive: Receive, refusal: Response) -> None:
        """End it: with a refusal, or where it stands."""
        if not self._is_begun:
            await refusal(scope, receive, self)
        elif not self._is_over:
            await self({"type": "http.response.body", "body": b"", "more_body": False})


def _end(limit: asyncio.Timeout) -> None:
    """Let no more time pass; an answer that is over has no limit any more."""
    with suppress(RuntimeError):
        limit.reschedule(0.0)


def _manager(app: Application) -> StreamableHTTPSessionManager:
    """Make the server with the tools of the one on stdio."""
    from mcp.server.transport_security import TransportSecuritySettings

    from veritrail_graph.api.client.served import AsyncServed
    from veritrail_graph.api.mcp.allowance import Allowance
    from veritrail_graph.api.mcp.server import Terms, create_server

    class OfKey(Allowance):
        """The budget of the key that a request shows; the service keeps it."""

        @asynccontextmanager
        @override
        async def taken(self) -> AsyncIterator[dict[str, Any]]:
            caller = _caller.get()
            for scope in (
                KeyScope.READ,
                KeyScope.VERIFY,
            ):  # a result that the key may not read is not paid for
                caller.expect(scope)
            _check_budget(app, caller)
            yield {}

        @override
        def charge(self, usage: Any) -> None: ...

        @override
        def charge_stop(self) -> None: ...

    door = AsyncServed(app, _caller.get, ADVICE)
    server = create_server(door, Terms(allowance=OfKey()))
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        # The guard of the service has looked at host, origin and key.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager


def _check_budget(app: Application, caller: Caller) -> None:
    """See that no assistant can spend without a limit.

    Raises:
        InputError: Models are asked, and the key has no budget.
    """
    if caller.budget_usd is not None:
        return
    engine = app.settings.engine_name()
    names = filter(None, (engine, app.settings.verdict_engine_name(engine)))
    if any(one.asks_models for one in engine_choices(app.settings, names)):
        who = f"the key {caller.name!r} has none" if caller.key_id else "no key is shown"
        raise InputError(
            f"This service asks a model ({engine}), and an assistant spends from the budget of "
            f"its key: {who}. The operator makes one with `veritrail keys create --budget USD`."
        )
