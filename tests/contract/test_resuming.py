"""An ingest that was killed goes on: nothing twice, nothing missing, on both engines."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from fakes.graph_dump import dump
from fakes.processes import MemoryInput, process

from veritrail_graph.graph.errors import EngineError, ProcessConflict
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.ingest.write import edge_slices, span_slices
from veritrail_graph.graph.store import Database, Store

pytestmark = pytest.mark.engine

GONE = f"{socket.gethostname()}/999999999/0"  # no process has this number
WRITES = 16
"""More than an ingest of `layered` has, small batches and all."""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veritrail_graph.graph.ingest.write.BATCH_ROWS", 4)
    monkeypatch.setattr("veritrail_graph.graph.ingest.write.EDGE_BATCH", 5)


def layered(process_id: str, wide: int = 8) -> MemoryInput:
    texts = {f"c{n}": f"Chunk {n}." for n in range(wide)} | {f"s{n}": f"Sum {n}." for n in range(4)}
    edges = [(f"c{n}", f"s{(n + k) % 4}") for n in range(wide) for k in range(2)]
    made = process(
        {**texts, "t": "All."}, [*edges, *((f"s{n}", "t") for n in range(4))],
        {"k": "All there."}, process_id=process_id,
    )  # fmt: skip
    made.edges.append(EdgeRecord("c0", "t", "cited", cited=True))
    return made


def killed(
    store: Store, arun: Any, source: MemoryInput, left: int, stored: bool, **how: Any
) -> bool:
    """Ingest and be killed at a write, before or after it is stored; whether it came to that."""

    async def cut(transaction: Any, *patience: Any, **options: Any) -> Any:
        nonlocal left
        if transaction._is_read:
            return await Database._do(store.database, transaction, *patience, **options)
        left -= 1
        if left < 0 and not (stored and left == -1):
            raise EngineError("killed")
        done = await Database._do(store.database, transaction, *patience, **options)
        if left == -1:
            raise EngineError("killed")
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.database, "_do", cut)
        try:
            arun(ingest(store, source, **how))
        except (EngineError, ProcessConflict):
            pass
        else:
            return False
    own = str(source.header.process_id)
    for name in (own, store.processes.staged_id(own)):
        state = arun(store.processes.state(name))
        if state is not None and state.status != "ready":
            arun(store.processes.mark(name, state.status, owner=GONE))
    return True


@pytest.fixture
def whole(store: Store, arun: Any, process_id: str) -> list[str]:
    """What an undisturbed ingest leaves."""
    arun(ingest(store, layered(process_id)))
    found: list[str] = arun(dump(store, process_id, "created_at", "first_stored_at"))
    return found


@pytest.mark.parametrize("stored", [False, True])
def test_killed_at_every_write_it_goes_on_to_the_same_end(
    store: Store, arun: Any, process_id: str, whole: list[str], stored: bool
) -> None:
    resumed = 0
    for left in range(WRITES):
        arun(store.processes.delete(process_id))
        if not killed(store, arun, layered(process_id), left, stored):
            break
        report = arun(ingest(store, layered(process_id)))
        assert report.status in {"created", "unchanged"}
        resumed += report.resumed
        assert arun(dump(store, process_id, "created_at", "first_stored_at")) == whole
    assert resumed >= 5
    assert left > 8


def test_only_what_is_missing_is_sent(store: Store, arun: Any, process_id: str) -> None:
    killed(store, arun, layered(process_id), 6, stored=False)
    sent: list[tuple[str, int, int]] = []
    report = arun(
        ingest(
            store, layered(process_id), progress=lambda *what: sent.append(what)
        )
    )  # fmt: skip
    assert report.resumed
    first = next(done for what, done, _ in sent if what == "nodes")
    assert first > 0


@pytest.mark.parametrize("left", range(1, 12, 2))
def test_a_replacement_that_was_killed_goes_on_beside_what_is_stored(
    store: Store, arun: Any, process_id: str, whole: list[str], left: int
) -> None:
    arun(store.processes.delete(process_id))
    arun(ingest(store, process({"x": "X.", "y": "Y."}, [("x", "y")], process_id=process_id)))
    killed(store, arun, layered(process_id), left, stored=left % 4 == 1, replace=True)
    report = arun(ingest(store, layered(process_id), replace=True))
    assert report.status in {"replaced", "created", "unchanged"}
    assert arun(dump(store, process_id, "created_at", "first_stored_at")) == whole
    assert arun(store.processes.state(store.processes.staged_id(process_id))) is None


def test_another_content_starts_anew(store: Store, arun: Any, process_id: str) -> None:
    killed(store, arun, layered(process_id), 5, stored=True)
    other = layered(process_id)
    other.nodes.append(NodeRecord("more", "More.", "more"))
    other.edges.append(EdgeRecord("more", "t", "more"))
    report = arun(ingest(store, other))
    assert (report.status, report.resumed) == ("created", False)
    assert arun(store.processes.get(process_id)).nodes == 14


def test_the_same_content_in_another_order_starts_anew(
    store: Store, arun: Any, process_id: str, whole: list[str]
) -> None:
    arun(store.processes.delete(process_id))
    other = layered(process_id)
    other.nodes.reverse()
    killed(store, arun, other, 5, stored=True)
    report = arun(ingest(store, layered(process_id)))
    assert not report.resumed
    assert arun(dump(store, process_id, "created_at", "first_stored_at")) == whole


def test_who_was_taken_for_dead_stores_nothing_more(
    store: Store, arun: Any, process_id: str
) -> None:
    seen = 0

    def taken_over(what: str, done: int, _total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == 1:  # another command takes the process over while nodes are sent
            store.database._driver.execute_query(
                "MATCH (p:Process {process_id: $p}) SET p.owner = 'other/1/1', p.beat = $beat",
                p=process_id, beat="2999-01-01T00:00:00+00:00",
                database_=store.database.address.database,
            )  # fmt: skip

    with pytest.raises(ProcessConflict, match="taken over"):
        arun(ingest(store, layered(process_id, wide=60), progress=taken_over))
    state = arun(store.processes.state(process_id))
    assert (state.owner, state.status) == ("other/1/1", "loading")


def test_batches_follow_from_the_input_and_hold_everything_once() -> None:
    found = survey(layered("p", wide=40))
    spans, edges = span_slices(found), edge_slices(found)
    assert [n for start, end in spans for n in range(start, end)] == list(range(45))
    assert sorted(n for start, end in edges for n in range(start, end)) == list(range(85))
    assert edges != sorted(edges)  # neighbours are not sent side by side
