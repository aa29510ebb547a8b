"""Nodes in a list: the twin of the picture for whoever reads instead of looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from veritrail_graph.api.web.views.explored import Explored, Part, part_of, part_words
from veritrail_graph.api.web.views.selection import Selection
from veritrail_graph.graph.store.lineage import Direction
from veritrail_graph.graph.store.listed_nodes import ListedNode


@dataclass(frozen=True, slots=True)
class Row:
    """A node in the list.

    Attributes:
        node: The node.
        part: What it is to the claim that is looked at, if anything.
        part_words: The same in words.
        hidden_upstream: How many of its source nodes the picture does not show; None: there is
            no picture.
        hidden_downstream: How many of the nodes that it feeds are not shown.
        more_upstream: Where more of its source nodes are shown.
        more_downstream: Where more of what it feeds is shown.
        look: Where its text stands beside the picture.
    """

    node: ListedNode
    part: Part | None = None
    part_words: str = ""
    hidden_upstream: int | None = None
    hidden_downstream: int | None = None
    more_upstream: str | None = None
    more_downstream: str | None = None
    look: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list of nodes.

    Attributes:
        rows: The nodes.
        total: How many there are on all pages; None: they are not counted.
        following: The cursor of the next page, if there is one.
    """

    rows: tuple[Row, ...]
    total: int | None
    following: str | None


def listed_rows(nodes: Sequence[ListedNode], selection: Selection, following: str | None) -> Listed:
    """Nodes of the whole process."""
    total = len(nodes) if following is None and selection.cursor is None else None
    return Listed(tuple(Row(node) for node in nodes), total, following)


def listed_among(
    nodes: Sequence[ListedNode],
    explored: Explored,
    selection: Selection,
    after: tuple[int, int],
    limit: int,
    cursor: Callable[[tuple[int, int]], str],
) -> Listed:
    """Nodes of a picture, by stage and place in the input, from a place on."""
    ordered = sorted(nodes, key=lambda node: node.place)
    left = [node for node in ordered if node.place > after]
    page = left[:limit]
    up = Counter(target for _, target in explored.edges)
    down = Counter(source for source, _ in explored.edges)
    rows = tuple(
        _row(node, explored, selection, up[node.node_id], down[node.node_id]) for node in page
    )
    following = cursor(page[-1].place) if len(left) > limit else None
    return Listed(rows, len(ordered), following)


def _row(node: ListedNode, explored: Explored, selection: Selection, up: int, down: int) -> Row:
    part = part_of(node.node_id, explored)
    hidden = (node.upstream - up, node.downstream - down)
    can_open = selection.can_open and not explored.is_full
    return Row(
        node,
        part,
        part_words(part, node.node_id, explored) if part else "",
        hidden[0],
        hidden[1],
        _more(node, Direction.UPSTREAM, selection) if can_open and hidden[0] else None,
        _more(node, Direction.DOWNSTREAM, selection) if can_open and hidden[1] else None,
        selection.looking_at(node.position).link,
    )


def _more(node: ListedNode, way: Direction, selection: Selection) -> str:
    return selection.further(node.position, way).link
