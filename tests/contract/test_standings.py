"""The order of processes: what needs attention first, made anew when something changed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.processes import process

from veritrail_graph.api.app import summaries as module
from veritrail_graph.api.app.summaries import Summaries
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine


class Opened:
    """A connection to a graph that is there, unless the test takes it away."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_away = False
        self.asked = 0

    async def store(self) -> Store:
        self.asked += 1
        if self.is_away:
            raise EngineUnavailable("away")
        return self._store


@pytest.fixture
def opened(store: Store) -> Opened:
    return Opened(store)


def ids(order: module.Order) -> list[str]:
    return [one.named.process_id for one in order.ranked]


def test_a_process_is_in_the_order_as_soon_as_it_is_stored(
    store: Store, arun: Any, process_id: str, opened: Opened
) -> None:
    standings = Summaries(opened)  # type: ignore[arg-type]
    assert process_id not in ids(arun(standings.order()))
    arun(ingest(store, process({"t": "T."}, [], {}, process_id=process_id)))
    order = arun(standings.order())
    assert order.is_known
    assert process_id in ids(order)
    assert order.waiting == 0
    assert [one.place for one in order.ranked] == sorted(one.place for one in order.ranked)


def test_many_at_once_wait_for_one_look(
    store: Store, arun: Any, process_id: str, opened: Opened
) -> None:
    arun(ingest(store, process({"t": "T."}, [], {}, process_id=process_id)))
    standings = Summaries(opened)  # type: ignore[arg-type]

    async def many() -> list[module.Order]:
        return await asyncio.gather(*(standings.order() for _ in range(20)))

    found = arun(many())
    assert all(process_id in ids(one) for one in found)
    assert opened.asked == 1


def test_a_graph_that_is_away_is_told_and_asked_again(arun: Any, opened: Opened) -> None:
    standings = Summaries(opened)  # type: ignore[arg-type]
    opened.is_away = True
    for _ in range(2):
        with pytest.raises(EngineUnavailable):
            arun(standings.order())
    opened.is_away = False
    assert arun(standings.order()).waiting == 0


def test_the_order_of_many_is_kept_for_a_while_but_not_when_it_is_known_to_be_old(
    store: Store, arun: Any, process_id: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLAIMS_TOGETHER", 1)
    monkeypatch.setattr(module, "SHARE", 10_000)
    monkeypatch.setattr(module, "GLANCE_SECONDS", 30.0)
    names = [process_id, f"{process_id}-b"]
    for name in names:
        arun(ingest(store, process({"t": "T."}, [], {}, process_id=name)))
    try:
        standings = Summaries(opened)  # type: ignore[arg-type]
        assert set(names) <= set(ids(arun(standings.order())))
        asked = opened.asked
        arun(standings.order())
        assert opened.asked == asked
        standings.forget()
        arun(standings.order())
        assert opened.asked == asked + 1
    finally:
        arun(store.processes.delete(names[1]))


def test_what_was_just_stored_is_in_the_order_of_many_however_short_a_page_may_glance(
    store: Store, arun: Any, process_id: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLAIMS_TOGETHER", 1)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 30.0)
    names = [process_id, f"{process_id}-b", f"{process_id}-c"]
    for name in names[:2]:
        arun(ingest(store, process({"t": "T."}, [], {}, process_id=name)))
    standings = Summaries(opened)  # type: ignore[arg-type]
    arun(standings.order())
    monkeypatch.setattr(module, "GLANCE_SECONDS", 0.0)

    async def stored_while_an_order_is_made() -> module.Order:
        standings.forget()
        earlier = asyncio.create_task(standings.order())
        await asyncio.sleep(0)
        await ingest(store, process({"t": "T."}, [], {}, process_id=names[2]))
        standings.forget()
        order = await standings.order()
        await earlier
        return order

    try:
        assert names[2] in ids(arun(stored_while_an_order_is_made()))
    finally:
        for name in names[1:]:
            arun(store.processes.delete(name))
