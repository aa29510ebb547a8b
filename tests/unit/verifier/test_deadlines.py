"""Who answers a byte at a time is left when the time of the whole attempt is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from veritrail_graph.api.client import AsyncClient, Unreachable
from veritrail_graph.verifier.models.json_endpoint import JsonEndpoint
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import Request, StepCall, TransportFault

SECONDS = 0.2
PATIENCE = 20.0
REQUEST = Request(StepCall("nli", "nli.v1", "00" * 32, "m", 0.0), "", "{}")


@asynccontextmanager
async def trickling(piece: bytes = b" ", pause: float = SECONDS / 10) -> AsyncIterator[str]:
    """A server whose answers begin well and never end; gives its address."""

    answering: list[asyncio.Task[Any] | None] = []

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering.append(asyncio.current_task())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"%x\r\n%b\r\n" % (1, piece[:1]) * len(piece))
                await writer.drain()
                await asyncio.sleep(pause)

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()
        await asyncio.gather(*(one for one in answering if one is not None))


async def entailment(url: str) -> None:
    endpoint = JsonEndpoint(url, attempt_timeout=SECONDS)
    try:
        await endpoint.send(REQUEST, None)
    finally:
        await endpoint.close()


async def batch(url: str) -> None:
    endpoint = OpenAiEndpoint(url, attempt_timeout=SECONDS)
    try:
        await endpoint.batches().look("b-1")
    finally:
        await endpoint.close()


async def client(url: str) -> None:
    async with AsyncClient(url, timeout=SECONDS, patience=0.0) as service:
        await service.process("p")


@pytest.mark.parametrize(
    ("ask", "fault"),
    [(entailment, TransportFault), (batch, TransportFault), (client, Unreachable)],
)
def test_an_answer_that_trickles_in_is_given_up(
    ask: Callable[[str], Awaitable[Any]], fault: type[Exception]
) -> None:
    async def story() -> None:
        async with trickling() as url, asyncio.timeout(PATIENCE):
            with pytest.raises(fault, match=r"within 0\.2 s"):
                await ask(url)

    asyncio.run(story())


@pytest.mark.parametrize("ask", [entailment, batch])
def test_an_answer_of_very_many_parts_keeps_nobody_else_waiting(
    ask: Callable[[str], Awaitable[Any]],
) -> None:
    async def story() -> float:
        async with trickling(b" " * 10_000, 0.0) as url, asyncio.timeout(PATIENCE):
            asked = asyncio.ensure_future(ask(url))
            longest = 0.0
            while not asked.done():
                begun = time.monotonic()
                await asyncio.sleep(0.001)
                longest = max(longest, time.monotonic() - begun)
            with pytest.raises(TransportFault, match=r"within 0\.2 s"):
                await asked
            return longest

    assert asyncio.run(story()) < 0.5
