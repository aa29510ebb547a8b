"""Nodes by what people call them: the title or name of a node stands before its id.

A report of GraphRAG has a number as its id, and a title that says what it is about.

Source: ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from veritrail_graph.api.show.document import PLACE, Fact, TextKind, TextRun
from veritrail_graph.api.show.drawing import Drawing, Joint, PictureBox
from veritrail_graph.graph.findings import name_in

_LONGEST = 60
T = TypeVar("T")


def names_of(known: Iterable[tuple[str, object]]) -> dict[str, str]:
    """Return what people call those of some nodes that have a title or a name, by node_id.

    Args:
        known: The nodes by their ids, with their metadata.
    """
    found = {}
    for node_id, metadata in known:
        called = name_in(metadata)
        if called is not None and called != node_id:
            found[node_id] = called if len(called) <= _LONGEST else f"{called[:_LONGEST].rstrip()}…"
    return found


def with_names(shown: T, names: Mapping[str, str]) -> T:
    """Return a document, or a drawing, in which nodes are called by their names.

    In lines the id stands behind the name, since several nodes may have one name; a box of a
    picture leads to its node.

    Args:
        shown: It.
        names: The names by node_id.
    """
    return cast("T", _renamed(shown, names)) if names else shown


def _renamed(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, tuple):
        return tuple(_renamed(one, names) for one in value)
    if isinstance(value, TextRun):
        is_node = value.kind is TextKind.ID and value.text in names
        return replace(value, text=f"{names[value.text]} ({value.text})") if is_node else value
    if isinstance(value, Fact) and value.name == PLACE:
        return replace(
            value,
            words=tuple(replace(one, text=_placed(one.text, names)) for one in value.words),
        )
    if isinstance(value, PictureBox):
        among = tuple(names.get(one, one) for one in value.among)
        return replace(value, name=names.get(value.name, value.name), among=among)
    if isinstance(value, Joint):
        return replace(value, names=tuple(names.get(one, one) for one in value.names))
    if isinstance(value, Drawing):
        return replace(
            value,
            news=_placed(value.news, names),
            columns=with_names(value.columns, names),
            joints=with_names(value.joints, names),
        )
    if is_dataclass(value) and not isinstance(value, type):
        held = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        made = {name: _renamed(one, names) for name, one in held.items()}
        changed = {name: one for name, one in made.items() if one is not held[name]}
        return replace(value, **changed) if changed else value
    return value


def _placed(words: str, names: Mapping[str, str]) -> str:
    """Return a line that says where an error came in, with the names of the nodes."""
    ids = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    # The number of a stage, or of nodes, may be the id of a node, too.
    pattern = rf"(?<!\S)(?<!stage )({ids})(?=[\s,.;:)]|$)(?! nodes?\b| more\b)"
    return re.sub(pattern, lambda found: f"{names[found[1]]} ({found[1]})", words)
