"""Lineages on both engines: which nodes, all edges between them, what is hidden, and why."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from fakes.processes import process

from veritrail_graph.api.app.answers import LineageFound
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.importers.records import EdgeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import EdgeFacts, Inference
from veritrail_graph.graph.model.lineage import Direction, Lineage
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

UP, DOWN, BOTH = Direction.UPSTREAM, Direction.DOWNSTREAM, Direction.BOTH
# Two roots feed two summaries, one of them feeds the end past the other.
EDGES = [("a", "m"), ("b", "m"), ("b", "n"), ("m", "t"), ("n", "t"), ("a", "t")]


def stored(store: Store, arun: Any, name: str, edges: list[tuple[str, str]]) -> None:
    names = dict.fromkeys(end for edge in edges for end in edge)
    arun(ingest(store, process({one: f"Text of {one}." for one in names}, edges, process_id=name)))


def names(found: Lineage) -> set[str]:
    return {node.node_id for node in found.nodes}


def hidden(found: Lineage) -> dict[str, tuple[int, int]]:
    return {one.node_id: (one.hidden_upstream, one.hidden_downstream) for one in found.nodes}


def test_direct_neighbours_come_with_every_edge_between_them(
    store: Store, arun: Any, process_id: str
) -> None:
    stored(store, arun, process_id, EDGES)
    found = arun(store.lineage.read(process_id, "t", UP, 1, 100))
    assert names(found) == {"a", "m", "n", "t"}
    assert set(found.edges) == {("a", "m"), ("m", "t"), ("n", "t"), ("a", "t")}
    assert hidden(found) == {"a": (0, 0), "m": (1, 0), "n": (1, 0), "t": (0, 0)}
    assert [(one.upstream, one.downstream) for one in found.nodes if one.node_id == "m"] == [(2, 1)]
    assert (found.root, found.truncated_by) == ("t", "depth")


def test_everything_upstream_is_complete(store: Store, arun: Any, process_id: str) -> None:
    stored(store, arun, process_id, EDGES)
    found = arun(store.lineage.read(process_id, "t", UP, 2, 100))
    assert (names(found), found.truncated_by) == ({"a", "b", "m", "n", "t"}, None)
    assert set(found.edges) == set(EDGES)
    below = arun(store.lineage.read(process_id, "n", UP, 5, 100))
    assert (names(below), below.truncated_by) == ({"b", "n"}, None)
    assert hidden(below) == {"b": (0, 1), "n": (0, 1)}, "the other way is counted, not walked"


def test_downstream_edges_point_with_the_data_flow(
    store: Store, arun: Any, process_id: str
) -> None:
    stored(store, arun, process_id, EDGES)
    found = arun(store.lineage.read(process_id, "b", DOWN, 1, 100))
    assert (names(found), found.truncated_by) == ({"b", "m", "n"}, "depth")
    assert set(found.edges) == {("b", "m"), ("b", "n")}


def test_both_ways_are_walked_from_the_middle(store: Store, arun: Any, process_id: str) -> None:
    stored(store, arun, process_id, EDGES)
    found = arun(store.lineage.read(process_id, "m", BOTH, 3, 100))
    assert (names(found), found.truncated_by) == ({"a", "b", "m", "t"}, None)
    assert hidden(found)["b"] == (0, 1)


def test_the_limit_keeps_the_nearest(store: Store, arun: Any, process_id: str) -> None:
    stored(store, arun, process_id, [(f"r{n}", "s") for n in range(9)] + [("s", "t")])
    found = arun(store.lineage.read(process_id, "t", UP, 9, 4))
    assert (names(found), found.truncated_by) == ({"t", "s", "r0", "r1"}, "limit")
    assert hidden(found)["s"] == (7, 0)
    alone = arun(store.lineage.read(process_id, "t", UP, 9, 1))
    assert (names(alone), alone.edges, alone.truncated_by) == ({"t"}, (), "limit")
    middle = arun(store.lineage.read(process_id, "s", BOTH, 9, 3))
    assert (len(middle.nodes), middle.truncated_by) == (3, "limit")
    exact = arun(store.lineage.read(process_id, "t", UP, 9, 11))
    assert (len(exact.nodes), exact.truncated_by) == (11, None)


def test_a_walk_without_time_or_edges_says_so(store: Store, arun: Any, process_id: str) -> None:
    stored(store, arun, process_id, EDGES)
    late = arun(replace(store.lineage, seconds=-1.0).read(process_id, "t", UP, 9, 100))
    assert (names(late), late.truncated_by) == ({"t"}, "time")
    few = arun(replace(store.lineage, edge_limit=2).read(process_id, "t", UP, 9, 100))
    assert (len(few.nodes), few.truncated_by) == (3, "limit")


@pytest.mark.parametrize(("name", "node_id"), [("no-such", "t"), (None, "no such node")])
def test_what_is_not_there_is_an_error(
    store: Store, arun: Any, process_id: str, name: str | None, node_id: str
) -> None:
    stored(store, arun, process_id, EDGES)
    with pytest.raises(NotFound, match=r"no.such"):
        arun(store.lineage.read(name or process_id, node_id, BOTH, 2, 10))


def test_ids_are_never_read_as_cypher(store: Store, arun: Any, process_id: str) -> None:
    evil = "x'}) DETACH DELETE n // `$known` \" \\ /..%2F"
    stored(store, arun, process_id, [(evil, "t"), ("toString", evil)])
    found = arun(store.lineage.read(process_id, evil, BOTH, 1, 10))
    assert set(found.edges) == {(evil, "t"), ("toString", evil)}


def test_random_processes_give_what_a_walk_in_memory_gives(
    store: Store, arun: Any, process_id: str
) -> None:
    drawn = random.Random(7)  # nothing secret
    edges = sorted(
        {(f"n{a:02}", f"n{b:02}") for b in range(1, 30) for a in drawn.choices(range(b), k=2)}
    )
    stored(store, arun, process_id, edges)
    for node in ("n03", "n15", "n29"):
        for direction in Direction:
            for depth in (1, 2, 4, 40):
                found = arun(store.lineage.read(process_id, node, direction, depth, 500))
                expected = walked(edges, node, direction, depth)
                assert names(found) == expected
                inside = {(a, b) for a, b in edges if a in expected and b in expected}
                assert set(found.edges) == inside
                assert len(found.edges) == len(inside)
                for one in found.nodes:
                    sources = {a for a, b in edges if b == one.node_id}
                    targets = {b for a, b in edges if a == one.node_id}
                    assert (one.upstream, one.downstream) == (len(sources), len(targets))
                    assert one.hidden_upstream == len(sources - expected)
                    assert one.hidden_downstream == len(targets - expected)
                whole = walked(edges, node, direction, 40) == expected
                assert (found.truncated_by is None) == whole


def walked(edges: list[tuple[str, str]], node: str, direction: Direction, depth: int) -> set[str]:
    found = {node}
    for way in (UP, DOWN):
        if direction not in (way, BOTH):
            continue
        level = {node}
        for _ in range(depth):
            level = {(a if way is UP else b) for a, b in edges if (b if way is UP else a) in level}
            found |= level
    return found


def test_edges_that_were_inferred_say_how(store: Store, arun: Any, process_id: str) -> None:
    source = process({"a": "A", "b": "B", "t": "T"}, [("a", "t")], process_id=process_id)
    source.edges.append(EdgeRecord("b", "t", "e", inferred=Inference.NORMALISED, score=0.5))
    arun(ingest(store, source))
    found = arun(store.lineage.read(process_id, "t", Direction.UPSTREAM, 1, 10))
    assert found.inferred == {("b", "t"): EdgeFacts(None, Inference.NORMALISED, 0.5)}
    edges = {one.source: one.model_dump() for one in LineageFound.of(found).edges}
    assert edges["b"] == {"source": "b", "target": "t", "inferred": "normalised", "score": 0.5}
    assert edges["a"] == {"source": "a", "target": "t"}
