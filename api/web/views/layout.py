"""A layered drawing: who stands in which column, in which order, and where exactly.

Columns go from left to right with the flow of the process, so that no edge points backward. The
order within a column is made once, for what was there first; what comes later is put between, and
nothing that was there before changes places. There is no chance in it: the same nodes and edges
are drawn alike every time.

Source: Sugiyama, Tagawa and Toda 1981 (layers, median sweeps, coordinates).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from veritrail_graph.api.web.views.coordinates import placed, with_bends
from veritrail_graph.api.web.views.drawn import Edge, Layout, Line, Place, Sizes, Vertex
from veritrail_graph.api.web.views.ordering import keys_of, layers_of

__all__ = ["Edge", "Layout", "Line", "Place", "Sizes", "Vertex", "arrange"]

NORMAL = Sizes()


def arrange(vertices: Sequence[Vertex], edges: Iterable[Edge], sizes: Sizes = NORMAL) -> Layout:
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
