"""A stored process as the files that `neo4j-admin database import full` reads.

One file a label and a type, with the header that the importer demands, and the command that
imports them. Texts are always in quotes, so that an empty text is not an absent one. The
importer knows no empty lists: they are left out, which our readers take for the same.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.property_graph import Key, Nodes, Part, counts_of, parts
from veritrail_graph.graph.schema import (
    NODES,
    RELATIONSHIPS,
    NodeType,
    Property,
    RelationshipType,
)
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess
from veritrail_graph.graph.store.rows import Properties

SEPARATOR = "\ufdd0"
"""Between the elements of a list: no character, so that texts do not hold it."""

COMMAND_FILE = "import.sh"
_OWN = "VeriTrailSchema"  # of the graph, not of a process
_TYPES = {
    "string": "",
    "integer": ":long",
    "float": ":double",
    "boolean": ":boolean",
    "list of strings": ":string[]",
    "list of integers": ":long[]",
}


async def write_import(store: Store, stored: StoredProcess, folder: Path) -> dict[str, int]:
    """Write all files; give how many nodes and relationships there are, by label and type.

    Raises:
        InputError: An element of a list holds the character that separates elements.
    """
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        files: dict[str, _Table] = {}
        kinds: list[NodeType | RelationshipType] = [one for one in NODES if one.label != _OWN]
        for kind in [*kinds, *RELATIONSHIPS]:
            files[_file(kind)] = _Table(kind, stack.enter_context(_open(folder, kind)))
        labels = {one.label: one for one in kinds if isinstance(one, NodeType)}
        async for part in parts(store, stored):
            counts_of(counts, part)
            kind = labels[part.label] if isinstance(part, Nodes) else part.kind
            files[_file(kind)].write(part)
    (folder / COMMAND_FILE).write_text(import_command(), encoding="utf-8")
    return counts


def import_command(database: str = "neo4j") -> str:
    """The command that imports the files into an empty database, to be run in their folder."""
    options = [f"--nodes={_file(one)}" for one in NODES if one.label != _OWN]
    options += [f"--relationships={_file(one)}" for one in RELATIONSHIPS]
    options += ["--multiline-fields=true", "--id-type=string"]
    options += [f"--array-delimiter=U+{ord(SEPARATOR):04X}", database]
    lines = ["neo4j-admin database import full", *options]
    return " \\\n  ".join(lines) + "\n"


def _file(kind: NodeType | RelationshipType) -> str:
    if isinstance(kind, NodeType):
        return f"nodes_{kind.label.lower()}.csv"
    first = next(one for one in RELATIONSHIPS if one.type == kind.type)
    ends = [kind.source] if kind.source != first.source else []
    ends += [kind.target] if kind.target != first.target else []
    return f"relationships_{'_'.join([kind.type, *ends]).lower()}.csv"


def _open(folder: Path, kind: NodeType | RelationshipType) -> IO[str]:
    return (folder / _file(kind)).open("w", encoding="utf-8", newline="")


class _Table:
    """One file."""

    def __init__(self, kind: NodeType | RelationshipType, file: IO[str]) -> None:
        self._kind = kind
        self._file = file
        self._properties = kind.properties
        self.name = kind.label if isinstance(kind, NodeType) else kind.type
        columns = [f"{one.name}{_TYPES[one.type]}" for one in kind.properties]
        if isinstance(kind, NodeType):
            header = [f":ID({kind.label})", *columns, ":LABEL"]
        else:
            header = [f":START_ID({kind.source})", f":END_ID({kind.target})", *columns, ":TYPE"]
        file.write(",".join(header) + "\n")

    def write(self, part: Part) -> None:
        """Write some rows."""
        for *ends, properties in part.rows:
            cells = [_quoted(_id(end)) for end in ends]
            cells += [self._cell(one, properties) for one in self._properties]
            self._file.write(",".join([*cells, self.name]) + "\n")

    def _cell(self, one: Property, properties: Properties) -> str:
        value = properties.get(one.name)
        if value is None:
            return ""
        if one.type == "string":
            return _quoted(value)
        if one.type == "boolean":
            return "true" if value else "false"
        if one.type == "list of strings":
            return _quoted(SEPARATOR.join(map(self._element, value))) if value else ""
        if one.type == "list of integers":
            return SEPARATOR.join(map(str, value))
        return repr(value)

    def _element(self, text: str) -> str:
        if SEPARATOR in text:
            raise InputError(
                f"A text in {self.name} holds U+{ord(SEPARATOR):04X}, which separates the elements "
                "of lists in files for neo4j-admin. The format cypher can hold it."
            )
        return text


def _id(key: Any) -> str:
    """A node's key as one text."""
    plain: Key = key
    return plain if isinstance(plain, str) else "\n".join(map(str, plain))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
