"""Edges in arrays say what a process in memory says, and refuse what hangs together badly."""

from __future__ import annotations

import random

import pytest
from fakes.dag import Dag, dags
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph import adjacency
from veritrail_graph.graph.adjacency import Adjacency, AdjacencyBuilder, LateSources, Unfit
from veritrail_graph.graph.model import NodeRef, Role


def built(dag: Dag, order: list[str]) -> Adjacency:
    building = AdjacencyBuilder()
    for name in order:
        ref = dag.refs[name]
        places = [dag.refs[source].position for source in dag.sources[name]]
        building.add(name, ref.stage, ref.position, ref.role.value, places)
    return building.build()


@pytest.mark.parametrize("late_from", [0, adjacency.LATE_FROM], ids=["late", "at_once"])
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=dags(), by=st.randoms(use_true_random=False), data=st.data())
def test_source_nodes_are_those_of_the_process(
    case: tuple[Dag, str],
    by: random.Random,
    data: st.DataObject,
    late_from: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adjacency, "LATE_FROM", late_from)
    dag, _ = case
    names = list(dag.sources)
    by.shuffle(names)
    whole = built(dag, names)
    of = data.draw(st.lists(st.sampled_from(names), unique=True))
    found, expected = whole.source_nodes(of), dag.source_nodes(of)
    assert isinstance(found.sources, LateSources) is (late_from == 0)
    assert found.nodes == expected.nodes
    assert found.sources.keys() == set(of)
    assert len(found.sources) == len(of)
    assert not any(name in found.sources for name in names if name not in of)
    assert {n: set(ids) for n, ids in found.sources.items()} == {
        n: set(ids) for n, ids in expected.sources.items()
    }
    checked = [dag.refs[name] for name in data.draw(st.lists(st.sampled_from(names)))]
    left = whole.left(of, checked)
    outside = set(left.nodes) - set(checked)
    assert bool(outside) is bool(set(expected.nodes) - set(checked))
    assert set(left.nodes) & set(checked) == set(expected.nodes) & set(checked)
    assert outside <= set(expected.nodes)
    known = {ref.node_id for ref in checked}
    assert {n: set(ids) for n, ids in left.sources.items()} == {
        n: known.intersection(ids) for n, ids in expected.sources.items()
    }


@pytest.mark.parametrize("late_from", [0, adjacency.LATE_FROM], ids=["late", "at_once"])
def test_a_node_that_is_not_there_has_no_sources(
    late_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjacency, "LATE_FROM", late_from)
    building = AdjacencyBuilder()
    building.add("r", 1, 0, "root", [])
    building.add("t", 2, 1, "terminal", [0])
    found = building.build().source_nodes(["t", "gone"])
    assert dict(found.sources) == {"t": ("r",), "gone": ()}
    assert "r" not in found.sources


def test_nodes_that_are_known_already_take_the_place_of_equal_ones() -> None:
    building = AdjacencyBuilder()
    building.add(b"root".decode(), 1, 0, "root", [])
    building.add("t", 2, 1, "terminal", [0])
    whole = building.build()
    known = NodeRef(b"root".decode(), 1, 0, Role.ROOT)
    whole.keep({"root": known, "other": NodeRef.named("other")})
    (found,), sources = whole.source_nodes(["t"]).nodes, whole.source_nodes(["t"]).sources
    assert found is known
    assert sources["t"][0] is known.node_id
    assert next(iter(whole.numbers)) is known.node_id
    assert whole.numbers == {"root": 0, "t": 1}


def test_a_node_that_is_another_one_by_now_does_not_take_its_place() -> None:
    building = AdjacencyBuilder()
    building.add("r", 1, 0, "unsourced", [])
    building.add("t", 2, 1, "terminal", [0])
    whole = building.build()
    whole.keep({"r": NodeRef("r", 1, 0, Role.ROOT), "t": NodeRef("t", 3, 1, Role.TERMINAL)})
    (found,) = whole.source_nodes(["t"]).nodes
    assert found == NodeRef("r", 1, 0, Role.UNSOURCED)


@pytest.mark.parametrize("late_from", [0, adjacency.LATE_FROM], ids=["late", "at_once"])
def test_nodes_without_sources_are_told_and_others_left_out(
    late_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjacency, "LATE_FROM", late_from)
    building = AdjacencyBuilder()
    for place, name in enumerate(["a", "b"]):
        building.add(name, 1, place, "root", [])
    building.add("t", 2, 2, "terminal", [0, 1])
    whole = building.build()
    assert whole.without_sources(["t"]) is None
    assert whole.without_sources(["t", "gone", "a"]) == "gone"
    passed = [NodeRef.named("a"), NodeRef.named("gone")]
    found = whole.source_nodes(["t"], passed)
    assert [ref.node_id for ref in found.nodes] == ["b"]
    assert found.sources["t"] == ("a", "b")


def test_places_may_be_left_free_but_not_taken_twice() -> None:
    building = AdjacencyBuilder()
    building.add("r", 1, 3, "root", [])
    building.add("t", 2, 7, "terminal", [3])
    assert building.build().source_nodes(["t"]).sources == {"t": ("r",)}
    building.add("again", 2, 7, "terminal", [3])
    with pytest.raises(Unfit, match="two nodes"):
        building.build()


@pytest.mark.parametrize(("place", "source"), [(1, 2), (1, 50), (10**9, 0)])
def test_an_edge_from_nowhere_and_a_place_far_away_are_refused(place: int, source: int) -> None:
    building = AdjacencyBuilder()
    building.add("r", 1, 0, "root", [])
    building.add("s", 1, 3, "root", [])
    building.add("t", 2, place, "terminal", [source])
    with pytest.raises(Unfit):
        building.build()
