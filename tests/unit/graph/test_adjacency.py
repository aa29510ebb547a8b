"""Edges in arrays say what a process in memory says, and refuse what hangs together badly."""

from __future__ import annotations

import random

import pytest
from fakes.dag import Dag, dags
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.adjacency import Adjacency, AdjacencyBuilder, Unfit


def built(dag: Dag, order: list[str]) -> Adjacency:
    building = AdjacencyBuilder()
    for name in order:
        ref = dag.refs[name]
        places = [dag.refs[source].position for source in dag.sources[name]]
        building.add(name, ref.stage, ref.position, ref.role.value, places)
    return building.build()


@settings(max_examples=30)
@given(dags(), st.randoms(use_true_random=False), st.data())
def test_source_nodes_are_those_of_the_process(
    case: tuple[Dag, str], by: random.Random, data: st.DataObject
) -> None:
    dag, _ = case
    names = list(dag.sources)
    by.shuffle(names)
    whole = built(dag, names)
    of = data.draw(st.lists(st.sampled_from(names), unique=True))
    found, expected = whole.source_nodes(of), dag.source_nodes(of)
    assert found.nodes == expected.nodes
    assert {n: set(ids) for n, ids in found.sources.items()} == {
        n: set(ids) for n, ids in expected.sources.items()
    }
    checked = [dag.refs[name] for name in data.draw(st.lists(st.sampled_from(names)))]
    left = whole.left(of, checked)
    outside = set(left.nodes) - set(checked)
    assert bool(outside) is bool(set(expected.nodes) - set(checked))
    assert set(left.nodes) & set(checked) == set(expected.nodes) & set(checked)
    assert outside <= set(expected.nodes)


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
