"""The shape of a process in integers, against the same with dicts and sets."""

from __future__ import annotations

from array import array
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from fakes.dag import dags, longest_distances
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.ingest.check import check_acyclic, derive_stages
from veritrail_graph.graph.ingest.topology import Topology
from veritrail_graph.graph.model import NO_FACTS, EdgeFacts, Inference, Role

COUNT = 8


def topology_of(edges, count=COUNT) -> Topology:
    topology = Topology()
    for number in range(count):
        topology.add_node(f"n{number}", None)
    for source, target in edges:
        topology.add_edge(source, target)
    return topology


def sources_of(edges, count=COUNT) -> dict[str, tuple[str, ...]]:
    return {
        f"n{node}": tuple(f"n{source}" for source, target in edges if target == node)
        for node in range(count)
    }


pairs = st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1))
any_edges = st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=20)


def is_acyclic(edges) -> bool:
    try:
        TopologicalSorter(sources_of(edges)).prepare()
    except CycleError:
        return False
    return True


@settings(max_examples=50)
@given(any_edges)
def test_a_cycle_is_found_where_there_is_one_and_is_a_way_of_edges(edges):
    topology = topology_of(edges)
    order = topology.topological_order()
    violations = check_acyclic(topology, order)
    assert bool(violations) is not is_acyclic(edges)
    if violations:
        cycle = topology.find_cycle(order)
        numbers = [topology.numbers[name] for name in cycle]
        assert set(pairwise(numbers)) <= set(edges)
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1 >= 2
        assert " -> ".join(map(repr, cycle)) in violations[0].message


@settings(max_examples=50)
@given(any_edges)
def test_the_topological_order_holds_every_node_once_and_turns_no_edge_back(edges):
    assume(is_acyclic(edges))
    order = list(topology_of(edges).topological_order())
    assert sorted(order) == [*range(COUNT)]
    assert all(order.index(source) < order.index(target) for source, target in edges)


@settings(max_examples=50)
@given(dags(), st.randoms(use_true_random=False))
def test_derived_stages_are_one_more_than_the_longest_distance_from_a_root(case, turns):
    dag, _ = case
    names, edges = list(dag.sources), list(dag.edges)
    turns.shuffle(names)
    turns.shuffle(edges)
    topology = Topology()
    for name in names:
        topology.add_node(name, None)
    for source, target in edges:
        topology.add_edge(topology.numbers[source], topology.numbers[target])
    stages = derive_stages(topology, topology.topological_order())
    expected = {name: 1 + far for name, far in longest_distances(dag.sources).items()}
    assert dict(zip(topology.ids, stages, strict=True)) == expected
    # Any topological order will do, also one that does not go level by level.
    by_name = array("L", (topology.numbers[name] for name in dag.sources))
    far = topology.longest_distances(by_name)
    assert {name: 1 + far[topology.numbers[name]] for name in expected} == expected


@given(any_edges, st.integers(0, COUNT - 1))
def test_ancestors_are_all_nodes_with_a_way_to_the_node(edges, node):
    assume(is_acyclic(edges))
    above = {node}
    while more := {source for source, target in edges if target in above} - above:
        above |= more
    assert topology_of(edges).ancestors(node) == above - {node}


@given(any_edges)
def test_degrees_and_roles_follow_the_edges(edges):
    topology = topology_of(edges)
    targets = [target for _, target in edges]
    sources = [source for source, _ in edges]
    assert list(topology.in_degrees()) == [targets.count(node) for node in range(COUNT)]
    assert list(topology.out_degrees()) == [sources.count(node) for node in range(COUNT)]
    for node, role in enumerate(topology.roles({0, 1})):
        if node not in targets:
            assert role is Role.ROOT
        else:
            assert role is (Role.TERMINAL if node in (0, 1) else Role.INTERMEDIATE)


@given(any_edges)
def test_repeated_edges_are_dropped_and_counted(edges):
    topology = topology_of(edges)
    dropped = topology.drop_repeated_edges()
    assert dropped == len(edges) - len(set(edges))
    assert list(topology.edges) == sorted(set(edges), key=lambda edge: (edge[1], edge[0]))


said = st.sampled_from([None, False, True])


inferred = st.none() | st.sampled_from([Inference.EXACT, Inference.OVERLAP])


@given(st.lists(st.tuples(pairs, inferred), max_size=20))
def test_what_any_repetition_names_is_not_inferred(edges):
    topology = topology_of([])
    for (source, target), how in edges:
        topology.add_edge(source, target, EdgeFacts(None, how, how and 0.5))
    topology.drop_repeated_edges()
    for edge, pair in enumerate(topology.edges):
        kinds = {how for other, how in edges if other == pair}
        how = topology.facts.get(edge, NO_FACTS).inferred
        assert how is None if None in kinds else how in kinds


@given(st.lists(st.tuples(pairs, said), max_size=20), st.randoms(use_true_random=False))
def test_a_citation_that_any_repetition_knows_of_stays_known(edges, turns):
    def kept(edges):
        topology = topology_of([])
        for (source, target), cited in edges:
            topology.add_edge(source, target, EdgeFacts(cited))
        topology.drop_repeated_edges()
        return {
            pair: topology.facts.get(edge, NO_FACTS).cited
            for edge, pair in enumerate(topology.edges)
        }

    expected = {}
    for pair, _ in edges:
        all_said = {cited for other, cited in edges if other == pair}
        expected[pair] = True if True in all_said else False if False in all_said else None
    mixed = list(edges)
    turns.shuffle(mixed)
    assert kept(edges) == kept(mixed) == expected
