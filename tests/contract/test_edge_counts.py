"""Edges between stages are counted once, in the background, on both engines."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.ports import free_port
from fakes.processes import process

from veritrail_graph.api.app import Application
from veritrail_graph.api.page.pages import graph as graph_page
from veritrail_graph.api.page.pages.graph import Counted, EdgeCounts
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.store import Database, DatabaseAddress, Store

pytestmark = pytest.mark.engine


def stored(store: Store, arun: Any, name: str, edges: list[tuple[str, str]]) -> Process:
    texts = dict.fromkeys((end for edge in edges for end in edge), "Text.")
    arun(ingest(store, process(texts, edges, process_id=name), replace=True))
    found: Process = arun(store.processes.get(name))
    return found


async def counted(counts: EdgeCounts, store: Store, of: Process) -> Counted:
    for _ in range(2_000):
        found = await counts.of(Application.over(store), of)
        if found.edges is not None or found.has_failed:
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("it was never counted")


def test_who_has_no_patience_finds_the_count_later(
    store: Store, arun: Any, process_id: str
) -> None:
    of = stored(store, arun, process_id, [("a", "m"), ("b", "m"), ("m", "t")])
    counts = EdgeCounts(patience=0.0)
    assert arun(counts.of(Application.over(store), of)) == Counted(None)
    assert arun(counted(counts, store, of)).edges == {(1, 2): 2, (2, 3): 1}
    before = store.database.calls
    assert arun(counts.of(Application.over(store), of)).edges == {(1, 2): 2, (2, 3): 1}
    assert store.database.calls == before, "what is kept is not counted again"


def test_another_content_is_counted_anew(store: Store, arun: Any, process_id: str) -> None:
    counts = EdgeCounts()
    old = stored(store, arun, process_id, [("a", "t")])
    assert arun(counted(counts, store, old)).edges == {(1, 2): 1}
    new = stored(store, arun, process_id, [("a", "t"), ("b", "t")])
    assert arun(counted(counts, store, new)).edges == {(1, 2): 2}


def test_a_count_that_failed_is_tried_again(store: Store, arun: Any, process_id: str) -> None:
    of = stored(store, arun, process_id, [("a", "t")])
    counts = EdgeCounts()
    nowhere = Database(DatabaseAddress(f"bolt://127.0.0.1:{free_port()}"), retry_seconds=0.1)
    assert arun(counted(counts, Store.of(nowhere), of)) == Counted(None, has_failed=True)
    arun(nowhere.close())
    assert arun(counted(counts, store, of)).edges == {(1, 2): 1}


async def left_alone(counts: EdgeCounts, store: Store, of: Process) -> None:
    """Ask once without patience, come back never, and see the count end."""
    others = asyncio.all_tasks()
    assert await counts.of(Application.over(store), of) == Counted(None)
    await asyncio.wait(asyncio.all_tasks() - others)
    await asyncio.sleep(0)


def test_counts_that_nobody_comes_back_for_are_bounded_too(
    store: Store, arun: Any, process_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_page, "MOST_KEPT", 1)
    counts = EdgeCounts(patience=0.0)
    older = stored(store, arun, process_id, [("a", "t")])
    arun(left_alone(counts, store, older))
    newer = stored(store, arun, process_id, [("a", "t"), ("b", "t")])
    arun(left_alone(counts, store, newer))
    assert arun(counts.of(Application.over(store), newer)).edges == {(1, 2): 2}
    assert arun(counts.of(Application.over(store), older)) == Counted(None), (
        "the older one was let go"
    )


@pytest.mark.parametrize(("fresh", "is_told"), [(60.0, True), (0.0, False)])
def test_only_a_failure_of_just_now_is_told(
    store: Store,
    arun: Any,
    process_id: str,
    monkeypatch: pytest.MonkeyPatch,
    fresh: float,
    is_told: bool,
) -> None:
    monkeypatch.setattr(graph_page, "FRESH", fresh)
    counts = EdgeCounts(patience=0.0)
    of = stored(store, arun, process_id, [("a", "t")])
    nowhere = Database(DatabaseAddress(f"bolt://127.0.0.1:{free_port()}"), retry_seconds=0.1)
    arun(left_alone(counts, Store.of(nowhere), of))
    arun(nowhere.close())
    assert arun(counts.of(Application.over(store), of)).has_failed is is_told
    assert arun(counted(counts, store, of)).edges == {(1, 2): 1}
