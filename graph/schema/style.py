"""The colours of every picture of the graph, and the style file of Neo4j Browser (`.grass`).

The colours are those of Okabe and Ito, or lighter shades of them, which people with red-green
colour blindness can tell apart. What belongs together has one hue: the process is blue, what
is checked is yellow, the verification purple, what it found green, reviews by people indigo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from veritrail_graph.graph.schema.element_types import NodeType
from veritrail_graph.graph.schema.model import NODES, RELATIONSHIPS


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of a node: fill, outline, and text on the fill; `#RRGGBB`."""

    fill: str
    border: str
    text: str


_DARK = "#1B2530"
_LIGHT = "#FFFFFF"

LABELS: dict[str, Colours] = {
    "Process": Colours("#0072B2", "#00527F", _LIGHT),
    "Span": Colours("#56B4E9", "#2B86BA", _DARK),
    "Claim": Colours("#F0E442", "#B8AD14", _DARK),
    "Extraction": Colours("#F7F1A1", "#C9BE3A", _DARK),
    "Verification": Colours("#CC79A7", "#9C4A78", _DARK),
    "TurnVerification": Colours("#722672", "#4A1749", _LIGHT),
    "Review": Colours("#4E4EDA", "#3434A8", _LIGHT),
    "Iteration": Colours("#EDABCE", "#B9789D", _DARK),
    "Step": Colours("#E4E5E7", "#8B94A1", _DARK),
    "TrailNode": Colours("#A3DCC4", "#4F9C7E", _DARK),
    "Evidence": Colours("#009E73", "#006E50", _DARK),
    "Sentence": Colours("#53C6A3", "#4BA387", _DARK),
    "Revision": Colours("#3FBF6A", "#278A49", _DARK),
    "VeriTrailSchema": Colours("#FFFFFF", "#A9B0BA", _DARK),
}
"""Colours by label."""

VERDICTS: dict[str, Colours] = {
    "FULLY_SUPPORTED": Colours("#004D36", "#00291D", _LIGHT),
    "NOT_FULLY_SUPPORTED": Colours("#C44E00", "#8A3700", _LIGHT),
    "INCONCLUSIVE": Colours("#E69F00", "#A67300", _DARK),
}
"""Colours by verdict; no label has one of them."""

NO_VERDICT = Colours("#6B7280", "#4A505A", _LIGHT)
"""The colours of a verification that has no verdict; no label has them either."""

RELATIONSHIP_COLOURS: dict[str, str] = {
    "LEADS_TO": "#009E73",
    "ERROR_INTRODUCED_AT": "#D55E00",
    "ERROR_OFFERED_AT": "#CC79A7",
    "ERROR_PROPAGATED_THROUGH": "#E69F00",
}
"""Colours of the relationships that answer a question; the others are grey."""

PLAIN_RELATIONSHIP = "#8B94A1"


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
    for type_ in dict.fromkeys(one.type for one in RELATIONSHIPS):
        colour = RELATIONSHIP_COLOURS.get(type_)
        yield _rule(
            f"relationship.{type_}",
            color=colour or PLAIN_RELATIONSHIP,
            shaft_width=f"{_THICK if colour else _THIN}px",
            caption='"<type>"',
        )
