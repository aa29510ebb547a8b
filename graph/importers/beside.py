"""Fields of a value that a process was made from which hold words that nothing of it holds.

Their names are said, so that no text is left out without a word.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.records import ProcessInput, warned
from veritrail_graph.graph.importers.traces.finding import SHORTEST, Finder, normalised
from veritrail_graph.graph.importers.traces.unread import texts_in, words_in

_DEEPEST = 40


class _Every:
    """Holds every name."""

    def __contains__(self, name: object) -> bool:
        return True


EVERY = _Every()
"""All names: a field is named by the path to the text itself."""
_OWN_KEYS = ("mapping",)
"""Objects with an id for a key."""


def told(
    source: ProcessInput,
    value: Any,
    beside: str,
    read: Container[str] = (),
    whole: Container[str] = (),
) -> ProcessInput:
    """Return a process with a warning that names such fields of the value that it was made from.

    Args:
        source: The process, in memory.
        value: What it was made from, as it was written.
        beside: What the fields stand beside, such as `the messages`.
        read: Names that are read, or told of in words of their own; fields below are looked at.
        whole: Names below which all is read, or told of so.
    """
    found = fields(value, read, whole)
    return warned(source, sentence(found, _held(source), beside)) if found else source


def sentence(found: Mapping[str, set[str]], held: Iterable[str], beside: str) -> list[str]:
    """Return the sentence that names fields with texts that are not held; none: all are."""
    if not found:
        return []
    finder = Finder.of([*set[str]().union(*found.values())])
    there = {finder.texts[hit.found] for one in held for hit in finder.within(normalised(one))}
    left = [name for name, forms in found.items() if not forms <= there]
    if not left:
        return []
    what = "One field" if len(left) == 1 else f"{len(left):,} fields"
    are = "is" if len(left) == 1 else "are"
    return [f"{what} beside {beside} {are} left out: {some(map(shown, left))}."]


def fields(
    value: Any, read: Container[str] = (), whole: Container[str] = ()
) -> dict[str, set[str]]:
    """Return the compared forms of the texts below each field that is not read, by its path."""
    found: dict[str, set[str]] = {}
    for path, one in _unread(value, read, whole, "", 0):
        forms = {form for text in words_in(one) if len(form := normalised(text)) >= SHORTEST}
        if forms:
            found.setdefault(path, set()).update(forms)
    return found


def _unread(
    value: Any, read: Container[str], whole: Container[str], path: str, depth: int
) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        if read is EVERY and path:
            yield from ((path, one) for one in value if isinstance(one, str))
        for one in value:
            yield from _unread(one, read, whole, path, depth + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            here = f"{path}.{name}" if path else str(name)
            if name in _OWN_KEYS and isinstance(one, dict):
                yield from _unread([*one.values()], read, whole, here, depth + 1)
            elif read is EVERY and not isinstance(one, (dict, list)):
                yield here, one
            elif name in whole:
                continue
            elif name in read:
                yield from _unread(one, read, whole, here, depth + 1)
            else:
                yield here, one


def of_document(document: Any, beside: str, *lists: Sequence[Any]) -> list[str]:
    """Return the sentence that names what a document holds beside lists in it; none: nothing.

    Args:
        document: It.
        beside: What is in the lists, such as `the rows`.
        lists: They, compared by identity: their entries are read on their own.
    """
    known = {id(one) for one in lists}
    if not isinstance(document, dict) or not _holds(document, known):
        return []
    found = fields(_pruned(document, known), EVERY)
    return sentence(found, texts_in(lists, whole=True), beside) if found else []


def _holds(document: Mapping[str, Any], known: set[int]) -> bool:
    return any(
        id(one) in known or (isinstance(one, dict) and _holds(one, known))
        for one in document.values()
    )


def _pruned(document: Mapping[str, Any], known: set[int]) -> dict[str, Any]:
    return {
        name: _pruned(one, known) if isinstance(one, dict) else one
        for name, one in document.items()
        if id(one) not in known
    }


def _held(source: ProcessInput) -> Iterator[str]:
    header = source.header
    yield from (one for one in (header.name, header.question, *header.warnings) if one)
    nodes: Any = getattr(source, "nodes", ())  # edges may be many, and are made while they are read
    for node in nodes.values() if isinstance(nodes, dict) else nodes:
        yield node.text
        yield from texts_in(node.metadata, whole=True)
