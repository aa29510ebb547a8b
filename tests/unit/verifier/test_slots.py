"""ClaimSlots of claims: in their order, as many as the moment allows, and none lost."""

from __future__ import annotations

import asyncio

import pytest

from veritrail_graph.verifier.run import FIRST_UNDER_A_LIMIT, ClaimSlots, affordable_claims


def test_claims_begin_in_order_and_no_more_than_allowed_at_a_time() -> None:
    began: list[int] = []
    most = now = 0

    async def claim(slots: ClaimSlots, number: int) -> None:
        nonlocal most, now
        async with slots:
            began.append(number)
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001 * (number % 3))
            now -= 1

    async def work() -> None:
        slots = ClaimSlots(lambda _ended: 3)
        await asyncio.gather(*(claim(slots, number) for number in range(20)))

    asyncio.run(work())
    assert began == list(range(20))
    assert most == 3


def test_the_number_of_claims_follows_what_is_allowed_when_others_end() -> None:
    held: list[int] = []

    async def work() -> None:
        now = 0
        slots = ClaimSlots(lambda ended: 1 if ended < 2 else 4)

        async def claim() -> None:
            nonlocal now
            async with slots:
                now += 1
                held.append(now)
                await asyncio.sleep(0.001)
                now -= 1

        await asyncio.gather(*(claim() for _ in range(8)))

    asyncio.run(work())
    assert held[:2] == [1, 1]
    assert max(held) == 4


def test_at_least_one_claim_goes_on_whatever_is_allowed() -> None:
    async def work() -> None:
        slots = ClaimSlots(lambda _ended: 0)
        for _ in range(3):
            async with slots:
                await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(work(), 5))


def test_whoever_is_cancelled_while_waiting_takes_no_slot() -> None:
    async def work() -> None:
        slots = ClaimSlots(lambda _ended: 1)

        async def claim(seconds: float) -> str:
            async with slots:
                await asyncio.sleep(seconds)
            return "ended"

        first, second, third = (asyncio.ensure_future(claim(0.02)) for _ in range(3))
        await asyncio.sleep(0.005)
        second.cancel()
        assert await first == "ended"
        assert await asyncio.wait_for(third, 5) == "ended"
        with pytest.raises(asyncio.CancelledError):
            await second

    asyncio.run(work())


@pytest.mark.parametrize(
    ("left", "spent", "ended", "most", "wanted"),
    [
        (10.0, 0.0, 0, 64, FIRST_UNDER_A_LIMIT),
        (10.0, 1.0, 0, 2, 2),
        (8.0, 2.0, 4, 64, 16),
        (800.0, 2.0, 4, 64, 64),
        (0.1, 2.0, 4, 64, 1),
    ],
)
def test_under_a_limit_as_many_begin_as_can_be_finished(left, spent, ended, most, wanted) -> None:
    assert affordable_claims(left, spent, ended, most) == wanted
