"""The data model of the graph: node labels, relationship types and their properties.

What the statements of `cypher/` write stands here once, in words and types. The page on the
data model, its drawing, the style file and the perspective are made from it, and a contract
test compares it with what is in a graph.
"""

from veritrail_graph.graph.data_model.nodes import NODES
from veritrail_graph.graph.data_model.relationships import RELATIONSHIPS
from veritrail_graph.graph.data_model.types import (
    NodeType,
    Property,
    PropertyType,
    RelationshipType,
)

__all__ = [
    "NODES",
    "RELATIONSHIPS",
    "NodeType",
    "Property",
    "PropertyType",
    "RelationshipType",
]
