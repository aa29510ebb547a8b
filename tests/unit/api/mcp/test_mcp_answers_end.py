"""The end of answers over HTTP that take long: after a time, with the service, with the key."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from veritrail_graph.api.auth.access import LOCAL, Caller
from veritrail_graph.api.mcp.over_http import OverHttp
from veritrail_graph.api.mcp.server import Terms, create_server

START = {"type": "http.response.start", "status": 200, "headers": []}
EVENT = {"type": "http.response.body", "body": b"event", "more_body": True}
LONG = 60.0


class Silent:
    """A manager that never ends an answer.

    Args:
        sends: What it sends before.
    """

    def __init__(self, *sends: dict[str, Any]) -> None:
        self.sends, self.is_broken_off = sends, False

    async def handle_request(self, _scope: Any, _receive: Any, send: Any) -> None:
        """Answer without an end."""
        for message in self.sends:
            await send(message)
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            self.is_broken_off = True
            raise


class Ring:
    """Keys, of which none opens."""

    async def still(self, _caller: Caller) -> bool:
        """Return whether a caller would still be let in."""
        return False


def answered(manager: Silent, seconds: float, *, ends: bool = False, ring: Any = None) -> list[Any]:
    """Return what is sent of an answer, which ends long before the manager's."""

    async def ask() -> list[Any]:
        endpoint, sent = OverHttp(None, seconds=seconds), []  # type: ignore[arg-type]
        endpoint._manager = asyncio.get_running_loop().create_future()
        endpoint._manager.set_result(manager)  # type: ignore[arg-type]
        closing = asyncio.Event()
        app = SimpleNamespace(state=SimpleNamespace(closing=closing, ring=ring))
        if ends:
            asyncio.get_running_loop().call_later(0.01, closing.set)

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "state": {"caller": LOCAL}, "app": app}
        async with asyncio.timeout(LONG / 2):
            await endpoint(scope, None, send)  # type: ignore[arg-type]
        return sent

    return asyncio.run(ask())


def test_an_answer_that_takes_too_long_ends_with_a_problem() -> None:
    assert answered(Silent(), 0.01)[0]["status"] == 504


def test_an_answer_ends_as_soon_as_the_service_does() -> None:
    manager = Silent()
    assert answered(manager, LONG, ends=True)[0]["status"] == 503
    assert manager.is_broken_off


def test_a_stream_that_is_broken_off_is_whole_for_who_reads_it() -> None:
    sent = answered(Silent(START, EVENT), LONG, ends=True)
    assert sent == [START, EVENT, {**EVENT, "body": b"", "more_body": False}]


def test_a_stream_ends_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veritrail_graph.api.service.http.staying.KEY_SECONDS", 0.01)
    assert answered(Silent(START), LONG, ring=Ring())[-1]["more_body"] is False


def test_no_stream_of_news_is_held_open_where_there_are_none() -> None:
    server = create_server(None, Terms())  # type: ignore[arg-type]
    assert server._lowlevel_server.get_request_handler("subscriptions/listen") is None
