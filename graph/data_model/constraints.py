"""Constraints and indexes by name, as the migrations make them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from veritrail_graph import cypher

_MADE = re.compile(
    r"CREATE\s+(?P<kind>CONSTRAINT|INDEX)\s+(?P<name>\w+)\s+IF\s+NOT\s+EXISTS\s+"
    r"FOR\s+\(\w+:(?P<label>\w+)\)\s+(?:REQUIRE|ON)\s+(?P<on>\([^)]*\)|[\w.]+)"
)
_DROPPED = re.compile(r"DROP\s+(?:CONSTRAINT|INDEX)\s+(\w+)")


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
    """What an up-to-date graph has, by name: what migrations make less what they drop."""
    found: dict[str, SchemaRule] = {}
    for name in cypher.names("migrations"):
        text = cypher.load(name).text
        for made in _MADE.finditer(text):
            properties = tuple(re.findall(r"\w+\.(\w+)", made["on"]))
            unique = made["kind"] == "CONSTRAINT"
            found[made["name"]] = SchemaRule(made["name"], unique, made["label"], properties)
        for dropped in _DROPPED.finditer(text):
            found.pop(dropped[1], None)
    return tuple(found[name] for name in sorted(found))
