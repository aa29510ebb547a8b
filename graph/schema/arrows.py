"""The data model as a document that arrows.app opens, to be drawn on or copied from."""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.schema.drawing import CARD_WIDTH, CARDS
from veritrail_graph.graph.schema.element_types import NodeType, Property, RelationshipType
from veritrail_graph.graph.schema.model import NODES, RELATIONSHIPS
from veritrail_graph.graph.schema.style import (
    LABELS,
    PLAIN_RELATIONSHIP,
    RELATIONSHIP_COLOURS,
)

_SPREAD = 2.0  # circles with their properties around them need more room than cards
_RADIUS = 90

_STYLE: dict[str, str | int] = {
    "font-family": "sans-serif",
    "background-color": "#ffffff",
    "background-image": "",
    "background-size": "100%",
    "node-color": "#ffffff",
    "border-width": 3,
    "border-color": "#1B2530",
    "radius": _RADIUS,
    "node-padding": 5,
    "node-margin": 2,
    "outside-position": "auto",
    "node-icon-image": "",
    "node-background-image": "",
    "icon-position": "inside",
    "icon-size": 64,
    "caption-position": "inside",
    "caption-max-width": 200,
    "caption-color": "#1B2530",
    "caption-font-size": 24,
    "caption-font-weight": "bold",
    "label-position": "inside",
    "label-display": "bare",
    "label-color": "#1B2530",
    "label-background-color": "#ffffff",
    "label-border-color": "#1B2530",
    "label-border-width": 0,
    "label-font-size": 24,
    "label-padding": 5,
    "label-margin": 4,
    "directionality": "directed",
    "detail-position": "inline",
    "detail-orientation": "parallel",
    "arrow-width": 3,
    "arrow-color": PLAIN_RELATIONSHIP,
    "margin-start": 5,
    "margin-end": 5,
    "margin-peer": 20,
    "attachment-start": "normal",
    "attachment-end": "normal",
    "relationship-icon-image": "",
    "type-color": "#1B2530",
    "type-background-color": "#ffffff",
    "type-border-color": "#1B2530",
    "type-border-width": 0,
    "type-font-size": 16,
    "type-padding": 5,
    "property-position": "outside",
    "property-alignment": "colon",
    "property-color": "#1B2530",
    "property-font-size": 14,
    "property-font-weight": "normal",
}


def arrows() -> dict[str, Any]:
    """The document: nodes and relationships of the model, each property with its type."""
    return {
        "style": dict(_STYLE),
        "nodes": [_node(node) for node in NODES],
        "relationships": [_relationship(relationship) for relationship in RELATIONSHIPS],
    }


def _node(node: NodeType) -> dict[str, Any]:
    card, colours = CARDS[node.label], LABELS[node.label]
    return {
        "id": node.label,
        "position": {
            "x": (card.x + CARD_WIDTH / 2) * _SPREAD,
            "y": (card.y + card.height(len(card.shown)) / 2) * _SPREAD,
        },
        "caption": "",
        "labels": [node.label],
        "properties": _types(node.properties),
        "style": {
            "node-color": colours.fill,
            "border-color": colours.border,
            "label-color": colours.text,
            "label-background-color": colours.fill,
        },
    }


def _relationship(relationship: RelationshipType) -> dict[str, Any]:
    return {
        "id": relationship.pattern,
        "fromId": relationship.source,
        "toId": relationship.target,
        "type": relationship.type,
        "properties": _types(relationship.properties),
        "style": {"arrow-color": RELATIONSHIP_COLOURS.get(relationship.type, PLAIN_RELATIONSHIP)},
    }


def _types(properties: tuple[Property, ...]) -> dict[str, str]:
    return {prop.name: prop.type for prop in properties}
