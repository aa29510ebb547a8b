"""The style of the graph in Neo4j Browser: a `.grass` file with captions, colours and sizes."""

from __future__ import annotations

from collections.abc import Iterator

from veritrail_graph.graph.data_model.nodes import NODES
from veritrail_graph.graph.data_model.palette import (
    LABELS,
    PLAIN_RELATIONSHIP,
    RELATIONSHIP_COLOURS,
)
from veritrail_graph.graph.data_model.relationships import RELATIONSHIPS
from veritrail_graph.graph.data_model.types import NodeType

# Neo4j Browser knows certain sizes only: 10, 20, 50, 65 and 80 px.
_DIAMETERS = {"Process": 80, "Verification": 80, "Claim": 65, "Span": 65}
_DIAMETER = 50
_THICK, _THIN = 3, 1


def style() -> str:
    """The style file as text; a rule colours by label, since it cannot ask for a property."""
    return "\n".join([*_defaults(), *_nodes(), *_relationships()])


def _rule(selector: str, **settings: str) -> str:
    lines = [f"  {name.replace('_', '-')}: {value};" for name, value in settings.items()]
    return "\n".join([f"{selector} {{", *lines, "}", ""])


def _defaults() -> Iterator[str]:
    yield _rule(
        "node",
        diameter=f"{_DIAMETER}px",
        color="#A5ABB6",
        border_color="#9AA1AC",
        border_width="2px",
        text_color_internal="#FFFFFF",
        font_size="10px",
    )
    yield _rule(
        "relationship",
        color=PLAIN_RELATIONSHIP,
        shaft_width=f"{_THIN}px",
        font_size="8px",
        padding="3px",
        text_color_external="#000000",
        text_color_internal="#FFFFFF",
        caption='"<type>"',
    )


def _nodes() -> Iterator[str]:
    for node in NODES:
        yield _rule(f"node.{node.label}", **_look(node))


def _look(node: NodeType) -> dict[str, str]:
    colours = LABELS[node.label]
    return {
        "color": colours.fill,
        "border_color": colours.border,
        "text_color_internal": colours.text,
        "diameter": f"{_DIAMETERS.get(node.label, _DIAMETER)}px",
        "caption": f'"{{{node.caption}}}"',
    }


def _relationships() -> Iterator[str]:
    for relationship in RELATIONSHIPS:
        colour = RELATIONSHIP_COLOURS.get(relationship.type)
        yield _rule(
            f"relationship.{relationship.type}",
            color=colour or PLAIN_RELATIONSHIP,
            shaft_width=f"{_THICK if colour else _THIN}px",
            caption='"<type>"',
        )
