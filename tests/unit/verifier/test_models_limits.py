"""How many calls are let through, at once and a minute, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.verifier.models.limits import Bucket, Dismissed, Limiter
from veritrail_graph.verifier.models.port import OverBudget
from veritrail_graph.verifier.models.retrying import Spending


class Clock:
    """Time that does not move until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_no_more_calls_are_in_the_air_than_the_limit() -> None:
    async def work() -> None:
        limiter = Limiter(3)
        most = 0

        async def call() -> None:
            nonlocal most
            await limiter.acquire()
            most = max(most, limiter.in_flight)
            await asyncio.sleep(0)
            limiter.release()

        await asyncio.gather(*(call() for _ in range(50)))
        assert most == 3
        assert limiter.in_flight == 0

    run(work())


def test_calls_are_let_through_in_order_and_retries_first() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        order: list[str] = []

        async def call(name: str, again: bool = False) -> None:
            await limiter.acquire(again=again)
            order.append(name)
            limiter.release()

        await limiter.acquire()
        tasks = [asyncio.create_task(call(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(call("retry", again=True)))
        await asyncio.sleep(0)
        limiter.release()
        await asyncio.gather(*tasks)
        assert order == ["retry", "a", "b", "c"]

    run(work())


def test_too_many_requests_halve_the_limit_once_and_successes_raise_it() -> None:
    clock = Clock()
    limiter = Limiter(16, clock=clock)
    began = clock.now
    limiter.throttled(began)
    limiter.throttled(began)  # in flight at the same time: says nothing new
    assert limiter.limit == 8
    clock.now += 2
    limiter.throttled(began)
    assert limiter.limit == 8
    limiter.throttled(clock.now)
    assert limiter.limit == 4
    for _ in range(4):
        limiter.succeeded()
    assert limiter.limit == 5
    for _ in range(1_000):
        limiter.succeeded()
    assert limiter.limit == 16


def test_nothing_is_let_through_during_a_pause() -> None:
    async def work() -> None:
        limiter = Limiter(4)
        began = asyncio.get_running_loop().time()
        limiter.pause(0.2)
        await asyncio.gather(*(limiter.acquire() for _ in range(3)))
        assert 0.19 <= asyncio.get_running_loop().time() - began < 2

    run(work())


def test_a_pause_can_be_ended() -> None:
    async def work() -> None:
        limiter = Limiter(4)
        limiter.pause(60)
        waiting = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        limiter.resume()
        await asyncio.wait_for(waiting, 1)

    run(work())


def test_calls_of_one_owner_can_be_sent_away() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        await limiter.acquire()
        mine = [asyncio.create_task(limiter.acquire(owner="me")) for _ in range(3)]
        others = asyncio.create_task(limiter.acquire(owner="other"))
        await asyncio.sleep(0)
        limiter.dismiss("me")
        mine[2].cancel()
        found = await asyncio.gather(*mine, return_exceptions=True)
        assert [type(one) for one in found] == [Dismissed, Dismissed, asyncio.CancelledError]
        assert not others.done()
        limiter.release()
        await asyncio.wait_for(others, 1)
        assert limiter.in_flight == 1

    run(work())


@pytest.mark.parametrize("at", ["waiting", "granted"])
def test_a_cancelled_call_holds_no_slot(at: str) -> None:
    async def work() -> None:
        limiter = Limiter(1)
        await limiter.acquire()
        waiting = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        if at == "granted":
            limiter.release()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if at == "waiting":
            limiter.release()
        assert limiter.in_flight == 0
        await asyncio.wait_for(limiter.acquire(), 1)

    run(work())


def test_one_that_is_cancelled_does_not_hold_up_the_next() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        await limiter.acquire()
        first = asyncio.create_task(limiter.acquire())
        second = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        first.cancel()
        limiter.release()  # before the first has had a chance to leave
        await asyncio.wait_for(second, 1)
        assert limiter.in_flight == 1

    run(work())


@given(st.integers(1, 600), st.lists(st.floats(0, 5), max_size=200))
def test_no_minute_sees_more_than_its_share(per_minute: int, gaps: list[float]) -> None:
    clock = Clock()
    bucket = Bucket(per_minute, clock)
    taken: list[float] = []
    for gap in gaps:
        clock.now += gap
        if bucket.wait(1) <= 0:
            bucket.take(1)
            taken.append(clock.now)
    for start in taken:
        assert sum(start <= moment < start + 60 for moment in taken) <= max(1, per_minute)


def test_a_prompt_above_the_share_of_a_moment_is_let_through_and_owed() -> None:
    clock = Clock()
    bucket = Bucket(12_000, clock)
    assert bucket.wait(5_000) == 0
    bucket.take(5_000)
    assert bucket.wait(1) == pytest.approx(4_001 / (11_000 / 60))


def test_tokens_a_minute_hold_calls_back() -> None:
    async def work() -> None:
        limiter = Limiter(8, tokens_per_minute=60_000)
        assert limiter.counts_tokens
        await limiter.acquire(5_000)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(limiter.acquire(5_000), 0.1)
        assert limiter.in_flight == 1

    run(work())


# --- spending


def test_calls_are_allowed_until_the_budget_is_spent() -> None:
    spending = Spending(budget_usd=1.0)
    spending.admit()
    spending.settle(0.6)
    spending.admit()
    spending.settle(0.6)
    assert spending.spent == pytest.approx(1.2)
    with pytest.raises(OverBudget, match=r"used up \(1\.2000 USD spent\)"):
        spending.admit()


@pytest.mark.parametrize(("others", "words"), [(1, "1 call"), (3, "3 calls")])
def test_what_is_still_in_the_air_is_said(others: int, words: str) -> None:
    spending = Spending(budget_usd=1.0)
    for _ in range(others + 1):
        spending.admit()
    spending.settle(1.01)
    with pytest.raises(OverBudget, match=rf"\(1\.0100 USD spent so far, {words} pending\)"):
        spending.admit()


def test_calls_in_the_air_count_and_those_never_sent_do_not() -> None:
    spending = Spending(max_calls=2)
    spending.admit()
    spending.admit()
    assert spending.in_flight == 2
    with pytest.raises(OverBudget, match="may make 2 calls"):
        spending.admit()
    spending.settle(sent=False)
    spending.admit()
    assert spending.calls == 2
