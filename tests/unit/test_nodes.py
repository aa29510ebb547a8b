"""Nodes shared between the claims of a run: each is asked for once, none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from graph.model import NodeRef, Role, Sentence, SourcesRead
from verifier.nodes import ProcessChanged, SharedNodes


class Lines:
    """One sentence a line."""

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        return tuple(
            Sentence(node_id, number, 0, len(line), line)
            for number, line in enumerate(text.split("\n"))
        )


class Reader:
    """A process of a hub `t` over many roots, which counts what is asked of it."""

    def __init__(self, roots: int = 5) -> None:
        self.refs = {f"r{n}": NodeRef(f"r{n}", 1, n, Role.ROOT) for n in range(roots)}
        self.calls: list[tuple[str, Any]] = []

    async def source_nodes(
        self, process_id: str, of: Collection[str], *, with_texts: bool, nodes: int = 0
    ) -> SourcesRead:
        self.calls.append(("sources", (tuple(of), with_texts)))
        await asyncio.sleep(0)
        texts = {name: f"text of\n{name}" for name in self.refs} if with_texts else {}
        return SourcesRead(
            tuple(self.refs.values()), {name: tuple(self.refs) for name in of}, texts
        )

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        self.calls.append(("texts", tuple(node_ids)))
        await asyncio.sleep(0)
        return {name: f"text of\n{name}" for name in node_ids}


def test_texts_come_with_the_sources_in_one_call() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        found = await nodes.source_nodes(["t"], will_read=True)
        read = await nodes.read(found.nodes)
        assert [node.text for node in read] == [f"text of\nr{n}" for n in range(5)]
        assert [len(node.sentences) for node in read] == [2] * 5

    asyncio.run(work())
    assert reader.calls == [("sources", (("t",), True))]


def test_many_claims_over_one_node_cost_no_more_calls_than_one() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())

        async def one() -> None:
            found = await nodes.source_nodes(["t"], will_read=True)
            assert len(await nodes.read(found.nodes)) == 5

        await asyncio.gather(*(one() for _ in range(50)))

    asyncio.run(work())
    assert len(reader.calls) == 1


def test_texts_that_were_let_go_are_read_again() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines(), cached_characters=25)
        found = await nodes.source_nodes(["t"], will_read=True)
        first = await nodes.read(found.nodes)
        second = await nodes.read(found.nodes)
        assert first == second

    asyncio.run(work())
    assert [what for what, _ in reader.calls] == ["sources", "texts"]
    assert set(reader.calls[1][1]) < set(reader.refs)


def test_texts_that_did_not_come_along_are_read_when_they_are_needed() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        found = await nodes.source_nodes(["t"], will_read=False)
        assert len(await nodes.read(found.nodes[:2])) == 2

    asyncio.run(work())
    assert reader.calls == [("sources", (("t",), False)), ("texts", ("r0", "r1"))]


def test_long_texts_are_split_away_from_the_event_loop() -> None:
    reader = Reader(1)

    async def long_texts(process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        return dict.fromkeys(node_ids, "x\n" * 100_000)

    reader.texts = long_texts  # type: ignore[method-assign]

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        found = await nodes.source_nodes(["t"], will_read=False)
        (node,) = await nodes.read(found.nodes)
        assert len(node.sentences) == 100_001

    asyncio.run(work())


def test_a_node_that_has_lost_its_sources_is_no_root_but_a_process_that_changed() -> None:
    async def work() -> None:
        nodes = SharedNodes(Reader(0), "p", Lines())
        with pytest.raises(ProcessChanged, match="'t'"):
            await nodes.source_nodes(["t"], will_read=True)

    asyncio.run(work())


def test_a_text_that_is_gone_is_not_an_empty_text() -> None:
    reader = Reader()

    async def nothing(process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        return {}

    reader.texts = nothing  # type: ignore[method-assign]

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        found = await nodes.source_nodes(["t"], will_read=False)
        with pytest.raises(ProcessChanged, match="'r0'"):
            await nodes.read(found.nodes)

    asyncio.run(work())
