"""A process as a drawing: one box a stage, or a part of it with boxes and lines.

Source: VeriTrail 2 (processes, stages), VeriTrail 3.2 (provenance and error localization).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from veritrail_graph.api.page.views.graph import (
    AT_A_TIME,
    INFERENCE_WORDS,
    Explored,
    NodePart,
    Selection,
    part_of,
    part_words,
)
from veritrail_graph.api.page.views.layout import GraphLayout, Line, Sizes, Vertex, arrange
from veritrail_graph.api.show.texts import cut_to, id_lines, in_lines
from veritrail_graph.api.show.words import in_short
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.model.lineage import Direction, StageEdges
from veritrail_graph.graph.model.listed import ListedNode
from veritrail_graph.graph.model.located import stage_shares

MOST_BOXES = 24
"""Boxes of the drawing; more stages share boxes, neighbours with neighbours."""

WIDTH, HEIGHT, ACROSS = 158.0, 128.0, 48.0
SIDE, LANE = 3.0, 34.0
MOST_LANES = 8
"""Lines below one another; of more, those that lead farthest are left to the table."""
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
        introduced: Claims into which unsupported content came here, or may have come.
        counted: These claims, each counted once over all boxes.
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
    counted: float
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
        path: How they are drawn, as a path of SVG; empty: they are not, there are too many.
        thick: How thick.
        x: Place of their number.
        y: Place of their number.
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

    @property
    def undrawn(self) -> int:
        """Return how many links stand in the table alone."""
        return sum(not link.path for link in self.links or ())

    @property
    def most_wrong(self) -> float:
        """Claims that went wrong in the box with most of them, each counted once."""
        return max((box.counted for box in self.boxes), default=0.0)

    @property
    def worst(self) -> StageBox | None:
        """The box where most claims went wrong, the first of several; None: none went wrong."""
        return next((box for box in self.boxes if 0 < box.counted == self.most_wrong), None)


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
    shares = stage_shares(introduced)
    boxes = tuple(
        _box(
            process,
            band,
            number,
            (wrong[number], sum(shares.get(stage, 0.0) for stage in band)),
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


def _box(
    process: Process,
    band: list[int],
    number: int,
    wrong: tuple[int, float],
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
        introduced=wrong[0],
        counted=wrong[1],
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
        link = _arc(source, target, count, thick, lane)
        links.append(link if lane < MOST_LANES else replace(link, path=""))
    return tuple(links), min(len(lanes), MOST_LANES)


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


SIZES = Sizes(width=152, height=62, across=52, below=20, bend=9)
MARGIN, HEADING = 22.0, 44.0
"""Room at the sides, where stubs stand, and above, where stages are named."""

NAME_WIDTH, WORDS_WIDTH = 15, 19
"""Letters of a node's name and of the words below it."""

LONGEST_TITLE = 90

WIDEST_BESIDE = 920
"""A wider drawing has the whole width of the page, and the text is below."""


@dataclass(frozen=True, slots=True)
class Stub:
    """The hidden neighbours on one side of a node.

    Attributes:
        count: How many nodes.
        label: The same in short.
        link: Where some more of them are shown; None: no more are drawn.
        words: What a click does, in words.
    """

    count: int
    label: str
    link: str | None
    words: str


@dataclass(frozen=True, slots=True)
class Box:
    """A node as it is drawn.

    Attributes:
        number: Its number in the picture.
        node: The node.
        x: Its left side.
        y: Its upper side.
        layer: Its column.
        index: Its place in the column.
        name: Its id, or the first of two lines of it.
        name_end: The second line, its middle cut where it is too long; empty: one is enough.
        words: The line below it: what it is to the claim, or how its text begins.
        title: What is said of it in full.
        part: What it is to the claim, if anything.
        is_off: Whether it is not on the trail that is looked at.
        upstream: What is hidden upstream.
        downstream: What is hidden downstream.
        folds: Ways that were opened and can be folded, with their addresses.
    """

    number: int
    node: ListedNode
    x: float
    y: float
    layer: int
    index: int
    name: str
    words: str
    title: str
    part: NodePart | None
    is_off: bool
    upstream: Stub | None
    downstream: Stub | None
    folds: tuple[tuple[Direction, str], ...] = ()
    name_end: str = ""


@dataclass(frozen=True, slots=True)
class Stroke:
    """An edge as it is drawn: a path of SVG, the numbers of its ends, and if it is on the trail.

    `inferred`: how the edge was found, in words, where the input does not name it.
    """

    path: str
    source: int
    target: int
    is_on_trail: bool
    inferred: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """The name of a stage above its columns."""

    x: float
    width: float
    stage: int
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing of a part of a process.

    Attributes:
        boxes: The nodes, column by column from above, as one tabs through them.
        strokes: The edges; those of the trail last, on top.
        headings: Names of the stages.
        width: Of the whole.
        height: Of the whole.
        has_trail: Whether there is a trail that the rest is faded against.
        has_inferred: Whether some of its edges are not named by the input.
        is_full: Whether no more nodes are drawn.
        pinned_left_out: Nodes of the trail that are not drawn.
        first_error: The node at which an error most likely came in, drawn or not.
    """

    boxes: tuple[Box, ...]
    strokes: tuple[Stroke, ...]
    headings: tuple[Heading, ...]
    width: float
    height: float
    has_trail: bool
    has_inferred: bool
    is_full: bool
    pinned_left_out: int
    first_error: str | None = None

    @property
    def is_wide(self) -> bool:
        """Return whether there is no room beside it."""
        return self.width > WIDEST_BESIDE

    def box_at(self, position: int | None) -> Box | None:
        """The node at a place of the input, if it is drawn."""
        return next((box for box in self.boxes if box.node.position == position), None)

    @property
    def culprit(self) -> Box | None:
        """The first node at which an error came in, if one is drawn."""
        wrong = [box for box in self.boxes if box.part is NodePart.ERROR]
        return next((box for box in wrong if box.node.node_id == self.first_error), None) or next(
            iter(wrong), None
        )

    def box_of(self, node_id: str) -> Box | None:
        """A node by its id, if it is drawn."""
        return next((box for box in self.boxes if box.node.node_id == node_id), None)


def draw(explored: Explored, process: Process, selection: Selection) -> Picture:
    """The picture of what was read.

    Args:
        explored: Nodes and edges.
        process: The process, which knows what its stages are called.
        selection: What is looked at; addresses are made from it.
    """
    vertices = [
        Vertex(node.node_id, node.stage, explored.arrivals[node.node_id]) for node in explored.nodes
    ]
    layout = arrange(vertices, explored.edges, SIZES)
    order = sorted(layout.places.values(), key=lambda place: (place.layer, place.index))
    numbers = {place.name: number for number, place in enumerate(order)}
    boxes = _boxes(explored, selection, layout, numbers)
    strokes = [_stroke(line, numbers, explored) for line in layout.lines]
    strokes.sort(key=lambda stroke: stroke.is_on_trail)
    there = explored.arrivals.keys()
    found = explored.verification
    errors = [ref.node_id for ref in found.error_nodes] if found is not None else []
    if found is not None and found.offered_place is not None:
        errors = list(found.offered_place.node_ids)
    return Picture(
        boxes=boxes,
        strokes=tuple(strokes),
        headings=_headings(boxes, process),
        width=layout.width + 2 * MARGIN,
        height=layout.height + HEADING + SIZES.below,
        has_trail=bool(explored.focus.trail),
        has_inferred=bool(explored.inferred),
        is_full=explored.is_full,
        pinned_left_out=sum(1 for name in explored.focus.pinned if name not in there),
        first_error=errors[0] if errors else None,
    )


def _boxes(
    explored: Explored, selection: Selection, layout: GraphLayout, numbers: Mapping[str, int]
) -> tuple[Box, ...]:
    up = Counter(target for _, target in explored.edges)
    down = Counter(source for source, _ in explored.edges)
    # What was shown before anything was opened is said, so that it stays when more is.
    said = replace(selection, opened=explored.opened, cursor=None)
    boxes = []
    for node in explored.nodes:
        place, name = layout.places[node.node_id], node.node_id
        part = part_of(name, explored)
        words = cut_to(part_words(part, name, explored) if part else node.excerpt, WORDS_WIDTH)
        first_line, second_line = id_lines(name, NAME_WIDTH)
        ways = dict.fromkeys(one.way for one in explored.opened if one.position == node.position)
        boxes.append(
            Box(
                number=numbers[name],
                node=node,
                x=place.x + MARGIN,
                y=place.y + HEADING,
                layer=place.layer,
                index=place.index,
                name=first_line,
                name_end=second_line,
                words=words,
                title=_title(node, part, explored),
                part=part,
                is_off=bool(explored.focus.trail) and part is None,
                upstream=_stub(node, Direction.UPSTREAM, up[name], said, explored),
                downstream=_stub(node, Direction.DOWNSTREAM, down[name], said, explored),
                folds=tuple((way, said.folded(node.position, way).link) for way in ways),
            )
        )
    return tuple(sorted(boxes, key=lambda box: box.number))


def _stub(
    node: ListedNode, way: Direction, drawn: int, said: Selection, explored: Explored
) -> Stub | None:
    """Return what is hidden on one side of a node, if anything is."""
    is_up = way is Direction.UPSTREAM
    count = (node.upstream if is_up else node.downstream) - drawn
    if count <= 0:
        return None
    what = "source nodes" if is_up else "nodes that it feeds"
    if explored.is_full or not said.can_open:
        return Stub(
            count, in_short(count), None, f"{count:,} more {what} of {node.node_id}: see its page"
        )
    now = f"the {count:,}" if count <= AT_A_TIME else f"{AT_A_TIME} of {count:,}"
    link = said.further(node.position, way).link
    return Stub(count, in_short(count), link, f"Show {now} hidden {what} of {node.node_id}")


def _title(node: ListedNode, part: NodePart | None, explored: Explored) -> str:
    facts = [cut_to(node.node_id, 120), f"stage {node.stage}, {node.role.value}"]
    if part is not None:
        facts.append(part_words(part, node.node_id, explored))
    begin = cut_to(node.excerpt, LONGEST_TITLE)
    return ", ".join(facts) + (f": {begin}" if begin else "")


def _stroke(line: Line, numbers: Mapping[str, int], explored: Explored) -> Stroke:
    """A line that leaves and arrives level, and runs level where it passes a column."""
    points = [(x + MARGIN, y + HEADING) for x, y in line.points]
    path = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for place in range(1, len(points), 2):
        (x, y), (to_x, to_y) = points[place - 1], points[place]
        middle = round((x + to_x) / 2, 1)
        path.append(f"C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}")
        if place + 1 < len(points):
            path.append(f"H{points[place + 1][0]:g}")
    source, target = line.edge
    facts = explored.inferred.get(line.edge)
    words = ""
    if facts is not None and facts.inferred is not None:
        words = f"Inferred, {INFERENCE_WORDS[facts.inferred]}"
    is_on_trail = line.edge in explored.focus.links
    return Stroke("".join(path), numbers[source], numbers[target], is_on_trail, words)


def _headings(boxes: tuple[Box, ...], process: Process) -> tuple[Heading, ...]:
    stages: dict[int, list[float]] = {}
    for box in boxes:
        stages.setdefault(box.node.stage, []).append(box.x)
    found = []
    for stage, left in stages.items():
        width = max(left) - min(left) + SIZES.width
        name = process.stage_names.get(stage)
        title = f"Stage {stage}: {name}" if name else f"Stage {stage}"
        words = cut_to(name or "", int(width / 8))
        found.append(Heading(min(left), width, stage, words, title))
    return tuple(found)
