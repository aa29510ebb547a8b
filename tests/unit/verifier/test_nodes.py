"""Nodes shared between the claims of a run: each is asked for once, none is lost."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest

from veritrail_graph.graph.adjacency import Adjacency, AdjacencyBuilder, Unfit
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.model import NodeRef, Role, Sentence, SourcesLeft, SourcesRead
from veritrail_graph.verifier import nodes as nodes_of_runs
from veritrail_graph.verifier.filed_texts import FiledNode, TextFile
from veritrail_graph.verifier.nodes import ProcessChanged, SharedNodes
from veritrail_graph.verifier.ports import LateNode, ReadNode, SplitNode


class Lines:
    """One sentence a line."""

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        lines = text.split("\n")
        starts = accumulate((len(line) + 1 for line in lines), initial=0)
        return tuple(
            Sentence(node_id, number, start, start + len(line), line)
            for number, (line, start) in enumerate(zip(lines, starts, strict=False))
        )


class Reader:
    """A process of a hub `t` over many roots, which counts what is asked of it."""

    def __init__(self, roots: int = 5) -> None:
        self.refs = {f"r{n}": NodeRef(f"r{n}", 1, n, Role.ROOT) for n in range(roots)}
        self.calls: list[tuple[str, Any]] = []

    async def source_nodes(
        self,
        process_id: str,
        of: Collection[str],
        *,
        with_texts: bool,
        checked: Collection[str] = (),
    ) -> SourcesRead:
        self.calls.append(("sources", (tuple(of), with_texts)))
        await asyncio.sleep(0)
        texts = {name: f"text of\n{name}" for name in self.refs} if with_texts else {}
        return SourcesRead(
            tuple(self.refs.values()),
            {name: tuple(self.refs) for name in of},
            texts,
            frozenset(self.refs).intersection(checked),
        )

    async def candidates(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> set[str]:
        self.calls.append(("candidates", (tuple(of), tuple(checked))))
        await asyncio.sleep(0)
        return set(self.refs).difference(checked)

    async def left(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> SourcesLeft:
        self.calls.append(("left", (tuple(of), tuple(checked))))
        await asyncio.sleep(0)
        known = tuple(name for name in self.refs if name in checked)
        left = next((name for name in self.refs if name not in checked), None)
        sources = dict.fromkeys(of, known) if known else {}
        return SourcesLeft(left, sources, len(of) * len(self.refs))

    async def topology(self, process_id: str, nodes: int, edges: int) -> Adjacency:
        self.calls.append(("topology", (nodes, edges)))
        await asyncio.sleep(0)
        raise Unfit("a hub is all that there is")

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        self.calls.append(("texts", tuple(node_ids)))
        await asyncio.sleep(0)
        return {name: f"text of\n{name}" for name in node_ids}


def test_what_was_checked_is_left_out_by_a_statement_while_the_topology_is_not_known() -> None:
    reader = Reader()
    passed = [reader.refs["r1"], reader.refs["r3"]]

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        first = await nodes.source_nodes(["t"])
        assert [kind for kind, _ in reader.calls] == ["sources"]
        found = await nodes.source_nodes(["t"], passed)
        assert [ref.node_id for ref in found.nodes] == ["r0", "r2", "r4"]
        assert found.sources == first.sources
        assert reader.calls[1:] == [("candidates", (("t",), ("r1", "r3")))]

    asyncio.run(work())


def test_the_statement_that_reads_for_one_claim_says_what_it_has_checked() -> None:
    reader = Reader()
    passed = [reader.refs["r1"], reader.refs["r3"]]

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        found = await nodes.source_nodes(["t"], passed)
        assert [ref.node_id for ref in found.nodes] == ["r0", "r2", "r4"]
        assert [kind for kind, _ in reader.calls] == ["sources"]
        # The second claim gets what was read for the first, and has checked other nodes.
        both = await asyncio.gather(*(nodes.source_nodes(["u"], [one]) for one in passed))
        assert [[ref.node_id for ref in one.nodes] for one in both] == [
            ["r0", "r2", "r3", "r4"],
            ["r0", "r1", "r2", "r4"],
        ]

    asyncio.run(work())
    kinds = [kind for kind, _ in reader.calls]
    assert kinds == ["sources", "sources", "candidates"]


def test_texts_come_with_the_sources_in_one_call() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        found = await nodes.source_nodes(["t"])
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
            found = await nodes.source_nodes(["t"])
            assert len(await nodes.read(found.nodes)) == 5

        await asyncio.gather(*(one() for _ in range(50)))

    asyncio.run(work())
    assert len(reader.calls) == 1


def test_texts_beyond_what_memory_holds_are_read_once_and_stay_in_a_file() -> None:
    texts = {f"r{n}": f"{n}. Élan.\nNaïve \ud800 \U0001f600." for n in range(5)}
    reader = Reader()

    async def other_texts(process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        reader.calls.append(("texts", tuple(node_ids)))
        return {name: texts[name] for name in node_ids}

    reader.texts = other_texts  # type: ignore[method-assign]
    refs = list(reader.refs.values())

    async def read(limit: int) -> list[ReadNode]:
        nodes = SharedNodes(reader, "p", Lines(), cached_characters=limit)
        return [node for ref in (*refs, *reversed(refs)) for node in await nodes.read([ref])]

    held, filed = asyncio.run(read(1_000)), asyncio.run(read(2 * len(texts["r0"])))
    assert [type(one) for one in filed[:5]] == [SplitNode] * 2 + [FiledNode] * 3
    assert [one.text for one in filed] == [texts[one.ref.node_id] for one in held]
    assert [one.sentences for one in filed] == [one.sentences for one in held]
    assert [names for _, names in reader.calls] == [(ref.node_id,) for ref in refs] * 2


def test_many_texts_are_read_and_kept_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_of_runs, "READ_AT_ONCE", 2)
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        read = await nodes.read(list(reader.refs.values()))
        assert {type(one) for one in read} == {LateNode}
        assert [one.text for one in read] == [f"text of\nr{n}" for n in range(5)]

    asyncio.run(work())
    assert [names for _, names in reader.calls] == [("r0", "r1"), ("r2", "r3"), ("r4",)]


def test_texts_of_the_sources_of_very_many_nodes_do_not_come_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes_of_runs, "READ_AT_ONCE", 2)
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        await nodes.source_nodes(["t", "u"])
        await nodes.source_nodes(["v", "w", "x"])

    asyncio.run(work())
    assert [call for call in reader.calls if call[0] == "sources"] == [
        ("sources", (("t", "u"), True)),
        ("sources", (("v", "w", "x"), False)),
    ]


def test_where_no_file_can_be_made_the_oldest_texts_are_let_go_and_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full() -> TextFile:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(nodes_of_runs, "TextFile", full)
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines(), cached_characters=25)
        found = await nodes.source_nodes(["t"])
        first = await nodes.read(found.nodes)
        second = await nodes.read(found.nodes)
        assert first == second

    asyncio.run(work())
    assert [what for what, _ in reader.calls] == ["sources", "texts"]
    assert set(reader.calls[1][1]) < set(reader.refs)


def test_a_frontier_too_large_to_hold_its_sentences_makes_them_at_each_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def read(limit: int) -> tuple[ReadNode, ...]:
        nodes = SharedNodes(Reader(), "p", Lines(), cached_characters=limit)
        return await nodes.read((await nodes.source_nodes(["t"])).nodes)

    held = asyncio.run(read(1_000_000))
    monkeypatch.setattr(nodes_of_runs, "HELD_IN_SENTENCES", 1)
    late = asyncio.run(read(1_000_000))
    assert {type(one) for one in held} == {SplitNode}
    assert {type(one) for one in late} == {LateNode}
    assert [one.sentences for one in late] == [one.sentences for one in held]
    assert [one.sentences for one in late] == [one.sentences for one in held]  # again


def test_texts_that_did_not_come_along_are_read_when_they_are_needed() -> None:
    reader = Reader()
    with_texts = reader.source_nodes

    async def without_texts(*arguments: Any, **options: Any) -> SourcesRead:
        return replace(await with_texts(*arguments, **options), texts={})

    reader.source_nodes = without_texts  # type: ignore[method-assign]

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        found = await nodes.source_nodes(["t"])
        assert len(await nodes.read(found.nodes[:2])) == 2

    asyncio.run(work())
    assert reader.calls == [("sources", (("t",), True)), ("texts", ("r0", "r1"))]


def test_long_texts_are_split_away_from_the_event_loop() -> None:
    reader = Reader(1)

    async def long_texts(process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        return dict.fromkeys(node_ids, "x\n" * 30_000)

    reader.texts = long_texts  # type: ignore[method-assign]

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        (node,) = await nodes.read(list(reader.refs.values()))
        assert len(node.sentences) == 30_001

    asyncio.run(work())


def test_a_node_that_has_lost_its_sources_is_no_root_but_a_process_that_changed() -> None:
    async def work() -> None:
        nodes = SharedNodes(Reader(0), "p", Lines())
        with pytest.raises(ProcessChanged, match="'t'"):
            await nodes.source_nodes(["t"])

    asyncio.run(work())


def test_a_text_that_is_gone_is_not_an_empty_text() -> None:
    reader = Reader()

    async def nothing(process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        return {}

    reader.texts = nothing  # type: ignore[method-assign]

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        with pytest.raises(ProcessChanged, match="'r0'"):
            await nodes.read(list(reader.refs.values()))

    asyncio.run(work())


def test_claims_that_wait_at_the_same_time_are_read_in_one_call() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        await asyncio.gather(*(nodes.source_nodes([f"t{n}"]) for n in range(8)))

    asyncio.run(work())
    assert [names for _, (names, _) in reader.calls] == [
        ("t0",),
        tuple(f"t{n}" for n in range(1, 8)),
    ]


def test_a_fault_is_told_to_all_that_wait() -> None:
    reader = Reader()
    calls = []

    async def broken(*arguments: Any, **options: Any) -> SourcesRead:
        calls.append(arguments)
        await asyncio.sleep(0)
        raise EngineUnavailable("gone")

    reader.source_nodes = broken  # type: ignore[method-assign]

    async def work() -> list[Any]:
        nodes = SharedNodes(reader, "p", Lines())
        asked = [nodes.source_nodes([f"t{n}"]) for n in range(8)]
        return await asyncio.gather(*asked, return_exceptions=True)

    assert [type(fault) for fault in asyncio.run(work())] == [EngineUnavailable] * 8
    assert len(calls) == 2


def test_a_claim_that_is_given_up_takes_no_other_with_it() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        asked = [asyncio.ensure_future(nodes.source_nodes([f"t{n}"])) for n in range(3)]
        await asyncio.sleep(0)
        asked[0].cancel()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert [len(one.nodes) for one in found[1:]] == [5, 5]

    asyncio.run(work())


def test_one_node_that_is_left_is_enough() -> None:
    reader = Reader()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines())
        checked = [NodeRef("s", 2, 9, Role.INTERMEDIATE)]
        for _ in range(3):
            found = await nodes.left(["s"], checked)
            assert [ref.node_id for ref in found.nodes] == ["r0"]
        found = await nodes.left(["s"], [*checked, *reader.refs.values()])
        assert {ref.node_id for ref in found.nodes} == {*reader.refs}
        assert {name: set(ids) for name, ids in found.sources.items()} == {"s": {*reader.refs}}

    asyncio.run(work())
    # What was asked before, by claims for which as little was found, is not asked again.
    assert [len(checked) for _, (_, checked) in reader.calls] == [1, 6]


def test_what_is_left_pays_for_the_topology_too() -> None:
    reader = Known()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines(), size=55, edges=250)
        first = list(reader.refs.values())[:2]
        for number in range(4):
            found = await nodes.left([f"t{number}"], first)
            known = {ref for ref in found.nodes if ref in first}
            assert known == set(first)
            assert len(found.nodes) == 3

    asyncio.run(work())
    assert [what for what, _ in reader.calls] == ["left", "topology"]


class Known(Reader):
    """The hub with a topology."""

    async def topology(self, process_id: str, nodes: int, edges: int) -> Adjacency:
        self.calls.append(("topology", (nodes, edges)))
        building = AdjacencyBuilder()
        for ref in self.refs.values():
            building.add(ref.node_id, ref.stage, ref.position, ref.role.value, ())
        for name in range(50):
            building.add(f"t{name}", 2, len(self.refs) + name, "terminal", range(len(self.refs)))
        return building.build()


@pytest.mark.parametrize(("edges", "topologies"), [(250, 1), (10**6, 0)])
def test_the_topology_is_read_once_and_only_when_it_has_paid_for_itself(
    edges: int, topologies: int
) -> None:
    """Texts are new to the first claim alone; all others ask about edges only."""
    reader = Known()

    async def work() -> None:
        nodes = SharedNodes(reader, "p", Lines(), size=55, edges=edges)
        for number in range(50):
            found = await nodes.source_nodes([f"t{number}"])
            assert found.sources == {f"t{number}": tuple(reader.refs)}
            assert len(await nodes.read(found.nodes)) == 5

    asyncio.run(work())
    kinds = [what for what, _ in reader.calls]
    assert kinds.count("topology") == topologies
    assert kinds.count("sources") == (2 if topologies else 50)


def test_where_very_many_nodes_are_asked_about_the_topology_is_read_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes_of_runs, "READ_AT_ONCE", 3)
    few, many = [f"t{number}" for number in range(3)], [f"t{number}" for number in range(50)]

    async def asked(of: list[str], *, is_left: bool) -> list[str]:
        reader = Known()
        nodes = SharedNodes(reader, "p", Lines(), size=55, edges=250)
        found = await (nodes.left(of, ()) if is_left else nodes.source_nodes(of))
        assert found.nodes[0].node_id == "r0"
        return [what for what, _ in reader.calls]

    async def known(of: list[str]) -> list[str]:
        reader = Known()
        nodes = SharedNodes(reader, "p", Lines(), size=2_000, edges=222)
        await nodes.source_nodes(of)
        await nodes.left(of, ())
        return [what for what, _ in reader.calls]

    assert asyncio.run(known(many)) == ["sources"]
    for is_left, name in ((False, "sources"), (True, "left")):
        assert asyncio.run(asked(few, is_left=is_left)) == [name]
        assert asyncio.run(asked(many, is_left=is_left)) == ["topology"]


def test_nodes_are_read_in_their_order_however_often_each_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes_of_runs, "PASSED_AT_ONCE", 2)
    reader = Reader()

    async def work() -> list[str]:
        nodes = SharedNodes(reader, "p", Lines())
        refs = (await nodes.source_nodes(["t"])).nodes
        asked = [refs[n] for n in (3, 1, 3, 1, 0, 0, 4)]
        return [node.ref.node_id for node in await nodes.read(asked)]

    assert asyncio.run(work()) == ["r3", "r1", "r3", "r1", "r0", "r0", "r4"]
