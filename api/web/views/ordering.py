"""Columns of a layered drawing, and the order within them.

Source: Sugiyama, Tagawa and Toda 1981 (layers and median sweeps).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from veritrail_graph.api.web.views.drawn import Edge, Vertex

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
    """What nodes of a column are ordered by.

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
    """How often edges between two columns cross; what passes a column is not counted."""
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
            # What is tied to nothing stands below all others.
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
