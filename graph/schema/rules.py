"""The constraints and indexes of the graph, read from the statements that make them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from veritrail_graph import cypher

_MADE = re.compile(
    r"CREATE\s+(?P<kind>CONSTRAINT|INDEX)\s+(?P<name>\w+)\s+IF\s+NOT\s+EXISTS\s+"
    r"FOR\s+\(\w+:(?P<label>\w+)\)\s+(?:REQUIRE|ON)\s+(?P<on>\([^)]*\)|[\w.]+)"
)


@dataclass(frozen=True, slots=True)
class SchemaRule:
    """A uniqueness constraint or an index.

    Attributes:
        name: Its name.
        unique: Whether it is a uniqueness constraint.
        label: The label that it is about.
        properties: The properties that it is about, in order.
    """

    name: str
    unique: bool
    label: str
    properties: tuple[str, ...]


def schema_rules() -> tuple[SchemaRule, ...]:
    """Return what `cypher/schema.cypher` makes, by name."""
    found = []
    for statement in cypher.schema():
        for made in _MADE.finditer(statement.text):
            properties = tuple(re.findall(r"\w+\.(\w+)", made["on"]))
            unique = made["kind"] == "CONSTRAINT"
            found.append(SchemaRule(made["name"], unique, made["label"], properties))
    return tuple(sorted(found, key=lambda rule: rule.name))
