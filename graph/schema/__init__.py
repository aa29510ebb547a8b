"""The schema of the graph in words: data model, style, drawing, Bloom perspective.

The page on the data model, its drawing, the style file and the perspective are made from the
model, and a contract test compares the model with what is in a graph.
"""

from veritrail_graph.graph.schema.element_types import (
    NodeType,
    Property,
    PropertyType,
    RelationshipType,
)
from veritrail_graph.graph.schema.model import NODES, RELATIONSHIPS

__all__ = [
    "NODES",
    "RELATIONSHIPS",
    "NodeType",
    "Property",
    "PropertyType",
    "RelationshipType",
]
