"""Edges between stages are counted once, behind whoever asks, on both engines."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.ports import free_port
from fakes.processes import process

from api.web.edge_counts import Counted, EdgeCounts
from graph.ingest import ingest
from graph.model import Process
from graph.store import Database, DatabaseAddress, Store

pytestmark = pytest.mark.engine


def stored(store: Store, arun: Any, name: str, edges: list[tuple[str, str]]) -> Process:
    texts = dict.fromkeys((end for edge in edges for end in edge), "Text.")
    arun(ingest(store, process(texts, edges, process_id=name), replace=True))
    found: Process = arun(store.processes.get(name))
    return found


async def counted(counts: EdgeCounts, store: Store, of: Process) -> Counted:
    for _ in range(2_000):
        found = await counts.of(store, of)
        if found.edges is not None or found.has_failed:
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("it was never counted")


def test_who_has_no_patience_finds_the_count_later(
    store: Store, arun: Any, process_id: str
) -> None:
    of = stored(store, arun, process_id, [("a", "m"), ("b", "m"), ("m", "t")])
    counts = EdgeCounts(patience=0.0)
    assert arun(counts.of(store, of)) == Counted(None)
    assert arun(counted(counts, store, of)).edges == {(1, 2): 2, (2, 3): 1}
    before = store.database.calls
    assert arun(counts.of(store, of)).edges == {(1, 2): 2, (2, 3): 1}
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
