"""A whole process as a drawing: one box a stage, and how many edges lead from one to another.

Source: VeriTrail 2 (stages), VeriTrail 3.2 (error stages).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_graph.api.web.views.cutting import in_lines
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.store.picture import StageEdges

MOST_BOXES = 24
"""Boxes of the drawing; more stages share boxes, neighbours with neighbours."""

WIDTH, HEIGHT, ACROSS = 158.0, 128.0, 48.0
SIDE, LANE = 3.0, 34.0
NAME_WIDTH = 14
"""Letters of a line of a stage's name in its box, which has two."""


@dataclass(frozen=True, slots=True)
class StageBox:
    """A stage, or several neighbouring ones, as a box.

    Attributes:
        first: The stage, or the first of several.
        last: The last of several.
        stages: How many.
        name: What the input calls it, or None.
        label: The same in one or two lines, cut so that it fits.
        nodes: Its nodes.
        introduced: Claims into which unsupported content came here.
        within: Edges between its own nodes; None where they are not counted yet.
        x: Its left side.
        y: Its upper side.
    """

    first: int
    last: int
    stages: int
    name: str | None
    label: tuple[str, ...]
    nodes: int
    introduced: int
    within: int | None
    x: float
    y: float

    @property
    def words(self) -> str:
        """`Stage 2`, or `Stages 2 to 5`."""
        return f"Stage {self.first}" if self.stages == 1 else f"Stages {self.first} to {self.last}"


@dataclass(frozen=True, slots=True)
class StageLink:
    """Edges from one box to another.

    Attributes:
        source: Number of the box that they come from.
        target: Number of the box that they lead to.
        count: How many edges.
        label: The same in short.
        path: How they are drawn, as a path of SVG.
        thick: How thick.
        x: Where their number stands.
        y: Where their number stands.
    """

    source: int
    target: int
    count: int
    label: str
    path: str
    thick: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Overview:
    """A process as boxes.

    Attributes:
        boxes: The boxes, that of the sources first.
        links: Edges between them; None where they are not counted yet.
        width: Of the whole.
        height: Of the whole.
        judged: Claims with a verdict, which rates are shares of.
    """

    boxes: tuple[StageBox, ...]
    links: tuple[StageLink, ...] | None
    width: float
    height: float
    judged: int


def overview_of(
    process: Process,
    introduced: Mapping[tuple[int, ...], int],
    edges: StageEdges | None,
    judged: int,
) -> Overview:
    """The drawing of a process.

    Args:
        process: The process.
        introduced: Claims into which unsupported content came, by the stages where it did.
        edges: Edges by stage of the source and of the target; None: they are not counted yet.
        judged: Claims with a verdict.
    """
    stages = sorted(process.stages)
    size = max(1, -(-len(stages) // MOST_BOXES))
    bands = [stages[start : start + size] for start in range(0, len(stages), size)]
    band_of = {stage: number for number, band in enumerate(bands) for stage in band}
    between: dict[tuple[int, int], int] = {}
    for (source, target), count in (edges or {}).items():
        if source in band_of and target in band_of:
            ends = (band_of[source], band_of[target])
            between[ends] = between.get(ends, 0) + count
    wrong = _introduced(introduced, band_of)
    boxes = tuple(
        _box(
            process,
            band,
            number,
            wrong[number],
            None if edges is None else between.get((number,) * 2, 0),
        )
        for number, band in enumerate(bands)
    )
    links, lanes = _links({ends: n for ends, n in between.items() if ends[0] != ends[1]})
    return Overview(
        boxes,
        None if edges is None else links,
        max(0.0, len(boxes) * (WIDTH + ACROSS) - ACROSS) + 2 * SIDE,
        HEIGHT + 2 * SIDE + (lanes * LANE + 12 if lanes else 0),
        judged,
    )


def _introduced(claims: Mapping[tuple[int, ...], int], band_of: Mapping[int, int]) -> Counter[int]:
    """Claims that went wrong in a box, each once, in however many of its stages."""
    found: Counter[int] = Counter()
    for stages, count in claims.items():
        for band in {band_of[stage] for stage in stages if stage in band_of}:
            found[band] += count
    return found


def in_short(count: int) -> str:
    """A count in little room: `95k` for 95,465."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= 10 * size:
            return f"{count // size:,}{letter}"
    return f"{count:,}"


def _box(
    process: Process,
    band: list[int],
    number: int,
    introduced: int,
    within: int | None,
) -> StageBox:
    name = process.stage_names.get(band[0]) if len(band) == 1 else None
    return StageBox(
        first=band[0],
        last=band[-1],
        stages=len(band),
        name=name,
        label=in_lines(name or "", NAME_WIDTH, 2),
        nodes=sum(process.stages[stage] for stage in band),
        introduced=introduced,
        within=within,
        x=SIDE + number * (WIDTH + ACROSS),
        y=SIDE,
    )


def _links(between: Mapping[tuple[int, int], int]) -> tuple[tuple[StageLink, ...], int]:
    """Neighbours are joined straight, others below the boxes, each beside those it would cross."""
    lanes: list[list[tuple[int, int]]] = []
    links = []
    for source, target in sorted(between, key=lambda ends: (ends[1] - ends[0], ends)):
        count = between[source, target]
        thick = round(1.3 + 0.75 * math.log10(count), 1)
        if target - source == 1:
            x = SIDE + source * (WIDTH + ACROSS) + WIDTH
            y = SIDE + HEIGHT / 2
            path = f"M{x:g} {y:g}H{x + ACROSS - 9:g}"
            links.append(
                StageLink(
                    source, target, count, in_short(count), path, thick, x + ACROSS / 2 - 3, y - 9
                )
            )
            continue
        lane = _free_lane(lanes, source, target)
        links.append(_arc(source, target, count, thick, lane))
    return tuple(links), len(lanes)


def _free_lane(lanes: list[list[tuple[int, int]]], source: int, target: int) -> int:
    for number, taken in enumerate(lanes):
        if all(target <= first or last <= source for first, last in taken):
            taken.append((source, target))
            return number
    lanes.append([(source, target)])
    return len(lanes) - 1


def _arc(source: int, target: int, count: int, thick: float, lane: int) -> StageLink:
    """A line that leaves a box below, runs level, and comes up into another one."""
    left = SIDE + source * (WIDTH + ACROSS) + WIDTH * 0.68
    right = SIDE + target * (WIDTH + ACROSS) + WIDTH * 0.32
    top = SIDE + HEIGHT
    low = top + 22 + lane * LANE
    path = f"M{left:g} {top:g}V{low - 8:g}q0 8 8 8H{right - 8:g}q8 0 8 -8V{top + 9:g}"
    return StageLink(
        source, target, count, in_short(count), path, thick, (left + right) / 2, low - 7
    )
