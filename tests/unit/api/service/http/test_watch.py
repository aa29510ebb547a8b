"""What the outermost layer makes of faults, and what the page of the description shows of texts."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from veritrail_graph.api.service.http.request_id import taken_or_made
from veritrail_graph.api.service.http.watch import Metrics, Watch

App = Callable[[Scope, Receive, Send], Awaitable[None]]


def answered(app: App, metrics: Metrics | None = None) -> list[Message]:
    """What a watched application sends for one request."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"x-request-id", b"mine")]
    scope = {"type": "http", "method": "GET", "path": "/x", "headers": headers}
    asyncio.run(Watch(app, metrics or Metrics())(scope, receive, send))
    return sent


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [one.fields for one in caplog.records if hasattr(one, "fields")]


@pytest.fixture(autouse=True)
def _all_lines(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "veritrail")


def test_a_fault_becomes_a_problem_without_its_text_and_a_line_with_its_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def faulty(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("hidden")

    start, body = answered(faulty)
    assert start["status"] == 500
    headers = dict(start["headers"])
    assert headers[b"content-type"] == b"application/problem+json"
    assert headers[b"x-request-id"] == b"mine"
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"hidden" not in body["body"]
    assert json.loads(body["body"])["instance"] == "urn:veritrail:request:mine"
    (fault,) = [one for one in caplog.records if one.message == "fault"]
    assert fault.exc_info is not None
    assert [one["status"] for one in lines(caplog) if "status" in one] == [500]


def test_a_fault_in_the_middle_of_an_answer_ends_it_and_is_told_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def half(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("hidden")

    sent = answered(half)
    assert [one["type"] for one in sent] == ["http.response.start", "http.response.body"]
    assert any(one.message == "fault" for one in caplog.records)


def test_a_client_that_goes_away_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    async def left(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ClientDisconnect

    metrics = Metrics()
    assert answered(left, metrics) == []
    assert [one["status"] for one in lines(caplog)] == [499]
    text = metrics.text(None).decode()
    assert 'status="499"' in text
    assert "veritrail_requests_in_progress 0.0" in text


def test_headers_that_an_answer_has_itself_stay_and_are_not_doubled() -> None:
    async def own(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"Cache-Control", b"private, no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    names = [name.lower() for name, _ in answered(own)[0]["headers"]]
    assert names.count(b"cache-control") == 1
    assert names.count(b"content-security-policy") == 1


@pytest.mark.parametrize("odd", [None, "", "a b", "a\r\nb", "x" * 65, "é", "<script>"])
def test_an_id_that_is_not_sane_is_made_anew(odd: str | None) -> None:
    made = taken_or_made(odd)
    assert made != odd
    assert len(made) == 32


def test_who_still_sends_when_the_service_ends_is_told_so_without_a_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def slow(scope: Scope, _receive: Receive, _send: Send) -> None:
        asyncio.get_running_loop().call_soon(tasks[0].cancel, "shutdown")
        await asyncio.Event().wait()

    async def cancelled(scope: Scope, receive: Receive, send: Send) -> None:
        tasks.append(asyncio.ensure_future(Watch(slow, Metrics())(scope, receive, send)))
        await tasks[0]

    tasks: list[asyncio.Future[None]] = []
    start, body = answered(cancelled)
    assert start["status"] == 503
    assert b"close" in dict(start["headers"])[b"connection"]
    assert json.loads(body["body"])["type"] == "urn:veritrail:problem:ending"
    assert not any(one.exc_info for one in caplog.records)
