"""Keeping verifications: stored together where several wait, each with its own fault."""

from __future__ import annotations

import asyncio

import pytest
from fakes.dag import Dag

from veritrail_graph.api.work.runs import KEPT_TOGETHER, Keep
from veritrail_graph.graph.errors import EngineUnavailable, NotFound, VeriTrailError
from veritrail_graph.graph.model import Claim, Status, Verification
from veritrail_graph.verifier.driver import Task, without_verdict
from veritrail_graph.verifier.engines.lexical import LexicalJudge

NODE = Dag.of({"r": [], "t": ["r"]}).refs["t"]


def verification(number: int) -> Verification:
    task = Task(Claim(claim_id=f"k{number}", text="A claim.", node_id="t"), NODE, f"v-{number}")
    return without_verdict(task, "p", LexicalJudge(), 3, Status.FAILED, "no")


class Slow:
    """A store whose transactions take a moment and fail with claims that were removed."""

    def __init__(self, gone: set[str] = frozenset(), loss_at: int | None = None) -> None:
        self.gone, self.loss_at = gone, loss_at
        self.transactions: list[list[str]] = []

    async def write(self, *verifications: Verification) -> None:
        await asyncio.sleep(0.01)
        if self.loss_at is not None and len(self.transactions) >= self.loss_at:
            raise EngineUnavailable("lost")
        ids = [one.verification_id for one in verifications]
        if self.gone & set(ids):
            raise NotFound("gone")
        self.transactions.append(ids)


def keep_all(store: Slow, count: int) -> tuple[Keep, list[BaseException | None]]:
    async def work() -> tuple[Keep, list[BaseException | None]]:
        keep = Keep(store.write)
        writes = (keep.write(verification(number)) for number in range(count))
        return keep, await asyncio.gather(*writes, return_exceptions=True)

    return asyncio.run(work())


def test_what_waits_is_stored_together_in_order() -> None:
    store = Slow()
    _, told = keep_all(store, KEPT_TOGETHER + 20)
    assert told == [None] * (KEPT_TOGETHER + 20)
    stored = [one for transaction in store.transactions for one in transaction]
    assert stored == [f"v-{number}" for number in range(KEPT_TOGETHER + 20)]
    assert max(map(len, store.transactions)) == KEPT_TOGETHER
    assert len(store.transactions) <= 3


def test_one_that_cannot_be_stored_does_not_take_the_others_along() -> None:
    store = Slow(gone={"v-3"})
    _, told = keep_all(store, 8)
    assert [isinstance(each, NotFound) for each in told] == [n == 3 for n in range(8)]
    stored = {one for transaction in store.transactions for one in transaction}
    assert stored == {f"v-{number}" for number in range(8)} - {"v-3"}


def test_a_lost_engine_is_told_to_all_and_asked_no_more() -> None:
    store = Slow(loss_at=0)
    lost: list[str] = []

    async def work() -> list[BaseException | None]:
        keep = Keep(store.write)
        keep.on_loss = lambda: lost.append("once")
        first = await asyncio.gather(
            *(keep.write(verification(number)) for number in range(3)), return_exceptions=True
        )
        with pytest.raises(EngineUnavailable):
            await keep.write(verification(9))
        return first

    told = asyncio.run(work())
    assert all(isinstance(each, VeriTrailError) for each in told)
    assert lost == ["once"]


def test_whoever_is_cancelled_while_waiting_leaves_the_others_alone() -> None:
    store = Slow()

    async def work() -> list[BaseException | None]:
        keep = Keep(store.write)
        writes = [asyncio.ensure_future(keep.write(verification(n))) for n in range(4)]
        await asyncio.sleep(0)
        writes[2].cancel()
        return await asyncio.gather(*writes, return_exceptions=True)

    told = asyncio.run(work())
    assert [type(each) for each in told].count(asyncio.CancelledError) == 1
    assert told.count(None) == 3
