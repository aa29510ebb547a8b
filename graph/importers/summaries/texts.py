"""Texts as files of summaries hold them, and what is said about an entry as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft

CHUNKS = ("chunks", "source", "sources")
NAMES = ("name", "title", "book")
FINAL = ("final_summary", "final", "summary")
ABOUT = (*NAMES, "question", "model", "prompt")
"""Keys that say something about a process of any shape."""

_NAME_LENGTH = 200


@dataclass(slots=True)
class Text:
    """One text of a file.

    Attributes:
        text: The text.
        where: Its place, for messages.
        about: What else the file says about it.
        children: Places in the level below of the texts that it summarises; None: not recorded.
        parents: Places in the level above of the texts that summarise it; None: not recorded.
    """

    text: str
    where: str
    about: dict[str, Any] = field(default_factory=dict)
    children: tuple[int, ...] | None = None
    parents: tuple[int, ...] | None = None


def is_text(value: Any) -> bool:
    """Return whether a value is a text: a string, or an object with a string under `text`."""
    return isinstance(value, str) or (
        isinstance(value, dict) and isinstance(value.get("text"), str)
    )


def are_texts(value: Any) -> bool:
    """Return whether a value is a list of texts, or one text; an empty list is none."""
    return is_text(value) or (isinstance(value, list) and bool(value) and all(map(is_text, value)))


def read_text(value: Any, where: str) -> Text:
    """One text.

    Raises:
        InputError: It is neither a string nor an object with a `text`, or its places of other
            texts are no whole numbers.
    """
    if isinstance(value, str):
        return Text(value, where)
    if not is_text(value):
        raise InputError(
            f"{where}: a text must be a string, or an object with a string under `text`, "
            f"not {kind_of(value)}."
        )
    about = {
        key: rest
        for key, rest in value.items()
        if key not in ("text", "children", "parents", "parent")
    }
    children = places(value.get("children"), f"{where}, children")
    parents = places(files.first_of(value, ("parents", "parent")), f"{where}, parents")
    return Text(value["text"], where, about, children, parents)


def read_texts(value: Any, where: str) -> list[Text]:
    """A list of texts; a single text is a list of one.

    Raises:
        InputError: As `read_text` says.
    """
    if is_text(value):
        return [read_text(value, where)]
    if not isinstance(value, list):
        raise InputError(f"{where}: a list of texts is needed, not {kind_of(value)}.")
    return [read_text(one, f"{where}[{place}]") for place, one in enumerate(value)]


def places(value: Any, where: str) -> tuple[int, ...] | None:
    """Places of other texts, counted from 0: a number, a list of numbers, or None for null.

    Raises:
        InputError: It is something else.
    """
    if isinstance(value, dict) and len(value) == 1:  # a set or tuple as jsonpickle writes it
        value = files.first_of(value, ("py/set", "py/tuple"))
    if value is None:
        return None
    listed = value if isinstance(value, list) else [value]
    for one in listed:
        if not isinstance(one, int) or isinstance(one, bool):
            raise InputError(
                f"{where}: the place of a text must be a whole number, counted from 0, "
                f"not {kind_of(one)}."
            )
    return tuple(dict.fromkeys(listed))


def kind_of(value: Any) -> str:
    """Return what a JSON value is, for messages."""
    names = {
        dict: "an object", list: "a list", str: "a string", bool: "a truth value",
        int: "a number", float: "a number", type(None): "null",
    }  # fmt: skip
    return names.get(type(value), type(value).__name__)


def name_of(value: Mapping[str, Any], given: str | None) -> str | None:
    """The name of a process: the one that it says itself, else the key that it has in its file."""
    said = files.first_of(value, NAMES)
    name = said if isinstance(said, str) and said.strip() else given
    return name[:_NAME_LENGTH] if name else None


def question_of(value: Mapping[str, Any], where: str) -> str | None:
    """The question of a process.

    Raises:
        InputError: It is no text.
    """
    question = value.get("question")
    if question is not None and not isinstance(question, str):
        raise InputError(f"{where}: the question must be a string, not {kind_of(question)}.")
    return question or None


def makers(value: Mapping[str, Any]) -> dict[str, Any]:
    """The model and the prompt that an entry names for all of its summaries."""
    return {key: value[key] for key in ("model", "prompt") if value.get(key) is not None}


def not_read(value: Mapping[str, Any], known: Iterable[str]) -> list[str]:
    """A warning about the keys of an entry that nothing is made of."""
    left = [key for key in value if key not in known]
    return [f"Not read: {some(map(shown, left))}."] if left else []


def outgoing(draft: Draft) -> set[str]:
    """The nodes of a draft that are the source of an edge."""
    return {source for source, _ in draft.edges}
