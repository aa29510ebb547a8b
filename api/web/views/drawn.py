"""What a layered drawing is made of, before and after it is arranged."""

from __future__ import annotations

from collections.abc import Mapping
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
    """Where a node is drawn.

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
    """Where an edge is drawn: from its source past the columns between to its target.

    Attributes:
        edge: Source and target.
        points: Points from left to right; two for each column that it passes.
    """

    edge: Edge
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Layout:
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
