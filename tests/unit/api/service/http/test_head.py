"""HEAD: the headers of GET, no body, and an end also where GET has none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse
from starlette.types import Message, Receive, Scope, Send

from veritrail_graph.api.service.http.watch import Head


def test_head_of_a_stream_without_an_end_ends_and_ends_the_stream() -> None:
    sent: list[Message] = []
    asked: list[str] = []
    is_over = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"data: {}\n\n"
            await asyncio.sleep(0.01)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope["method"])
        scope["route"] = "the route"
        await EventSourceResponse(endless())(scope, receive, send)

    async def send(message: Message) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            is_over.set()

    async def receive() -> Message:
        await is_over.wait()  # as a server tells that an answer is whole
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "HEAD", "path": "/x", "headers": []}

    async def answered() -> None:
        async with asyncio.timeout(10):
            await Head(app)(scope, receive, send)

    asyncio.run(answered())
    assert asked == ["GET"]
    assert [one["type"] for one in sent] == ["http.response.start", "http.response.body"]
    assert (sent[0]["status"], sent[1]["body"]) == (200, b"")
    assert (scope["method"], scope["route"]) == ("HEAD", "the route")
