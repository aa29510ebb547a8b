"""Coordinates of a layered drawing whose columns and order are known.

Source: Sugiyama, Tagawa and Toda 1981 (dummy vertices and coordinates).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.api.web.views.drawn import Edge, Layout, Line, Place, Sizes, Vertex

STRAIGHTENING = 6
"""How often coordinates are moved towards those of neighbours, to and fro."""

MOST_BENDS = 1_200
"""Places that long edges pass through; what is beyond is drawn straight."""


@dataclass(slots=True)
class Columns:
    """Nodes and the bends of long edges, in columns."""

    columns: list[list[str]]
    bends: dict[Edge, list[str]]
    real: frozenset[str]


def with_bends(
    vertices: Sequence[Vertex],
    edges: Sequence[Edge],
    layers: Mapping[str, int],
    keys: Mapping[str, float],
) -> Columns:
    """Columns with a place for every long edge that passes them."""
    count = max(layers.values(), default=-1) + 1
    rows: list[list[tuple[float, int, int, str]]] = [[] for _ in range(count)]
    for number, vertex in enumerate(vertices):
        rows[layers[vertex.name]].append((keys[vertex.name], 0, number, vertex.name))
    bends: dict[Edge, list[str]] = {}
    left = MOST_BENDS
    for number, (source, target) in enumerate(edges):
        between = range(layers[source] + 1, layers[target])
        if not between or len(between) > left:
            continue
        left -= len(between)
        step = (keys[target] - keys[source]) / (len(between) + 1)
        names = []
        for place, layer in enumerate(between, 1):
            # No node has such a name: the parts of a real one are never kept apart so.
            name = f"\0{number}\0{place}"
            rows[layer].append((keys[source] + step * place, 1, number, name))
            names.append(name)
        bends[source, target] = names
    columns = [[row[3] for row in sorted(column)] for column in rows]
    return Columns(columns, bends, frozenset(vertex.name for vertex in vertices))


def placed(graph: Columns, edges: Sequence[Edge], sizes: Sizes) -> Layout:
    """Coordinates for columns in order."""
    chains = {edge: [edge[0], *graph.bends.get(edge, ()), edge[1]] for edge in edges}
    y = _heights(graph, chains, sizes)
    column_width = sizes.width + sizes.across
    places, x_of = {}, {}
    for layer, column in enumerate(graph.columns):
        real = [name for name in column if name in graph.real]
        for index, name in enumerate(real):
            x_of[name] = layer * column_width
            top = round(y[name] - sizes.height / 2, 1)
            places[name] = Place(name, layer, index, round(x_of[name], 1), top)
        x_of.update((name, layer * column_width) for name in column if name not in graph.real)
    lines = tuple(_line(edge, chains[edge], x_of, y, sizes) for edge in edges)
    width = max(len(graph.columns) * column_width - sizes.across, 0.0)
    bottom = max((place.y + sizes.height for place in places.values()), default=0.0)
    reach = max((point[1] for line in lines for point in line.points), default=0.0)
    return Layout(places, lines, width, max(bottom, reach))


def _line(
    edge: Edge,
    chain: Sequence[str],
    x: Mapping[str, float],
    y: Mapping[str, float],
    sizes: Sizes,
) -> Line:
    points = [(x[chain[0]] + sizes.width, y[chain[0]])]
    for bend in chain[1:-1]:
        points += [(x[bend], y[bend]), (x[bend] + sizes.width, y[bend])]
    points.append((x[chain[-1]], y[chain[-1]]))
    return Line(edge, tuple((round(a, 1), round(b, 1)) for a, b in points))


def _heights(
    graph: Columns, chains: Mapping[Edge, Sequence[str]], sizes: Sizes
) -> dict[str, float]:
    """The middle of every node and bend, close to those of its neighbours and clear of others."""
    links: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for chain in chains.values():
        for one, other in itertools.pairwise(chain):
            links[one][1].append(other)
            links[other][0].append(one)
    room = {
        name: (sizes.height + sizes.below if name in graph.real else sizes.bend)
        for column in graph.columns
        for name in column
    }
    y: dict[str, float] = {}
    for column in graph.columns:
        _settle(column, [0.0] * len(column), room, y)
    for turn in range(STRAIGHTENING):
        side = turn % 2
        for column in graph.columns if side == 0 else reversed(graph.columns):
            wishes = []
            for name in column:
                around = links[name][side] or links[name][1 - side]
                wishes.append(sum([y[one] for one in around]) / len(around) if around else y[name])
            _settle(column, wishes, room, y)
    top = min((y[name] - room[name] / 2 for name in y), default=0.0)
    return {name: value - top for name, value in y.items()}


def _settle(
    column: Sequence[str], wishes: Sequence[float], room: Mapping[str, float], y: dict[str, float]
) -> None:
    """Give a column the heights nearest to the wished ones, in its order and without overlap.

    Neighbours that would overlap are moved together, and stand around the mean of their wishes.
    """
    offset = 0.0
    offsets = []
    blocks: list[list[float]] = []  # sum of what is wished of the first, members
    for number, name in enumerate(column):
        if number:
            offset += (room[column[number - 1]] + room[name]) / 2
        offsets.append(offset)
        blocks.append([wishes[number] - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            wished, members = blocks.pop()
            blocks[-1][0] += wished
            blocks[-1][1] += members
    number = 0
    for wished, members in blocks:
        for _ in range(int(members)):
            y[column[number]] = wished / members + offsets[number]
            number += 1
