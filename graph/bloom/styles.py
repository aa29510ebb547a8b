"""How nodes and relationships look in Bloom: sizes, and rules that colour by value.

Colours come from the one palette of the data model. No category has an icon: a perspective
names icons by ids of Bloom's own, and which picture an id stands for is written nowhere.
A rule asks for a text, as all rules of real exports do. That a verdict is indicative is no text
of the graph, so the caption says it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from veritrail_graph.graph.data_model.palette import (
    LABELS,
    NO_VERDICT,
    PLAIN_RELATIONSHIP,
    RELATIONSHIP_COLOURS,
    VERDICTS,
)
from veritrail_graph.graph.model import Role, Status

ICON = "no-icon"

SIZES: dict[str, float] = {
    "Process": 2,
    "Claim": 1.5,
    "Verification": 1.5,
    "Sentence": 0.75,
    "Step": 0.5,
}
"""Sizes of nodes by label; 1 otherwise."""

THICK = 2
"""Size of the relationships that answer a question; the others have 1."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Nodes whose property has this value take another colour, or another size.

    Attributes:
        property: A text property of the label.
        value: Its value.
        colour: The colour; None leaves that of the label.
        size: The size; None leaves that of the label.
    """

    property: str
    value: str
    colour: str | None = None
    size: float | None = None


def rules(label: str) -> Iterator[Rule]:
    """Rules of a label; no two of them fit the same node."""
    if label in {"Verification", "Iteration"}:
        for verdict, colours in VERDICTS.items():
            yield Rule("verdict", verdict, colours.fill)
    if label == "Verification":  # without a verdict: never in the colour of one
        for status in Status:
            if status is not Status.SUCCEEDED:
                yield Rule("status", status.value, NO_VERDICT.fill)
    if label == "Span":
        yield Rule("role", Role.ROOT.value, LABELS["Span"].border)
        yield Rule("role", Role.TERMINAL.value, size=2)


def relationship_colour(type_: str) -> str:
    """The colour of a type of relationship."""
    return RELATIONSHIP_COLOURS.get(type_, PLAIN_RELATIONSHIP)
