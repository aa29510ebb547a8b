"""Find the node of a value of the program: by the object itself, or by its text."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

SHORT = 500
"""Characters up to which a text is kept as the object that it is.

Different steps may write the same short text (`Nothing found.`), and only the object says which
of them is meant. Of longer texts length and hash are kept, so that memory does not grow with them;
a text keeps its hash, so that it is computed once.
"""

MOST_ALIKE = 100
"""Nodes with one text that are kept apart: the latest ones."""

HEAD = 24
"""Characters at the beginning by which a text is found within a longer one; shorter texts, which
may stand in others by chance, are not looked for."""

CONTAINERS = (dict, list, tuple, set, frozenset)

_NUMBERS = (int, float)


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A text that was recorded.

    Attributes:
        node_id: The id of its node; empty where it could not be recorded.
        text: The text.
        process_id: The process that it belongs to.
    """

    node_id: str
    text: str
    process_id: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Links:
    """The nodes and unknown texts that were found in a value.

    Attributes:
        nodes: node_ids, each once, in the order of the value; `exact` for a text that stands
            within a longer one.
        unknown: Texts, and spans of other recordings, that belong to no node.
    """

    nodes: dict[str, str | None] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


class KnownTexts:
    """The texts of a recording, by what a program may hand over for them.

    Args:
        process_id: The process whose spans are known.
    """

    def __init__(self, process_id: str) -> None:
        self._process_id = process_id
        self._short: dict[str, list[tuple[str, str]]] = {}
        self._long: dict[tuple[int, int], list[str]] = {}
        self._heads: dict[str, dict[int, set[int]]] = {}
        self._objects: dict[int, tuple[Callable[[], object], str]] = {}
        self._ids: dict[Hashable, dict[str, str | None]] = {}

    def add(self, text: str, node_id: str) -> None:
        """Know the text of a node."""
        if len(text) >= HEAD:
            self._heads.setdefault(text[:HEAD], {}).setdefault(len(text), set()).add(hash(text))
        if len(text) > SHORT:
            _append(self._long.setdefault((len(text), hash(text)), []), node_id)
        elif text:
            _append(self._short.setdefault(text, []), (text, node_id))

    def add_object(self, value: object, node_id: str) -> None:
        """Know an object whose text was recorded, for as long as the program keeps it."""
        key = id(value)
        found: Callable[[], object]
        try:
            found = weakref.ref(value, lambda _: self._objects.pop(key, None))
        except TypeError:  # lists, dicts and the like are kept
            found = lambda: value  # noqa: E731
        self._objects[key] = (found, node_id)

    def add_id(self, key: Hashable, node_id: str, how: str | None = None) -> None:
        """Know a node by an id that a library gave to its text; an id may name several nodes."""
        self._ids.setdefault(key, {}).setdefault(node_id, how)

    def of_id(self, key: Hashable) -> Mapping[str, str | None]:
        """The nodes that an id of a library names, and how each was found for it."""
        return self._ids.get(key, {})

    def nodes_of(self, text: str) -> Sequence[str]:
        """Nodes with this text, the likeliest first: this very object, else the latest."""
        size = len(text)
        if size > SHORT:
            return self._long.get((size, hash(text)), ())[::-1]
        found = self._short.get(text, ())
        if len(found) < 2:  # the usual one
            return [node_id for _, node_id in found]
        same = [node_id for known, node_id in found[::-1] if known is text]
        return same + [node_id for known, node_id in found[::-1] if known is not text]

    def within(self, text: str) -> Iterator[str]:
        """Nodes whose whole texts stand in a longer text; of nested ones only the longest."""
        start = 0
        while start <= len(text) - HEAD:
            size = 0
            for length, hashes in self._heads.get(text[start : start + HEAD], {}).items():
                if length > size and hash(text[start : start + length]) in hashes:
                    size = length
            if size:
                yield from self.nodes_of(text[start : start + size])[:1]
            start += size or 1

    def links(self, value: object, *, within: bool = False) -> Links:
        """The nodes of the recorded texts in a value, also inside lists, tuples, sets and dicts.

        A text that stands there several times is linked to as many nodes with that text.

        Args:
            value: The value.
            within: Whether recorded texts are looked for within longer ones, such as prompts.
        """
        found = Links()
        seen: set[int] = set()
        waiting: list[Any] = [value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                self._link_text(value, found, within=within)
            elif isinstance(value, RecordedSpan):
                self._link_span(value, found)
            elif (known := self._objects.get(id(value))) is not None and known[0]() is value:
                found.nodes[known[1]] = None
            elif isinstance(value, CONTAINERS) and id(value) not in seen:
                seen.add(id(value))
                items = [*(value.values() if isinstance(value, dict) else value)]
                if items and not isinstance(items[0], _NUMBERS):  # a vector may be long
                    waiting += reversed(items)
        return found

    def _link_text(self, text: str, found: Links, *, within: bool = False) -> None:
        known = self.nodes_of(text)
        for node_id in known:
            if node_id not in found.nodes or len(known) == 1:
                found.nodes[node_id] = None
                return
        is_known = bool(known)
        if not known and within:
            for node_id in self.within(text):
                is_known = True
                found.nodes.setdefault(node_id, "exact")
        if not is_known:
            found.unknown.append(text)

    def _link_span(self, span: RecordedSpan, found: Links) -> None:
        if not span.node_id:
            found.unknown.append(span.text)
        elif span.process_id == self._process_id:
            found.nodes[span.node_id] = None
        else:  # of another recording: the text may be known here as well
            self._link_text(span.text, found)


def _append(known: list[T], one: T) -> None:
    known.append(one)
    if len(known) > MOST_ALIKE:
        del known[0]
