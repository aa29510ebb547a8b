"""Reads that span statements: what they do where the process changes between two of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from veritrail_graph.api.page.plugin_pages import plugin_routers
from veritrail_graph.api.server.application import ROUTERS
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.graph.errors import EngineError, NotFound, ProcessConflict
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.versions import VersionStore, read_ready


class ChangingGraph:
    """A process that has another version, or is hidden, whenever a test says so.

    Attributes:
        version: The version that is ready; None: there is none.
        is_replacing: Whether one is being put in place, which ends when somebody waits for it.
    """

    def __init__(self) -> None:
        self.version: int | None = 1
        self.is_replacing = False
        self.finishing: dict[str, Any] = {}

    def replace(self) -> None:
        self.version = (self.version or 0) + 1

    async def read(self, name: str, /, **_parameters: Any) -> list[tuple[Any, ...]]:
        if name == "process/state":
            is_staged = _parameters["process_ids"][0].endswith("~new")
            if not (self.is_replacing and is_staged):
                return []
            self.is_replacing, self.version = False, 7
            return [("p~new", "replacing", None, None, "p", "h", None)]
        if self.version is None:
            return []
        return [("p", f"h{self.version}", f"t{self.version}", "t1")]

    def of_process(self, read: Callable[[], Awaitable[Any]]) -> Any:
        store = VersionStore(cast(Database, self))
        return asyncio.run(cast(Any, store.of_process("p", read)))


def reading(graph: ChangingGraph, *steps: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """A read that does one step each time that it is called, and what it saw so far."""
    seen: list[Any] = []

    async def read() -> Any:
        step = steps[min(len(seen), len(steps) - 1)]
        seen.append(graph.version)
        return step()

    return read, seen


def test_a_read_that_a_replacement_cut_is_begun_anew() -> None:
    graph = ChangingGraph()

    def torn() -> list[str]:
        graph.replace()
        return []

    read, seen = reading(graph, torn, lambda: ["a", "t"])
    assert graph.of_process(read) == ["a", "t"]
    assert seen == [1, 2]


def test_what_two_replacements_hide_before_and_after_a_read_is_read_anew() -> None:
    graph = ChangingGraph()
    graph.version = None

    def comes_back() -> list[str]:
        graph.replace()
        return []

    read, seen = reading(graph, list, comes_back, lambda: ["a", "t"])
    assert graph.of_process(read) == ["a", "t"]
    assert seen == [None, None, 1]
    graph.version = None
    read, seen = reading(graph, list)  # there is none indeed
    assert graph.of_process(read) == []
    assert seen == [None, None]


@pytest.mark.parametrize(
    "fault", [NotFound("no node"), EngineError("it is damaged"), KeyError("a")], ids=repr
)
def test_what_fails_because_of_a_replacement_is_no_fault(fault: Exception) -> None:
    graph = ChangingGraph()

    def torn() -> None:
        graph.replace()
        raise fault

    read, seen = reading(graph, torn, lambda: "whole")
    assert graph.of_process(read) == "whole"
    assert len(seen) == 2
    read, _ = reading(graph, lambda: (_ for _ in ()).throw(fault))
    with pytest.raises(type(fault)):
        graph.of_process(read)


def test_after_the_third_change_the_reader_is_told_so() -> None:
    graph = ChangingGraph()
    read, seen = reading(graph, graph.replace)
    with pytest.raises(ProcessConflict, match="while it was being read, 3 times") as told:
        graph.of_process(read)
    assert told.value.code == "process_changing"
    assert seen == [1, 2, 3]


def test_damage_is_told_only_after_a_second_look_without_a_writer() -> None:
    graph = ChangingGraph()

    def damaged() -> None:
        raise EngineError("0 nodes and should have 39", code="graph_damaged")

    read, seen = reading(graph, damaged, lambda: "whole")
    assert graph.of_process(read) == "whole"
    read, seen = reading(graph, damaged)
    with pytest.raises(EngineError, match="should have 39"):
        graph.of_process(read)
    assert len(seen) == 2


def test_a_process_that_a_replacement_hides_is_waited_for() -> None:
    graph = ChangingGraph()
    graph.version, graph.is_replacing = None, True
    read, seen = reading(graph, lambda: [] if graph.version is None else ["a"])
    assert graph.of_process(read) == ["a"]
    assert seen == [None, 7]


def test_a_read_within_a_read_is_part_of_it_and_one_behind_its_end_is_not() -> None:
    graph = ChangingGraph()
    store = VersionStore(cast(Database, graph))
    inner: list[Any] = []
    later: list[asyncio.Task[Any]] = []

    async def changing() -> str:
        inner.append(graph.version)
        graph.replace()
        return "seen"

    async def outer() -> str:
        found = await store.of_process("p", changing)
        if len(later) < 1:
            later.append(asyncio.ensure_future(behind()))
        return found

    async def behind() -> str:
        await asyncio.sleep(0.01)
        return await store.of_process("p", changing)

    async def both() -> None:
        with pytest.raises(ProcessConflict):
            await store.of_process("p", outer)
        assert inner == [1, 2, 3]
        with pytest.raises(ProcessConflict):
            await later[0]
        assert inner == [1, 2, 3, 4, 5, 6]

    asyncio.run(both())


def test_an_empty_list_is_believed_only_of_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ChangingGraph()

    async def ready(*_: Any) -> None:
        pass

    monkeypatch.setattr("veritrail_graph.graph.store.versions.ready_process", ready)
    left = [[], [], ["a"]]

    async def read() -> list[str]:
        graph.replace()
        return left.pop(0) if left else ["a"]

    async def still() -> list[str]:
        return []

    with pytest.raises(ProcessConflict):
        asyncio.run(read_ready(cast(Database, graph), "p", read))
    assert asyncio.run(read_ready(cast(Database, graph), "p", still)) == []


def test_every_route_that_only_reads_a_process_or_a_verification_is_watched() -> None:
    unwatched = [
        route.path
        for router in (*ROUTERS, *plugin_routers())
        for route in router.routes
        if "{process_id}" in route.path or "{verification_id}" in route.path
        if "GET" in route.methods or route.path.endswith(":batchGet")
        if not (isinstance(route, OneVersion) and route.is_watched)
    ]
    assert unwatched == []
