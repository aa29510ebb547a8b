"""The usual records of a process file, recognised by a few checks; all others go to the models.

What is plain here keeps every rule that the models of `schema` check, so that a model
would say nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

from veritrail_graph.graph.model.noun import MAX_NODE_ID, MAX_STAGE

_NODE_KEYS = frozenset({"node_id", "text", "stage", "kind", "step", "metadata"})
_SCALARS = frozenset({str, int, float, bool, type(None)})
_ID = rf'"([^"\\\x00-\x1f]{{1,{MAX_NODE_ID}}})"'
_EDGE = re.compile(rf'^\{{"edge": ?\{{"source": ?{_ID}, ?"target": ?{_ID}\}}\}}\r?$', re.MULTILINE)


def is_plain_id(value: object) -> TypeGuard[str]:
    """Whether it is a node_id without any character that needs a closer look."""
    return type(value) is str and value.isascii() and 0 < len(value) <= MAX_NODE_ID


def is_plain_node(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is a node with usual values, and no key but those of a node."""
    if type(value) is not dict or not value.keys() <= _NODE_KEYS:
        return False
    get = value.get
    stage, metadata = get("stage"), get("metadata")
    return (
        is_plain_id(get("node_id"))
        and type(get("text")) is str
        and (stage is None or (type(stage) is int and 0 <= stage <= MAX_STAGE))
        and _is_plain_or_none(get("kind"))
        and _is_plain_or_none(get("step"))
        and (metadata is None or (type(metadata) is dict and _is_flat(metadata)))
    )


def plain_nodes(lines: Iterable[bytes], parse: Callable[[bytes], Any]) -> list[dict[str, Any]]:
    """The nodes of the first lines, up to the first line that holds anything but a plain node.

    Args:
        lines: The lines.
        parse: Reads the JSON of a line; raises ValueError where it has to be looked at.
    """
    found = []
    for line in lines:
        try:
            value = parse(line)
        except ValueError:
            break
        if type(value) is not dict or len(value) != 1:
            break
        node = value.get("node")
        if not is_plain_node(node):
            break
        found.append(node)
    return found


def plain_edges(chunk: bytes) -> list[tuple[str, str]] | None:
    """Source and target of every line, when each is an edge with nothing but plain ends.

    A match begins and ends with its line and holds no line feed, so as many matches as there
    are lines are all lines.
    """
    if not chunk.startswith(b'{"edge"') or not chunk.isascii():
        return None
    found: list[tuple[str, str]] = _EDGE.findall(chunk.decode("ascii"))
    lines = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
    return found if len(found) == lines else None


def _is_plain_or_none(value: object) -> bool:
    return value is None or (type(value) is str and value.isascii())


def _is_flat(metadata: dict[str, Any]) -> bool:
    for key, value in metadata.items():
        if not key.isascii() or type(value) not in _SCALARS:
            return False
    return True
