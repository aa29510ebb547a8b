"""A graph in GraphML, as networkx writes it: attributes of its nodes and edges.

The file may come from anywhere: no entity of it is expanded, and one that declares some is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from veritrail_graph.graph.errors import InputError

_MOST_DEEP = 100


@dataclass(slots=True)
class GraphmlFile:
    """The nodes and edges of a file.

    Attributes:
        nodes: Attributes of each node, by its id.
        edges: Ends and attributes of each edge.
    """

    nodes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)


def read_graphml(path: Path) -> GraphmlFile:
    """Read a file of GraphML.

    Raises:
        InputError: It cannot be read, is no XML, or declares entities.
    """
    reading = _Reading(path)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.characters
    parser.StartDoctypeDeclHandler = reading.refuse
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        raise InputError(
            f"{path} is no GraphML: {expat.ErrorString(error.code)} in line {error.lineno}. Copy "
            "it again from the working folder."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if not reading.is_graphml:
        raise InputError(f"{path} is XML, but no GraphML")
    return reading.found


class _Reading:
    """The handlers of a parser, and what they have read so far."""

    def __init__(self, path: Path) -> None:
        self.found = GraphmlFile()
        self.is_graphml = False
        self._path = path
        self._names: dict[str, str] = {}
        self._attributes: dict[str, str] = {}
        self._key: str | None = None
        self._text: list[str] = []
        self._depth = 0

    def refuse(self, *_: object) -> None:
        """Refuse a file with a document type, which can declare entities.

        Raises:
            InputError: Always.
        """
        raise InputError(f"{self._path} declares a document type, which no GraphML needs")

    def start(self, name: str, given: dict[str, str]) -> None:
        """Begin an element."""
        self._depth += 1
        if self._depth > _MOST_DEEP:
            raise InputError(f"{self._path} is nested too deeply for GraphML")
        tag = name.rpartition("}")[2]
        if tag == "graphml":
            self.is_graphml = True
        elif tag == "key":
            self._names[given.get("id", "")] = given.get("attr.name", "")
        elif tag == "node":
            self._attributes = {}
            self.found.nodes[given.get("id", "")] = self._attributes
        elif tag == "edge":
            self._attributes = {}
            ends = given.get("source", ""), given.get("target", "")
            self.found.edges.append((*ends, self._attributes))
        elif tag == "data":
            self._key, self._text = given.get("key", ""), []

    def end(self, name: str) -> None:
        """End an element."""
        self._depth -= 1
        if name.rpartition("}")[2] == "data" and self._key is not None:
            self._attributes[self._names.get(self._key, self._key)] = "".join(self._text)
            self._key = None

    def characters(self, text: str) -> None:
        """Take up text of a value."""
        if self._key is not None:
            self._text.append(text)


def described(
    found: GraphmlFile,
) -> Iterator[tuple[tuple[str, ...], Mapping[str, str]]]:
    """Yield names and attributes: one name of a node, two of an edge.

    The id of a node is its name, but in a file that Neo4j exported.
    """
    names = {key: known.get("entity_id") or key for key, known in found.nodes.items()}
    for key, attributes in found.nodes.items():
        yield (names[key],), attributes
    for source, target, attributes in found.edges:
        yield (names.get(source, source), names.get(target, target)), attributes
