"""Reading for the walk: every answer is bounded, and all ways of reading say the same."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.processes import process

from veritrail_graph.graph.adjacency import Unfit
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import NodeRef, Origin, Role, Sentence
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.reading import TEXTS, NodeReader
from veritrail_graph.verifier.nodes import ProcessChanged, SharedNodes

pytestmark = pytest.mark.engine

LAYERS = 4
WIDTH = 30


def name(layer: int, place: int) -> str:
    place %= WIDTH
    # Python has one object for every character: ids as short as that are equal and the same.
    return chr(ord("A") + place) if layer == 0 and place < 26 else f"n{layer}.{place}"


TEXT = {
    name(layer, place): f"Text of {layer}, {place}."
    for layer in range(LAYERS)
    for place in range(WIDTH)
}
EDGES = [
    *(
        (name(layer - 1, place * step), name(layer, place))
        for layer in range(1, LAYERS)
        for place in range(WIDTH)
        for step in (1, 2, 3)
    ),
    *((name(0, place), name(LAYERS - 1, 0)) for place in range(WIDTH)),
    *((name(LAYERS - 1, place), "t") for place in range(WIDTH)),
    (name(1, 1), "t"),
]
SOURCES: dict[str, set[str]] = {
    node: {s for s, t in EDGES if t == node} for node in {**TEXT, "t": ""}
}


class Whole:
    """Every text is one sentence."""

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        return (Sentence(node_id, 0, 0, len(text), text),)


@pytest.fixture
def layers(store: Store, arun: Any, process_id: str) -> str:
    """A process of four layers, a hub and edges that pass over layers."""
    stages = {name(layer, place): layer + 1 for layer in range(LAYERS) for place in range(WIDTH)}
    made = process({**TEXT, "t": "T"}, EDGES, process_id=process_id)
    for place, node in enumerate(made.nodes):
        made.nodes[place] = type(node)(
            node.node_id, node.text, node.where, stage=stages.get(node.node_id, LAYERS + 1)
        )
    arun(ingest(store, made))
    return process_id


def edges_of(sources: Any) -> dict[str, set[str]]:
    return {target: set(ids) for target, ids in sources.items()}


def test_an_answer_that_would_be_too_long_is_read_in_parts(
    store: Store, arun: Any, layers: str
) -> None:
    of = ["t", *(name(layer, place) for layer in (1, 2, 3) for place in range(WIDTH))]
    whole = arun(store.reading.source_nodes(layers, of, with_texts=True))
    before = store.database.calls
    parts = arun(NodeReader(store.database, edges=20).source_nodes(layers, of, with_texts=True))
    assert store.database.calls > before + 3
    assert parts.nodes == whole.nodes
    assert edges_of(parts.sources) == edges_of(whole.sources) == {n: SOURCES[n] for n in of}
    assert all(len(ids) == len(set(ids)) for ids in parts.sources.values())
    every = [name for ids in parts.sources.values() for name in ids]
    assert len(set(map(id, every))) == len(set(every))  # one object for each, however often it came
    assert whole.texts == {ref.node_id: TEXT[ref.node_id] for ref in whole.nodes}
    assert parts.texts  # those of the first part, which are not sent again
    assert parts.texts.items() < whole.texts.items()


def test_long_texts_come_in_smaller_company_and_whole(
    store: Store, arun: Any, process_id: str
) -> None:
    limit = TEXTS[0][1]
    texts = {
        "empty": "",
        "short": "s",
        "at the limit": "a" * limit,
        "long": "é" * (limit + 1),
        "beyond the BMP": "\U0001f600" * (limit // 2),
        "just below": "\U0001f600" * (limit // 2 - 1),
        "very long": "v" * (TEXTS[1][1] + 5),
    }
    arun(
        ingest(
            store, process({**texts, "t": "T"}, [(n, "t") for n in texts], process_id=process_id)
        )
    )
    assert arun(store.reading.texts(process_id, [*texts, "unknown"])) == texts
    along = arun(store.reading.source_nodes(process_id, ["t"], with_texts=True)).texts
    assert along == {n: texts[n] for n in ("empty", "short", "just below")}


def test_the_topology_says_what_frontiers_say(store: Store, arun: Any, layers: str) -> None:
    whole = arun(store.reading.topology(layers, len(TEXT) + 1, len(set(EDGES))))
    of = ["t", *(name(layer, place) for layer in (1, 2, 3) for place in range(WIDTH))]
    read = arun(store.reading.source_nodes(layers, of, with_texts=False))
    found = whole.source_nodes(of)
    assert found.nodes == read.nodes
    assert edges_of(found.sources) == edges_of(read.sources)
    assert whole.source_nodes(["unknown"]).sources == {"unknown": ()}


def test_the_next_frontier_is_a_statement_without_what_was_checked(
    store: Store, arun: Any, layers: str
) -> None:
    of = ["t", *(name(2, place) for place in range(WIDTH))]
    every = {source for node in of for source in SOURCES[node]}
    checked = sorted(every)[::3]
    found = arun(store.reading.candidates(layers, of, [*checked, "unknown"]))
    assert found == every.difference(checked)
    assert arun(store.reading.candidates(layers, of, sorted(every))) == set()
    refs = {
        ref.node_id: ref
        for ref in arun(store.reading.source_nodes(layers, of, with_texts=False)).nodes
    }
    for reading in (store.reading, NodeReader(store.database, edges=2)):
        read = arun(reading.source_nodes(layers, of, with_texts=True, checked=checked))
        assert read.passed == {*checked}
    nodes = SharedNodes(store.reading, layers, Whole())
    again = arun(nodes.source_nodes(of, [refs[one] for one in checked]))
    assert {ref.node_id for ref in again.nodes} == found
    assert edges_of(again.sources) == {node: SOURCES[node] for node in of}


def test_a_topology_of_another_size_is_not_taken(store: Store, arun: Any, layers: str) -> None:
    for nodes, edges in ((len(TEXT), len(set(EDGES))), (len(TEXT) + 1, len(set(EDGES)) + 1)):
        with pytest.raises(Unfit):
            arun(store.reading.topology(layers, nodes, edges))


@pytest.mark.parametrize("edges", [250_000, 20, 2])
def test_what_is_left_of_source_nodes_and_what_was_checked(
    store: Store, arun: Any, layers: str, edges: int
) -> None:
    """In one answer, in halves, and by windows of the input."""
    reading = NodeReader(store.database, edges=edges)
    of = ["t", *(name(2, place) for place in range(WIDTH))]
    every = {source for node in of for source in SOURCES[node]}
    checked = sorted(every)[::3]
    found = arun(reading.left(layers, of, [*checked, "unknown"]))
    assert found.node_id in every.difference(checked)
    assert edges_of(found.sources) == {
        node: both for node in of if (both := SOURCES[node].intersection(checked))
    }
    assert all(len(ids) == len(set(ids)) for ids in found.sources.values())
    assert found.edges >= sum(len(SOURCES[node]) for node in of)
    nothing = arun(reading.left(layers, of, every))
    assert nothing.node_id is None
    assert edges_of(nothing.sources) == {node: SOURCES[node] for node in of}
    assert arun(reading.left(layers, ["unknown"], every)).node_id is None


@pytest.mark.parametrize("has_size", [False, True])
def test_all_ways_of_reading_say_the_same(
    store: Store, arun: Any, layers: str, has_size: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frontier by frontier, and from the topology, where it costs nothing."""
    monkeypatch.setattr("veritrail_graph.verifier.nodes.WHOLE_COSTS", 0)
    size = {"size": len(TEXT) + 1, "edges": len(set(EDGES))} if has_size else {}
    nodes = SharedNodes(store.reading, layers, Whole(), **size)

    async def work() -> list[Any]:
        said: list[Any] = []
        frontier, checked = ["t"], set[NodeRef]()
        while frontier:
            found = await nodes.source_nodes(frontier)
            texts = await nodes.read(found.nodes)
            assert [node.text for node in texts] == [TEXT[ref.node_id] for ref in found.nodes]
            new = [ref for ref in found.nodes if ref not in checked]
            checked |= set(new)
            said.append((found.nodes, edges_of(found.sources)))
            frontier = [ref.node_id for ref in new if ref.role is not Role.ROOT]
        return said

    for nodes_read, sources in arun(work()):
        assert sources == {node: SOURCES[node] for node in sources}
        assert {ref.node_id for ref in nodes_read} == set().union(*sources.values())
    counts = store.database.calls
    arun(nodes.source_nodes(["t", name(2, 5)]))
    assert store.database.calls == counts


@pytest.mark.parametrize("is_whole", [False, True])
def test_what_is_left_is_known_without_reading_it(
    store: Store, arun: Any, layers: str, is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veritrail_graph.verifier.nodes.WHOLE_COSTS", 0 if is_whole else 10**6)
    size = {"size": len(TEXT) + 1, "edges": len(set(EDGES))}
    nodes = SharedNodes(store.reading, layers, Whole(), **size)
    first = arun(nodes.source_nodes(["t"]))
    of = [ref.node_id for ref in first.nodes]
    before = store.database.calls
    found = arun(nodes.left(of, first.nodes))
    assert store.database.calls <= before + (0 if is_whole else 2)
    checked = set(first.nodes)
    outside = [ref for ref in found.nodes if ref not in checked]
    assert outside
    assert all(SOURCES[target] >= set(ids) for target, ids in found.sources.items())
    # n1.1 was checked, and is an input to nodes of this frontier only through n2.*
    assert not [ref for ref in found.nodes if ref in checked]
    everything = [
        *first.nodes,
        *arun(store.reading.source_nodes(layers, of, with_texts=False)).nodes,
    ]
    assert not set(arun(nodes.left(of, everything)).nodes) - set(everything)


def test_a_process_that_is_gone_has_nothing_left_and_says_so(
    store: Store, arun: Any, layers: str
) -> None:
    nodes = SharedNodes(store.reading, layers, Whole())
    first = arun(nodes.source_nodes(["t"]))
    arun(store.processes.delete(layers))
    with pytest.raises(ProcessChanged):
        arun(nodes.left([name(3, 3)], first.nodes))


def test_a_text_of_more_than_sixteen_mebibytes_reaches_the_engine(store: Store, arun: Any) -> None:
    """The embedded engine's own limit, behind which it hears nothing any more."""
    text = "x" * 20_000_000
    found = arun(store.database.run_text("RETURN size($text) AS size", {"text": text}, 1))
    assert found.rows == [(20_000_000,)]


def test_what_a_statement_changed_is_counted_by_name(
    store: Store, arun: Any, process_id: str
) -> None:
    text = "CREATE (a:Other {p: $p, n: 1})-[:TO]->(b:Other {p: $p, n: 2}) RETURN a.n"
    changes = arun(store.database.run_text(text, {"p": process_id}, 1, write=True)).changes
    gone = "MATCH (x:Other {p: $p}) DETACH DELETE x"
    removed = arun(store.database.run_text(gone, {"p": process_id}, 1, write=True)).changes
    assert (changes["nodes_created"], changes["relationships_created"]) == (2, 1)
    assert removed["nodes_deleted"] == 2
    assert "nodes_created" not in removed
    for found in (changes, removed):
        assert list(found) == sorted(found)


def test_nodes_of_steps_that_cannot_change_text_are_told(store: Store, arun: Any) -> None:
    facts = {"a": {"generative": False}, "b": {"generative": True}, "c": {"said": '"generative"'}}
    draft = Draft(Header("test", process_id="copying"))
    draft.node("r", "Source.", "", origin=Origin.SOURCE)
    for name in ("a", "b", "c", "d"):
        draft.node(name, f"Text {name}.", "", origin=None, metadata=facts.get(name, {}))
        draft.edge("r", name, "")
    arun(ingest(store, draft))
    assert arun(store.reading.copies("copying", ["a", "b", "c", "d", "r", "x"])) == {"a"}
    nodes = SharedNodes(store.reading, "copying", Whole())
    assert arun(nodes.copies(["b", "a"])) == {"a"}
    assert arun(nodes.copies([])) == frozenset()
