"""A layered drawing: the column of every node, the order within a column, and coordinates.

Columns go from left to right with the flow of the process, so that no edge points backward. The
order within a column is made once, for what was there first; what comes later is put between, and
nothing that was there before changes places. There is no chance in it: the same nodes and edges
are drawn alike every time.

Source: Sugiyama, Tagawa and Toda 1981 (layers, median sweeps, dummy vertices, coordinates).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Vertex:
    """A node to be drawn.

    Attributes:
        name: Its name.
        stage: No edge leads to a lower one.
        arrival: Nodes of a lower number were there before; those of one number came together.
    """

    name: str
    stage: int
    arrival: int = 0


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of a drawing.

    Attributes:
        width: Of a node.
        height: Of a node.
        across: Between two columns.
        below: Between two nodes of a column.
        bend: Room that an edge takes that passes a column.
    """

    width: float = 150.0
    height: float = 42.0
    across: float = 62.0
    below: float = 14.0
    bend: float = 10.0


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a node in a drawing.

    Attributes:
        name: The node.
        layer: Its column, counted from 0.
        index: Its place in the column, counted from 0.
        x: Its left side.
        y: Its upper side.
    """

    name: str
    layer: int
    index: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """The line of an edge: from its source past the columns between to its target.

    Attributes:
        edge: Source and target.
        points: Points from left to right; two for each column that it passes.
    """

    edge: Edge
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """A drawing.

    Attributes:
        places: Where the nodes are, by name.
        lines: Where the edges are, in the order given.
        width: Of the whole.
        height: Of the whole.
    """

    places: Mapping[str, Place]
    lines: tuple[Line, ...]
    width: float
    height: float


SWEEPS = 8
"""How often the first nodes are ordered by their neighbours, to and fro."""


def layers_of(vertices: Sequence[Vertex], edges: Iterable[Edge]) -> dict[str, int]:
    """Columns: by stage and, among nodes of one stage, by the longest way from its first ones."""
    stages = {vertex.name: vertex.stage for vertex in vertices}
    within: dict[str, list[str]] = defaultdict(list)
    waiting = dict.fromkeys(stages, 0)
    for source, target in edges:
        if stages[source] == stages[target]:
            within[source].append(target)
            waiting[target] += 1
    depth = dict.fromkeys(stages, 0)
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:  # grows while it is read
        for target in within[name]:
            depth[target] = max(depth[target], depth[name] + 1)
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    deepest: dict[int, int] = {}
    for name, stage in stages.items():
        deepest[stage] = max(deepest.get(stage, 0), depth[name])
    first: dict[int, int] = {}
    total = 0
    for stage in sorted(deepest):
        first[stage] = total
        total += deepest[stage] + 1
    return {name: first[stage] + depth[name] for name, stage in stages.items()}


def keys_of(vertices: Sequence[Vertex], edges: Sequence[Edge]) -> dict[str, float]:
    """Return what nodes of a column are ordered by.

    All nodes of a stage have one order, whatever columns they stand in: those may change when more
    is shown. The first ones are swept to and fro. Each later group is put where its neighbours are;
    then all are numbered anew, so that there is room between any two again.
    """
    stages = {vertex.name: vertex.stage for vertex in vertices}
    near: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        near[source].append(target)
        near[target].append(source)
    groups: dict[int, list[str]] = defaultdict(list)
    for vertex in vertices:
        groups[vertex.arrival].append(vertex.name)
    keys: dict[str, float] = {}
    columns: dict[int, list[str]] = defaultdict(list)
    for number, arrival in enumerate(sorted(groups)):
        if number == 0:
            for name in groups[arrival]:
                columns[stages[name]].append(name)
            _sweep(columns, near)
        else:
            _join(columns, groups[arrival], stages, near, keys)
        for column in columns.values():
            middle = (len(column) - 1) / 2
            keys.update((name, place - middle) for place, name in enumerate(column))
    return keys


def _sweep(columns: Mapping[int, list[str]], near: Mapping[str, Sequence[str]]) -> None:
    """Order columns by the medians of their neighbours, from left to right and back."""
    order = sorted(columns)
    # By its place in the order: the numbers of stages may have gaps.
    number_of = {name: at for at, layer in enumerate(order) for name in columns[layer]}
    places = {n: float(place) for column in columns.values() for place, n in enumerate(column)}
    best, fewest = {layer: list(columns[layer]) for layer in order}, None
    for sweep in range(SWEEPS):
        is_right = sweep % 2 == 0
        for at in range(len(order)) if is_right else reversed(range(len(order))):
            column = columns[order[at]]
            wishes = {}
            for place, name in enumerate(column):
                before = [
                    places[one]
                    for one in near.get(name, ())
                    if one in number_of and (number_of[one] < at) == is_right
                ]
                wishes[name] = (_median(before) if before else float(place), place)
            column.sort(key=wishes.__getitem__)
            places.update((name, float(place)) for place, name in enumerate(column))
        crossings = _crossings([columns[layer] for layer in order], number_of, places, near)
        if fewest is None or crossings < fewest:
            best, fewest = {layer: list(columns[layer]) for layer in order}, crossings
        if crossings == 0:
            break
    for layer, column in best.items():
        columns[layer][:] = column


def _crossings(
    columns: Sequence[Sequence[str]],
    number_of: Mapping[str, int],
    places: Mapping[str, float],
    near: Mapping[str, Sequence[str]],
) -> int:
    """Return how often edges between two columns cross; what passes a column is not counted."""
    total = 0
    for at, column in enumerate(columns):
        ends = []
        for name in column:
            after = [places[one] for one in near.get(name, ()) if number_of.get(one) == at + 1]
            ends += sorted(after)
        total += _inversions(ends)
    return total


def _inversions(values: Sequence[float]) -> int:
    if len(values) < 2:
        return 0
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)), 1)}
    tree = [0] * (len(ranks) + 1)
    total = 0
    for seen, value in enumerate(values):
        rank, smaller = ranks[value], 0
        at = rank
        while at:
            smaller += tree[at]
            at -= at & -at
        total += seen - smaller
        at = rank
        while at < len(tree):
            tree[at] += 1
            at += at & -at
    return total


def _join(
    columns: Mapping[int, list[str]],
    names: Sequence[str],
    stages: Mapping[str, int],
    near: Mapping[str, Sequence[str]],
    keys: dict[str, float],
) -> None:
    """Put nodes between those that are there, each beside the mean of its neighbours."""
    waiting = list(names)
    while waiting:
        tied = [name for name in waiting if any(one in keys for one in near.get(name, ()))]
        now = tied or waiting
        for name in now:
            around = [keys[one] for one in near.get(name, ()) if one in keys]
            column = columns[stages[name]]
            # Nodes without edges are placed below all others.
            keys[name] = sum(around) / len(around) if around else float(len(column) + len(names))
            column.append(name)
        # The sort keeps those of one key in the order they came in.
        for stage in {stages[name] for name in now}:
            columns[stage].sort(key=keys.__getitem__)
        came = set(now)
        waiting = [name for name in waiting if name not in came]


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


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


def placed(graph: Columns, edges: Sequence[Edge], sizes: Sizes) -> GraphLayout:
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
    return GraphLayout(places, lines, width, max(bottom, reach))


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


__all__ = ["Edge", "GraphLayout", "Line", "Place", "Sizes", "Vertex", "arrange"]

NORMAL = Sizes()


def arrange(
    vertices: Sequence[Vertex], edges: Iterable[Edge], sizes: Sizes = NORMAL
) -> GraphLayout:
    """Arrange nodes in columns.

    Args:
        vertices: The nodes, in the order that decides where nothing else does.
        edges: (source, target); those with an unknown end are left out. They form no cycle.
        sizes: Sizes of the drawing.
    """
    known = {vertex.name for vertex in vertices}
    kept = [edge for edge in dict.fromkeys(edges) if known.issuperset(edge)]
    layers = layers_of(vertices, kept)
    keys = keys_of(vertices, kept)
    graph = with_bends(vertices, kept, layers, keys)
    return placed(graph, kept, sizes)
