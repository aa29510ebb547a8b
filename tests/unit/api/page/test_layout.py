"""The layered drawing: no overlap, no edge backward, the same every time, and quick."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.page.views.layout import Edge, GraphLayout, Sizes, Vertex, arrange

SIZES = Sizes()
Graph = tuple[list[Vertex], list[Edge]]


@st.composite
def graphs(draw: st.DrawFn, arrivals: int = 4) -> Graph:
    """Nodes of any stages that came in groups, and edges that never lead to a lower stage."""
    stages = sorted(draw(st.lists(st.integers(0, 5), min_size=1, max_size=30)))
    came = st.integers(0, arrivals - 1)
    vertices = [Vertex(f"n{n}", stage, draw(came)) for n, stage in enumerate(stages)]
    pairs = list(combinations(range(len(vertices)), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=60, unique=True)) if pairs else []
    order = draw(st.permutations(vertices))
    return order, [(f"n{a}", f"n{b}") for a, b in chosen]


def columns_of(layout: GraphLayout) -> list[list[str]]:
    columns = defaultdict(list)
    for place in sorted(layout.places.values(), key=lambda one: one.y):
        columns[place.layer].append(place.name)
    return [columns[layer] for layer in sorted(columns)]


@given(graphs())
def test_nodes_do_not_overlap_and_stand_inside(graph: Graph) -> None:
    layout = arrange(*graph)
    assert set(layout.places) == {vertex.name for vertex in graph[0]}
    for one, other in combinations(layout.places.values(), 2):
        apart = abs(one.x - other.x) >= SIZES.width or abs(one.y - other.y) >= SIZES.height
        assert apart, (one, other)
    for place in layout.places.values():
        assert 0 <= place.x <= layout.width - SIZES.width + 0.1
        assert 0 <= place.y <= layout.height - SIZES.height + 0.1


@given(graphs())
def test_no_edge_points_backward(graph: Graph) -> None:
    layout = arrange(*graph)
    assert {line.edge for line in layout.lines} == set(graph[1])
    for line in layout.lines:
        source, target = (layout.places[name] for name in line.edge)
        assert source.layer < target.layer
        assert all(a[0] < b[0] for a, b in pairwise(line.points)), line
        assert line.points[0] == pytest.approx(
            (source.x + SIZES.width, source.y + SIZES.height / 2), abs=0.2
        )
        assert line.points[-1] == pytest.approx((target.x, target.y + SIZES.height / 2), abs=0.2)


@given(graphs())
def test_the_same_is_drawn_alike_every_time(graph: Graph) -> None:
    vertices, edges = graph
    assert arrange(vertices, edges) == arrange(list(vertices), list(edges))


@given(graphs(), st.integers(0, 2))
def test_what_was_there_keeps_its_order_when_more_comes(graph: Graph, until: int) -> None:
    vertices, edges = graph
    before = arrange([vertex for vertex in vertices if vertex.arrival <= until], edges)
    after = arrange(vertices, edges)
    order = {name: place.y for name, place in before.places.items()}
    for column in columns_of(after):
        old = [name for name in column if name in order]
        for one, other in combinations(old, 2):
            if before.places[one].layer == before.places[other].layer:
                assert order[one] < order[other], (one, other)


@given(graphs())
def test_an_edge_that_passes_a_column_passes_between_its_nodes(graph: Graph) -> None:
    layout = arrange(*graph)
    for line in layout.lines:
        for one in layout.places.values():
            if one.name in line.edge:
                continue
            for x, y in line.points:
                inside = one.x <= x <= one.x + SIZES.width
                assert not (inside and one.y < y < one.y + SIZES.height), (line, one)


@pytest.mark.parametrize("gap", [2, 7])
def test_the_numbers_of_stages_may_have_gaps(gap: int) -> None:
    rows = "abcdef"
    pairs = [("a", "D"), ("b", "F"), ("c", "A"), ("d", "B"), ("e", "C"), ("f", "E"), ("a", "F"),
             ("c", "E"), ("d", "A"), ("f", "B")]  # fmt: skip
    pairs += [(end, start.lower() + "2") for start, end in pairs]
    rows_of = {0: list(rows), 1: list(rows.upper()), 2: [f"{name}2" for name in rows]}

    def drawn(step: int) -> list[list[str]]:
        vertices = [Vertex(name, 1 + step * row) for row in rows_of for name in rows_of[row]]
        return columns_of(arrange(vertices, pairs))

    assert drawn(gap) == drawn(1)


def test_nodes_of_one_stage_stand_behind_each_other_where_an_edge_joins_them() -> None:
    vertices = [Vertex(name, 1) for name in "abc"] + [Vertex("t", 2)]
    layout = arrange(vertices, [("a", "b"), ("b", "c"), ("a", "c"), ("c", "t")])
    assert [layout.places[name].layer for name in "abct"] == [0, 1, 2, 3]


def test_three_hundred_nodes_are_arranged_quickly() -> None:
    count = 300
    vertices = [Vertex(f"n{n}", 1 + n // 50, n // 25) for n in range(count)]
    edges = [(f"n{n}", f"n{min(count - 1, 50 + n // 50 * 50 + n * 7 % 50)}") for n in range(250)]
    edges += [(f"n{n}", f"n{n * 13 % 50 + 250}") for n in range(200)]
    best = min(_seconds(vertices, edges) for _ in range(5))
    assert best < 0.05


def _seconds(vertices: list[Vertex], edges: list[Edge]) -> float:
    began = time.process_time()
    arrange(vertices, edges)
    return time.process_time() - began
