"""A Bloom perspective of the graph, made from its data model.

The shape is that of perspectives which Bloom 2.7 exports. Nothing here reads a graph: the
same version of this program always writes the same perspective.
"""

from veritrail_graph.graph.bloom.perspective import perspective, perspective_json
from veritrail_graph.graph.bloom.phrases import ACTIONS, PHRASES, Action, Phrase, Suggestion

__all__ = [
    "ACTIONS",
    "PHRASES",
    "Action",
    "Phrase",
    "Suggestion",
    "perspective",
    "perspective_json",
]
