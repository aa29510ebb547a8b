"""Types of the nodes and relationships of a data model, and of their properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PropertyType = Literal[
    "string", "integer", "float", "boolean", "list of strings", "list of integers"
]


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node or of a relationship.

    Attributes:
        name: Its name.
        type: Its type; the same on every engine.
        meaning: What it holds.
        housekeeping: Whether it serves the program more than a reader of the graph.
    """

    name: str
    type: PropertyType
    meaning: str
    housekeeping: bool = False


@dataclass(frozen=True, slots=True)
class NodeType:
    """The nodes of one label.

    Attributes:
        label: The label; a node has exactly one.
        key: Properties that together name one node; empty where it has no key of its own.
        meaning: What such a node is.
        properties: All its properties, those of the key first.
        caption: The property that a person reads on the node.
        housekeeping: Whether it serves the program more than a reader of the graph.
    """

    label: str
    key: tuple[str, ...]
    meaning: str
    properties: tuple[Property, ...]
    caption: str
    housekeeping: bool = False


@dataclass(frozen=True, slots=True)
class RelationshipType:
    """The relationships of one type, between two labels.

    Attributes:
        type: The type.
        source: Label of the nodes that it leaves.
        target: Label of the nodes that it enters.
        meaning: What it means.
        properties: All its properties.
    """

    type: str
    source: str
    target: str
    meaning: str
    properties: tuple[Property, ...] = ()

    @property
    def pattern(self) -> str:
        """The pattern that it is in Cypher; a type may have several."""
        return f"({self.source})-[:{self.type}]->({self.target})"


def string(name: str, meaning: str) -> Property:
    """A property that holds a text."""
    return Property(name, "string", meaning)


def integer(name: str, meaning: str) -> Property:
    """A property that holds a whole number."""
    return Property(name, "integer", meaning)


def boolean(name: str, meaning: str) -> Property:
    """A property that is true or false."""
    return Property(name, "boolean", meaning)


def strings(name: str, meaning: str) -> Property:
    """A property that holds a list of texts."""
    return Property(name, "list of strings", meaning)


def integers(name: str, meaning: str) -> Property:
    """A property that holds a list of whole numbers."""
    return Property(name, "list of integers", meaning)


def kept(name: str, type_: PropertyType, meaning: str) -> Property:
    """A property that serves the program more than a reader of the graph."""
    return Property(name, type_, meaning, housekeeping=True)
