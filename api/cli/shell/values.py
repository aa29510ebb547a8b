"""What a statement gave, as a person reads it: values in the notation of Cypher."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.terminal import console, say
from veritrail_graph.api.views.texts import clean, one_line

if TYPE_CHECKING:
    from veritrail_graph.graph.store.database import QueryRows

MOST_ON_TERMINAL = 400
"""Characters of a value on a terminal; in a pipe it is whole."""

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


def tell(found: QueryRows) -> None:
    """Print the rows as a table, and say what was changed."""
    from rich.table import Table
    from rich.text import Text

    screen = console()
    most = MOST_ON_TERMINAL if screen.is_terminal else None
    if found.columns:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in found.columns:
            table.add_column(Text(clean(column)), overflow="fold")
        for row in found.rows:
            table.add_row(*(Text(cell(value, most)) for value in row))
        screen.print(table)
    said = ", ".join(f"{name.replace('_', ' ')}: {n:,}" for name, n in found.changes.items())
    if found.truncated:
        say(f"There are more rows than {len(found.rows):,}; end with LIMIT.", "yellow")
    elif said:
        say(said, "dim")
    elif not found.rows:
        say("No rows.", "dim")


def cell(value: Any, most: int | None = None) -> str:
    """A value of a row, on one line; a string without quotes."""
    return one_line(value if isinstance(value, str) else notation(value), most)


def notation(value: Any) -> str:
    """A value as Cypher writes it; nodes, relationships and paths as patterns."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{escaped}'"
    if hasattr(value, "labels"):  # these three are mappings and sequences as well
        return _node(value)
    if hasattr(value, "relationships"):
        return _path(value)
    if hasattr(value, "start_node"):
        return _relationship(value)
    if isinstance(value, Mapping):
        return _map(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(notation(item) for item in value)}]"
    return str(value)


def _map(value: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{_name(key)}: {notation(item)}" for key, item in value.items()) + "}"


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _node(node: Any) -> str:
    labels = "".join(f":{_name(label)}" for label in sorted(node.labels))
    return f"({_with_properties(labels, node)})"


def _relationship(relationship: Any) -> str:
    return f"[{_with_properties(f':{_name(relationship.type)}', relationship)}]"


def _with_properties(head: str, thing: Any) -> str:
    properties = dict(thing.items())
    return " ".join([head, _map(properties)] if properties else [head])


def _path(path: Any) -> str:
    parts = [_node(path.nodes[0])]
    for before, relationship, after in zip(
        path.nodes, path.relationships, path.nodes[1:], strict=False
    ):
        forward = relationship.start_node is None or relationship.start_node == before
        inside = _relationship(relationship)
        parts.append(f"-{inside}->" if forward else f"<-{inside}-")
        parts.append(_node(after))
    return "".join(parts)
