"""A part of a process as a drawing: boxes, lines, and what is hidden on either side.

Source: VeriTrail 2 (processes), VeriTrail 3.2 (provenance and error localization).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from veritrail_graph.api.web.views.cutting import cut_inside, cut_to
from veritrail_graph.api.web.views.explored import Explored, Focus, Part, part_of, part_words
from veritrail_graph.api.web.views.layout import Layout, Line, Sizes, Vertex, arrange
from veritrail_graph.api.web.views.overview import in_short
from veritrail_graph.api.web.views.selection import AT_A_TIME, Selection
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.store.lineage import Direction
from veritrail_graph.graph.store.listed_nodes import ListedNode

SIZES = Sizes(width=152, height=46, across=52, below=20, bend=9)
MARGIN, HEADING = 22.0, 44.0
"""Room at the sides, where stubs stand, and above, where stages are named."""

NAME_WIDTH, WORDS_WIDTH = 15, 19
"""Letters of a node's name and of the words below it."""

LONGEST_TITLE = 90

WIDEST_BESIDE = 920
"""A wider drawing has the whole width of the page, and what is looked at stands below."""


@dataclass(frozen=True, slots=True)
class Stub:
    """What is hidden on one side of a node.

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
        name: Its id, cut.
        words: What stands below it: what it is to the claim, or how its text begins.
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
    part: Part | None
    is_off: bool
    upstream: Stub | None
    downstream: Stub | None
    folds: tuple[tuple[Direction, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Stroke:
    """An edge as it is drawn: a path of SVG, the numbers of its ends, and if it is on the trail."""

    path: str
    source: int
    target: int
    is_on_trail: bool


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
        is_full: Whether no more nodes are drawn.
        pinned_left_out: Nodes of the trail that are not drawn.
    """

    boxes: tuple[Box, ...]
    strokes: tuple[Stroke, ...]
    headings: tuple[Heading, ...]
    width: float
    height: float
    has_trail: bool
    is_full: bool
    pinned_left_out: int

    @property
    def is_wide(self) -> bool:
        """Whether there is no room beside it."""
        return self.width > WIDEST_BESIDE

    def box_at(self, position: int | None) -> Box | None:
        """The node at a place of the input, if it is drawn."""
        return next((box for box in self.boxes if box.node.position == position), None)

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
    strokes = [_stroke(line, numbers, explored.focus) for line in layout.lines]
    strokes.sort(key=lambda stroke: stroke.is_on_trail)
    there = explored.arrivals.keys()
    return Picture(
        boxes=boxes,
        strokes=tuple(strokes),
        headings=_headings(boxes, process),
        width=layout.width + 2 * MARGIN,
        height=layout.height + HEADING + SIZES.below,
        has_trail=bool(explored.focus.trail),
        is_full=explored.is_full,
        pinned_left_out=sum(1 for name in explored.focus.pinned if name not in there),
    )


def _boxes(
    explored: Explored, selection: Selection, layout: Layout, numbers: Mapping[str, int]
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
        ways = dict.fromkeys(one.way for one in explored.opened if one.position == node.position)
        boxes.append(
            Box(
                number=numbers[name],
                node=node,
                x=place.x + MARGIN,
                y=place.y + HEADING,
                layer=place.layer,
                index=place.index,
                name=cut_inside(name, NAME_WIDTH),
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
    """What is hidden on one side of a node, if anything is."""
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


def _title(node: ListedNode, part: Part | None, explored: Explored) -> str:
    facts = [cut_to(node.node_id, 120), f"stage {node.stage}, {node.role.value}"]
    if part is not None:
        facts.append(part_words(part, node.node_id, explored))
    begin = cut_to(node.excerpt, LONGEST_TITLE)
    return ", ".join(facts) + (f": {begin}" if begin else "")


def _stroke(line: Line, numbers: Mapping[str, int], focus: Focus) -> Stroke:
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
    return Stroke("".join(path), numbers[source], numbers[target], line.edge in focus.links)


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
