"""Copying processes between the engines, and what arrives."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
from fakes.exporting import lines_of, nasty_input, store_nasty
from fakes.processes import process
from fakes.waiting import until

from veritrail_graph.graph.copying import copy_process
from veritrail_graph.graph.errors import BeingWritten, EngineError, NotFound, ProcessConflict
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def other(embedded_address: DatabaseAddress, arun: Any) -> Any:
    """The embedded engine, which is the other side of both engines under test."""
    stack = AsyncExitStack()
    yield arun(stack.enter_async_context(open_store(embedded_address)))
    arun(stack.aclose())


def is_embedded(store: Store, other: Store) -> bool:
    return store.database.address == other.database.address


@pytest.fixture
def pair(store: Store, other: Store, arun: Any, process_id: str) -> Any:
    """Two graphs; nothing is left in the other one."""
    if is_embedded(store, other):
        pytest.skip("both sides would be the same graph")
    yield store, other
    for left in (process_id, other.processes.staged_id(process_id)):
        if arun(other.processes.state(left)) is not None:
            arun(other.processes.delete(left))


def test_a_copy_is_the_same_there_and_back(pair: Any, arun: Any, process_id: str) -> None:
    server, embedded = pair
    arun(store_nasty(embedded, process_id))
    before = arun(lines_of(embedded, process_id))
    there = arun(copy_process(embedded, server, process_id))
    assert (there.report.status, there.report.verifications_added) == ("created", 3)
    assert (there.nodes, there.edges, there.claims, there.verifications) == (3, 3, 2, 3)
    assert arun(lines_of(server, process_id)) == before
    arun(embedded.processes.delete(process_id))
    arun(copy_process(server, embedded, process_id))
    assert arun(lines_of(embedded, process_id)) == before


def test_a_copy_can_be_repeated_and_adds_what_is_new(pair: Any, arun: Any, process_id: str) -> None:
    server, embedded = pair
    arun(ingest(embedded, nasty_input(process_id)))
    assert arun(copy_process(embedded, server, process_id)).verifications == 0
    arun(embedded.processes.delete(process_id))
    arun(store_nasty(embedded, process_id))
    again = arun(copy_process(embedded, server, process_id))
    assert (again.report.status, again.report.verifications_added) == ("unchanged", 3)
    once_more = arun(copy_process(embedded, server, process_id))
    assert once_more.report.verifications_added == 0


def test_other_content_is_replaced_only_when_that_is_said(
    pair: Any, arun: Any, process_id: str
) -> None:
    server, embedded = pair
    arun(store_nasty(embedded, process_id))
    arun(ingest(server, process({"a": "A", "b": "B"}, [("a", "b")], process_id=process_id)))
    before = arun(lines_of(server, process_id))
    with pytest.raises(ProcessConflict, match="with another content") as told:
        arun(copy_process(embedded, server, process_id))
    assert told.value.code == "other_content_in_target"  # `copy` has no --append
    assert arun(lines_of(server, process_id)) == before
    report = arun(copy_process(embedded, server, process_id, replace=True)).report
    assert (report.status, report.removed_verifications) == ("replaced", 0)
    assert arun(lines_of(server, process_id)) == arun(lines_of(embedded, process_id))


def test_a_copy_that_differs_is_told(pair: Any, arun: Any, process_id: str) -> None:
    server, embedded = pair
    arun(store_nasty(embedded, process_id))
    arun(copy_process(embedded, server, process_id))
    arun(embedded.claims.edit(process_id, "k2", "said otherwise"))
    with pytest.raises((EngineError, ProcessConflict)):
        arun(copy_process(embedded, server, process_id))
    trail = arun(embedded.trails.get(f"v-{process_id}-1"))
    arun(embedded.claims.edit(process_id, "k2", "another"))
    arun(embedded.trails.write(trail.replace(reasoning="said otherwise")))
    with pytest.raises(EngineError, match="not the same"):
        arun(copy_process(embedded, server, process_id))


def test_a_copy_that_was_cut_off_is_finished_by_the_next(
    pair: Any, arun: Any, process_id: str
) -> None:
    server, embedded = pair
    arun(store_nasty(embedded, process_id))

    async def cut_off(seconds: float) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(copy_process(embedded, server, process_id), seconds)

    for seconds in (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2):
        try:
            arun(cut_off(seconds))
        except pytest.fail.Exception:
            break  # it was quick enough

    def is_copied() -> bool:
        with suppress(BeingWritten):  # what was given up last may still be on its way to its end
            arun(copy_process(embedded, server, process_id))
            return True
        return False

    until(is_copied)
    assert arun(lines_of(server, process_id)) == arun(lines_of(embedded, process_id))


def test_what_is_not_there_cannot_be_copied(pair: Any, arun: Any, process_id: str) -> None:
    server, embedded = pair
    with pytest.raises(NotFound, match="No process"):
        arun(copy_process(embedded, server, process_id))
    assert arun(server.processes.state(process_id)) is None
