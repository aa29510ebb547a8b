"""Processes of a given shape and size, generated from a seed.

Source: VeriTrail 2 (figure 1), B.1.1 and B.2.1 (the sizes of the paper's processes); the
generators are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from veritrail_eval.simulation.process_shape import Numbers, ProcessShape
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.trail import MOST_ITERATIONS

STAGE_NODES = (3_199, 95_465, 11_974, 3_650, 107, 1)
NODES, EDGES = sum(STAGE_NODES), 309_061
"""The nodes by stage and the edges of the GraphRAG run of the paper. Source: VeriTrail B.2.1."""

MOST_NODES = 5_000_000
MOST_LEVELS = 1_000
SKIPPED = 0.1
"""Share of the inputs of a node in a random process that may come from any earlier stage."""


@dataclass(frozen=True, slots=True)
class ShapeOptions:
    """Options of a generated process: its kind and its size.

    Attributes:
        name: Its kind, one of `SHAPES`.
        nodes: The most nodes that it has; None: the paper's size, or 1,000.
        levels: Stages, where the kind lets one choose; None: as few as hold the nodes.
        fan_in: Inputs of a node, where the kind lets one choose; None: its default.
        seed: What random links are drawn from.
    """

    name: str
    nodes: int | None = None
    levels: int | None = None
    fan_in: int | None = None
    seed: int = 0


def generate(options: ShapeOptions) -> ProcessShape:
    """Generate a process.

    Raises:
        InputError: There is no such kind, or no process of that size.
    """
    kind = SHAPES.get(options.name)
    if kind is None:
        raise InputError(f"shape {options.name!r}: there is none. Use {', '.join(SHAPES)}.")
    for name, least, most in (
        ("nodes", 2, MOST_NODES),
        ("levels", 2, MOST_LEVELS),
        ("fan_in", 1, MOST_NODES),
    ):
        value = getattr(options, name)
        if value is not None and name not in ("nodes", *kind.takes):
            raise InputError(f"{name}: shape {options.name} has no such setting.")
        if value is not None and not least <= value <= most:
            raise InputError(f"{name}={value}: must be from {least} to {most:,}.")
    return kind.make(options)


def _fault(options: ShapeOptions, why: str) -> InputError:
    return InputError(f"shape {options.name} of {options.nodes or 0:,} nodes: {why}")


def _hierarchical(options: ShapeOptions) -> ProcessShape:
    """Chunks, and levels of summaries of as many neighbours as the fan-in says."""
    nodes, fan_in = options.nodes or 1_000, options.fan_in or 5
    if fan_in < 2 and options.levels is None:
        raise _fault(options, "a fan-in of 1 needs a number of levels. Give levels.")
    sizes = partial(_summary_sizes, fan_in=fan_in, levels=options.levels)
    roots = _largest(nodes, lambda count: sum(sizes(count)))
    if options.levels is not None:
        _require_depth(options, nodes, fan_in, options.levels)
    stages = sizes(roots)
    edges: list[tuple[Numbers, Numbers]] = []
    first = 0
    for size in stages[:-1]:
        place = np.arange(size, dtype=np.int64)
        edges.append((first + place, first + size + place // fan_in))
        first += size
    return ProcessShape.of_edges(options.name, stages, edges, [82] + [40] * (len(stages) - 1))


def _require_depth(options: ShapeOptions, nodes: int, fan_in: int, levels: int) -> None:
    room = sum(min(fan_in**level, MOST_NODES) for level in range(min(levels, 64)))
    room += max(0, levels - 64) * (1 if fan_in == 1 else MOST_NODES)
    if nodes > room:
        raise _fault(
            options,
            f"too many nodes for the depth: {levels} levels with a fan-in of {fan_in} hold at most "
            f"{room:,}. Give more levels or a larger fan-in.",
        )
    if nodes < levels:
        raise _fault(options, f"{levels} levels need at least as many nodes.")


def _summary_sizes(roots: int, fan_in: int, levels: int | None) -> list[int]:
    """Sizes of the levels above so many roots, themselves included, up to a single node."""
    sizes = [roots]
    while len(sizes) < (levels or 2) or (levels is None and sizes[-1] > 1):
        sizes.append(-(-sizes[-1] // fan_in))
    return sizes


def _largest(most: int, total: Callable[[int], int]) -> int:
    """The largest number, at least 1, whose total is not above `most`."""
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if total(middle) <= most else (low, middle - 1)
    return low


def _graphrag(options: ShapeOptions) -> ProcessShape:
    """The paper's runs of GraphRAG, larger or smaller."""
    scale = (options.nodes or NODES) / NODES
    stages = [max(1, round(count * scale)) for count in STAGE_NODES[:-1]] + [1]
    if options.nodes is not None:
        stages[1] -= sum(stages) - options.nodes  # by rounding and the one answer
    if stages[1] < 1 or min(stages) < 1:
        raise _fault(options, f"it has six stages, and needs at least {2 * len(stages)} nodes.")
    begins = np.cumsum([0, *stages])
    edges = [
        (begins[source_stage] + sources, begins[stage] + targets)
        for stage in range(1, len(stages))
        for source_stage, sources, targets in stage_edges(stages, round(EDGES * scale), stage)
    ]
    _require_inputs(options, stages, edges)
    return ProcessShape.of_edges(options.name, stages, edges, (24, 3, 7, 26, 30, 50))


def _require_inputs(
    options: ShapeOptions, stages: Sequence[int], edges: Sequence[tuple[Numbers, Numbers]]
) -> None:
    """Only the first stage is source text."""
    fed = np.zeros(sum(stages), dtype=bool)
    for _, targets in edges:
        fed[targets] = True
    if not fed[stages[0] :].all():
        raise _fault(options, "too few for every node to have an input. Give more nodes.")


def _chain(options: ShapeOptions) -> ProcessShape:
    """A draft that every step rewrites with the next chunks: each has a stage of its own."""
    nodes, chunks = options.nodes or 1_000, options.fan_in or 1
    drafts = nodes // (chunks + 1)
    if not drafts >= 1:
        raise _fault(options, f"one step needs {chunks + 1} nodes. Give more nodes.")
    if drafts >= MOST_ITERATIONS - 1:
        raise _fault(
            options,
            f"too many nodes for the depth: a walk has at most {MOST_ITERATIONS:,} iterations. "
            "Give a larger fan-in.",
        )
    first = drafts * chunks
    roots, steps = np.arange(first, dtype=np.int64), np.arange(drafts, dtype=np.int64)
    edges = [(roots, first + roots // chunks), (first + steps[:-1], first + steps[1:])]
    return ProcessShape.of_edges(options.name, [first] + [1] * drafts, edges, [24] + [40] * drafts)


def _rag(options: ShapeOptions) -> ProcessShape:
    """Retrieved chunks and one answer."""
    chunks = (options.nodes or 21) - 1
    places = np.arange(chunks, dtype=np.int64)
    return ProcessShape.of_edges(
        options.name, [chunks, 1], [(places, places * 0 + chunks)], (24, 10)
    )


def _random(options: ShapeOptions) -> ProcessShape:
    """Stages that narrow evenly towards the answer, linked at random; some links skip stages."""
    nodes, levels, fan_in = options.nodes or 1_000, options.levels or 5, options.fan_in or 4
    if nodes < levels:
        raise _fault(options, f"{levels} levels need at least as many nodes.")
    stages = _narrowing(nodes, levels)
    draw = np.random.default_rng([options.seed, nodes, levels, fan_in])
    begins = np.cumsum([0, *stages])
    edges: list[tuple[Numbers, Numbers]] = []
    for level in range(1, levels):
        below, here = np.arange(begins[level - 1], begins[level]), stages[level]
        edges.append((below, begins[level] + draw.integers(here, size=len(below))))  # all are used
        targets = np.repeat(np.arange(begins[level], begins[level + 1]), fan_in)
        sources = draw.integers(begins[level - 1], begins[level], size=len(targets))
        skips = (draw.random(len(targets)) < SKIPPED) & (np.arange(len(targets)) % fan_in > 0)
        sources[skips] = draw.integers(begins[level], size=int(skips.sum()))
        edges.append((sources, targets))
    return ProcessShape.of_edges(options.name, stages, edges, [24] + [10] * (levels - 1))


def _narrowing(nodes: int, levels: int) -> list[int]:
    """Sizes that fall by the same factor, from the roots to a single node."""
    low, high = 1.0, float(nodes)
    for _ in range(60):
        middle = (low + high) / 2
        total = sum(middle**level for level in range(levels))
        low, high = (middle, high) if total <= nodes else (low, middle)
    sizes = [max(1, int(low**level)) for level in range(levels)][::-1]
    sizes[0] += nodes - sum(sizes)
    return sizes


@dataclass(frozen=True, slots=True)
class ShapeKind:
    """A kind of process.

    Attributes:
        make: Generates one.
        takes: Which settings it has besides the number of nodes.
        about: What it is, in words.
    """

    make: Callable[[ShapeOptions], ProcessShape]
    takes: tuple[str, ...]
    about: str


SHAPES: Mapping[str, ShapeKind] = {
    "hierarchical": ShapeKind(_hierarchical, ("levels", "fan_in"), "summaries of summaries"),
    "graphrag": ShapeKind(_graphrag, (), "the paper's GraphRAG runs, 114,396 nodes by default"),
    "chain": ShapeKind(_chain, ("fan_in",), "a draft that each step rewrites with the next chunks"),
    "rag": ShapeKind(_rag, (), "retrieved chunks and one answer"),
    "random": ShapeKind(_random, ("levels", "fan_in"), "random links between narrowing stages"),
}


def stage_edges(
    stages: Sequence[int], edges: int, stage: int
) -> list[tuple[int, Numbers, Numbers]]:
    """The edges into the nodes of one stage, in the shape of the GraphRAG runs of the paper.

    The stages are chunks, extracted entities and relationships, summarized ones, community reports,
    map-level answers, and final answers. How the edges lie is ours.

    Args:
        stages: How many nodes each of the six stages has, roots first.
        edges: How many edges the whole has; community reports take what the others leave.
        stage: Which one, from 1; stage 0 are the roots.

    Returns:
        (source stage, places of the sources, places of the targets) in the order in which the
        sources of one target follow each other.
    """
    chunks, extractions, descriptions, reports, answers, finals = stages
    everything = np.arange(extractions, dtype=np.int64)
    merged = everything[everything % 10 < 7]
    single = everything[everything % 10 >= 7]
    if stage == 1:  # every extraction comes from one chunk
        return [(0, everything * chunks // extractions, everything)]
    if stage == 2:  # what several chunks say of one thing is merged
        return [(1, merged, np.arange(len(merged)) % descriptions)]
    if stage == 3:  # communities overlap: the levels of a hierarchy
        taken = extractions + len(merged) + len(single) + reports + answers
        wanted = max(0, min(edges - taken, descriptions * reports))
        level, place = np.divmod(np.arange(wanted, dtype=np.int64), descriptions)
        return [
            (1, single, np.arange(len(single)) % reports),
            (2, place, (place * 7_919 + level) % reports),
        ]
    if stage == 4:
        place = np.arange(reports, dtype=np.int64)
        return [(3, place, place * answers // reports)]
    place = np.arange(answers, dtype=np.int64)  # one, up to the paper's size; larger ones have more
    return [(4, place, place * finals // answers)]
