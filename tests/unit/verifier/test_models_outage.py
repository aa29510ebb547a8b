"""Endpoints that do not answer: a run against them ends in about the time of one call."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
from fakes.byte_server import Server, answer, http, serving

from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import ModelError, Request, RequestRejected, StepCall
from veritrail_graph.verifier.models.retrying import (
    FRUITLESS,
    Breaker,
    Patience,
    Retrying,
    Spending,
)

ASKED = StepCall("verdict", "verdict.v1", "00" * 32, "some-model", 0.0)
PATIENCE = Patience(deadline=0.5, attempt_timeout=0.35, base=0.05, cap=0.1, rest=20.0)
CALLS = 250
IN_THE_AIR = 16


async def ask_many(server: Server, patience: Patience, calls: int, limiter: Limiter) -> list[str]:
    """The ends of a number of calls, as a run makes them: some claims at a time."""
    endpoint = OpenAiEndpoint(server.base_url, "key", attempt_timeout=patience.attempt_timeout)
    them = Retrying(endpoint, patience=patience, limiter=limiter, spending=Spending(), price=None)
    claims = asyncio.Semaphore(IN_THE_AIR)

    async def one(number: int) -> str:
        async with claims:
            try:
                return (await them.call(Request(ASKED, "s", f"u{number}"), 100)).text
            except ModelError as error:
                return str(error)

    ends = await asyncio.gather(*map(one, range(calls)))
    await endpoint.close()
    return ends


def outage(
    reply: bytes, delay: float = 0.0, per_minute: int | None = None
) -> tuple[list[str], float]:
    async def work() -> tuple[list[str], float]:
        async with serving(reply, delay) as server:
            began = time.monotonic()
            ends = await ask_many(
                server, PATIENCE, CALLS, Limiter(16, requests_per_minute=per_minute)
            )
            return ends, time.monotonic() - began

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("reply", "delay"),
    [
        (http(429, {}, "retry-after: 1"), 0.0),
        (http(500, {}), 0.05),
        (b"", 0.0),
        (answer(), 30.0),
    ],
)
def test_an_endpoint_that_answers_nobody_does_not_hold_up_a_run(reply: bytes, delay: float) -> None:
    ends, seconds = outage(reply, delay)
    assert len(ends) == CALLS
    assert all("given up" in end or "earlier calls" in end or "not tried" in end for end in ends)
    assert sum("not tried" in end for end in ends) > CALLS / 2
    assert seconds < 10 * PATIENCE.deadline  # one after another they would take 15


def test_an_endpoint_that_comes_back_is_asked_again() -> None:
    patience = Patience(deadline=0.5, attempt_timeout=0.4, base=0.05, cap=0.1, rest=0.2)

    async def work() -> None:
        async with serving(http(503, {})) as server:
            ends = await ask_many(server, patience, 100, Limiter(16))
            assert any("not tried" in end for end in ends)
            server.reply = answer()
            unhurried = replace(patience, deadline=30.0, attempt_timeout=10.0)
            assert await ask_many(server, unhurried, 20, Limiter(16)) == ["Yes."] * 20

    asyncio.run(work())


def test_one_call_in_a_while_finds_out_whether_an_endpoint_is_back() -> None:
    patience = Patience(deadline=0.3, attempt_timeout=0.3, base=0.01, cap=0.02, rest=0.6)

    async def work() -> None:
        async with serving(http(503, {})) as server:
            endpoint = OpenAiEndpoint(server.base_url, "key")
            them = Retrying(
                endpoint, patience=patience, limiter=Limiter(), spending=Spending(), price=None
            )

            async def one() -> str:
                try:
                    return (await them.call(Request(ASKED, "s", "u"), 100)).text
                except ModelError as error:
                    return str(error)

            while "not tried" not in await one():
                pass
            server.reply = answer()
            assert "HTTP 503" in await one()  # while it rests, with the last fault
            await asyncio.sleep(patience.rest)
            assert await one() == "Yes."
            assert set(await asyncio.gather(one(), one(), one())) == {"Yes."}
            await endpoint.close()

    asyncio.run(work())


def test_a_breaker_opens_rests_lets_one_through_and_closes() -> None:
    breaker = Breaker(3, deadline=100.0, rest=20.0)
    assert [breaker.given_up(1.0) for _ in range(4)] == [False, False, True, False]
    assert breaker.is_open
    breaker.check(1.0)
    assert [breaker.failed(2.0, "no") for _ in range(FRUITLESS)] == [False] * 15 + [True]
    with pytest.raises(ModelError, match=r"not tried: .*no$"):
        breaker.check(21.9)
    breaker.begin(22.0)
    with pytest.raises(ModelError, match="not tried"):
        breaker.begin(22.1)
    breaker.answered()
    breaker.begin(22.2)
    assert not breaker.is_open


def test_a_refused_request_is_no_outage() -> None:
    async def work() -> None:
        async with serving(http(400, {"error": {"message": "Invalid messages."}})) as server:
            endpoint = OpenAiEndpoint(server.base_url, "key")
            them = Retrying(
                endpoint, patience=PATIENCE, limiter=Limiter(), spending=Spending(), price=None
            )
            for _ in range(30):
                with pytest.raises(RequestRejected):
                    await them.call(Request(ASKED, "s", "u"), 100)
            await endpoint.close()

    asyncio.run(work())
