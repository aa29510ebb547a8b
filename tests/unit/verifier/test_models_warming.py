"""One call warms a prefix, its siblings wait for it, and no call waits in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from fakes.model_server import ModelServer

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.answers import read_verdict
from veritrail_graph.verifier.models.language_model import STAYS_WARM, LanguageModel, Warm, Warming
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import Meter, Request, StepCall
from veritrail_graph.verifier.models.tokens import estimate

EXCERPTS = "[[1]]\n" + "".join(f"{n}: The ship {n} left early.\n" for n in range(400))


def request(claim: int, excerpts: str = EXCERPTS, model: str = "scripted") -> Request:
    asked = StepCall("verdict", "verdict.v1", "00" * 32, model, 0.0)
    user = f"{excerpts}Claim: The ship {claim} left early."
    return Request(asked, "Be exact.", user, shared=len(excerpts))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def warming(when: Warm = Warm.ON, address: str = "http://127.0.0.1/v1") -> Warming:
    return Warming(when, address, estimate, Clock())


async def waits(it: Warming, asked: Request) -> bool:
    """Whether a call has to wait for another."""
    task = asyncio.create_task(it.wait(asked))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    done = task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return not done


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_siblings_wait_until_the_first_call_is_over_and_never_again() -> None:
    async def work() -> None:
        it = warming()
        first = await it.wait(request(0))
        assert first is not None
        assert await waits(it, request(1))
        it.done(first)
        assert await it.wait(request(2)) is None
        assert not await waits(it, request(3))

    run(work())


def test_a_prefix_goes_cold_when_nobody_uses_it() -> None:
    async def work() -> None:
        clock = Clock()
        it = Warming(Warm.ON, "http://127.0.0.1/v1", estimate, clock)
        it.done(await it.wait(request(0)))
        clock.now += STAYS_WARM - 1
        assert await it.wait(request(1)) is None
        clock.now += STAYS_WARM - 1
        assert await it.wait(request(2)) is None
        clock.now += STAYS_WARM + 1
        assert await it.wait(request(3)) is not None

    run(work())


@pytest.mark.parametrize(
    ("when", "address", "warms"),
    [
        (Warm.AUTO, "https://api.openai.com/v1", True),
        (Warm.AUTO, "https://mine.openai.azure.com", True),
        (Warm.AUTO, "https://api.deepseek.com", True),
        (Warm.AUTO, "https://notapi.openai.com/v1", False),
        (Warm.AUTO, "http://127.0.0.1:8000/v1", False),
        (Warm.OFF, "https://api.openai.com/v1", False),
        (Warm.ON, "http://127.0.0.1:8000/v1", True),
    ],
)
def test_prefixes_are_warmed_where_the_endpoint_caches_them(
    when: Warm, address: str, warms: bool
) -> None:
    async def work() -> None:
        assert (await warming(when, address).wait(request(0)) is not None) == warms

    run(work())


def ask_all(warm: Warm) -> tuple[ModelServer, Usage]:
    meter = Meter()

    async def work(server: ModelServer) -> None:
        asking = LanguageModel(OpenAiEndpoint(server.base_url), "scripted", warm=warm)
        await asyncio.gather(*(asking.ask(request(n), read_verdict, meter) for n in range(8)))
        await asking.close()

    with ModelServer(latency=0.1, caches_prefixes=True) as server:
        asyncio.run(work(server))
    return server, meter.total


def test_one_call_goes_ahead_and_the_others_read_from_the_cache() -> None:
    server, total = ask_all(Warm.ON)
    first, *others = server.requests
    assert all(other.arrived >= (first.answered or 0) for other in others)
    assert first.cached == 0
    assert all(other.cached > 0.8 * other.characters / 4 for other in others)
    assert total.cached_input_tokens > 0.7 * total.input_tokens


def test_siblings_are_let_loose_when_the_call_that_warms_is_cancelled() -> None:
    async def work(server: ModelServer) -> None:
        asking = LanguageModel(OpenAiEndpoint(server.base_url), "scripted", warm=Warm.ON)
        first = asyncio.create_task(asking.ask(request(0), read_verdict, Meter()))
        second = asyncio.create_task(asking.ask(request(1), read_verdict, Meter()))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.wait_for(second, 5)
        await asking.close()

    with ModelServer(latency=0.2) as server:
        asyncio.run(work(server))
