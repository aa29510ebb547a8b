"""Purses that several workers share, slots that several parties share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from fakes.service_databases import IN_BOTH
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.configured.shared import Limiters
from veritrail_graph.api.jobs.budget import BudgetLease, JobBudget
from veritrail_graph.api.jobs.storage.leases import Grant, Limit, close_leases, used_of
from veritrail_graph.api.settings import ModelSettings
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.port import OverBudget


class Workers:
    """Workers that spend out of one budget."""

    def __init__(self, service: ServiceDatabase, limit: Limit) -> None:
        self.service = service
        self.limit = limit
        self.alive: list[str] = []
        self.is_closing = asyncio.Event()

    async def arrive(self, name: str) -> tuple[BudgetLease, JobBudget]:
        self.alive.append(name)

        async def ask(work: Callable[[Connection], Grant]) -> Grant:
            return await self.service.run(work)

        lease = BudgetLease("job/j", name, self.limit, ask, lambda: self.alive, "the job")
        await lease.open(self.limit)
        return lease, JobBudget((lease,), self.is_closing)


async def spend(spending: JobBudget, cost: float = 0.0) -> bool:
    """One call; the answer says whether it was made."""
    await spending.ready()
    try:
        spending.admit()
    except OverBudget:
        return False
    await asyncio.sleep(0.001)
    spending.settle(cost)
    return True


async def spend_all(spending: JobBudget, cost: float = 0.0) -> int:
    made = 0
    while await spend(spending, cost):
        made += 1
    return made


def test_a_worker_that_is_alone_spends_the_whole_budget(service: ServiceDatabase) -> None:
    async def run() -> tuple[int, int]:
        workers = Workers(service, Limit(calls=10))
        _, spending = await workers.arrive("a")
        made = await spend_all(spending)
        other = Workers(service, Limit(usd=1.0))
        _, dear = await other.arrive("b")
        return made, await spend_all(dear, 0.3)

    assert asyncio.run(run()) == (10, 4)  # the fourth passes the budget, and none after it


@IN_BOTH
def test_several_workers_make_as_many_calls_as_there_are_in_the_budget(
    service: ServiceDatabase,
) -> None:
    async def run() -> list[int]:
        workers = Workers(service, Limit(calls=30))
        some = [await workers.arrive(f"w{name}") for name in range(3)]

        async def tell() -> None:
            while True:
                await asyncio.sleep(0.05)
                for lease, _ in some:
                    await lease.tell()

        telling = asyncio.create_task(tell())
        made = await asyncio.gather(*(spend_all(spending) for _, spending in some))
        telling.cancel()
        return list(made)

    made = asyncio.run(run())
    assert sum(made) == 30


def test_what_a_dead_worker_was_granted_and_did_not_spend_is_there_for_the_others(
    service: ServiceDatabase,
) -> None:
    async def run() -> int:
        workers = Workers(service, Limit(calls=20))
        lease, spending = await workers.arrive("dead")
        for _ in range(5):
            await spend(spending)
        await lease.tell()
        workers.alive.remove("dead")
        service.run_now(lambda one: close_leases(one, "dead"))
        _, heir = await workers.arrive("heir")
        return await spend_all(heir)

    assert asyncio.run(run()) == 15


def test_spending_goes_on_where_the_limit_is_raised(service: ServiceDatabase) -> None:
    async def run() -> tuple[int, int, float]:
        workers = Workers(service, Limit(usd=1.0))
        lease, spending = await workers.arrive("a")
        first = await spend_all(spending, 0.5)
        await lease.open(Limit(usd=2.0))
        second = await spend_all(spending, 0.5)
        await lease.tell()
        return first, second, service.read_now(lambda one: used_of(one, "job/j")[0])

    assert asyncio.run(run()) == (2, 2, 2.0)


def test_no_call_is_made_once_the_worker_closes(service: ServiceDatabase) -> None:
    async def run() -> None:
        workers = Workers(service, Limit())
        spending = JobBudget((), workers.is_closing)
        assert await spend(spending)
        workers.is_closing.set()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(spend(spending), 0.05)
        assert spending.calls == 1

    asyncio.run(run())


def test_parties_take_turns_at_the_slots_of_an_endpoint() -> None:
    async def run() -> list[str]:
        limiter = Limiter(1)
        order: list[str] = []

        async def call(party: str) -> None:
            await limiter.acquire(party=party)
            order.append(party)
            await asyncio.sleep(0)
            limiter.release()

        many = [asyncio.create_task(call("much")) for _ in range(20)]
        await asyncio.sleep(0)
        few = [asyncio.create_task(call("little")) for _ in range(3)]
        await asyncio.gather(*many, *few)
        return order

    order = asyncio.run(run())
    assert len(order) == 23
    assert [place for place, party in enumerate(order) if party == "little"][-1] < 10


def test_a_cancelled_call_gives_up_its_turn_wherever_it_waits() -> None:
    async def run() -> list[str]:
        limiter = Limiter(1)
        order: list[str] = []

        async def call(party: str) -> None:
            await limiter.acquire(party=party)
            order.append(party)
            limiter.release()

        await limiter.acquire()
        calls = [asyncio.create_task(call(name)) for name in "aabbcc"]
        await asyncio.sleep(0)
        calls[0].cancel()
        calls[2].cancel()
        calls[3].cancel()
        await asyncio.sleep(0)
        limiter.release()
        await asyncio.gather(*calls, return_exceptions=True)
        assert limiter.in_flight == 0
        return order

    assert sorted(asyncio.run(run())) == ["a", "c", "c"]


def test_slots_and_rates_are_shared_in_equal_parts_and_come_back() -> None:
    limiters = Limiters()
    first = limiters.of("http://a", ModelSettings("m", concurrency=10, rpm=600))
    limiters.share_among(3)
    assert (first.setting, first.limit) == (3, 3)
    second = limiters.of("http://b", ModelSettings("m", concurrency=2))
    assert second.limit == 1  # never none
    assert limiters.of("http://a", ModelSettings("n", concurrency=10, rpm=600)) is first
    limiters.share_among(1)
    assert (first.setting, first.limit, second.limit) == (10, 10, 2)


def test_a_limit_that_the_endpoint_halved_stays_so_when_shares_change() -> None:
    limiter = Limiter(16)
    limiter.throttled(began=1.0)
    assert limiter.limit == 8
    limiter.set_to(12)
    assert (limiter.setting, limiter.limit) == (12, 8)
    limiter.set_to(4)
    assert limiter.limit == 4
