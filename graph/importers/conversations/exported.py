"""A conversation of an export, and the parts that all layouts make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.counted import counted, some
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.traces.finding import SHORTEST, Finder, normalised
from veritrail_graph.graph.importers.traces.unread import texts_in, words_in


class Exported(dict[str, Any]):
    """A conversation as the document that the importers of conversations know.

    Attributes:
        remarks: What has to be said of how it was made.
        is_chat: Whether it is one of a person with an assistant, however much it uses tools.
    """

    def __init__(
        self,
        messages: Sequence[Any],
        about: Mapping[str, Any],
        remarks: Iterable[str] = (),
        *,
        is_chat: bool = False,
    ) -> None:
        super().__init__({**about, "messages": list(messages)})
        self.remarks = tuple(remarks)
        self.is_chat = is_chat


def remarks_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what has to be said of a conversation that came from an export."""
    return document.remarks if isinstance(document, Exported) else ()


_TOLD = frozenset((
    "messages", "tools", "functions", "system", "system_prompt", "instructions",
))  # fmt: skip
"""Fields that are read, or named in words of their own."""


def fields_left_out(
    document: Mapping[str, Any], messages: Any, read: Collection[str] = ()
) -> list[str]:
    """Return a sentence that names fields beside messages with words that no message holds.

    Args:
        document: What holds the messages.
        messages: They, as they are written.
        read: The names of fields that are read.
    """
    fields: dict[str, set[str]] = {}
    for name, value in document.items():
        if value is messages or name in _TOLD or name in read:
            continue
        forms = {form for one in words_in(value) if len(form := normalised(one)) >= SHORTEST}
        if forms:
            fields[name] = forms
    if not fields:
        return []
    finder = Finder.of([*set[str]().union(*fields.values())])
    said = (normalised(one) for one in texts_in(messages, whole=True))
    held = {finder.texts[hit.found] for one in said for hit in finder.within(one)}
    left = [name for name, forms in fields.items() if not forms <= held]
    if not left:
        return []
    what = "One field" if len(left) == 1 else f"{len(left):,} fields"
    are = "is" if len(left) == 1 else "are"
    return [f"{what} beside the messages {are} left out: {some(map(shown, left))}."]


def left_out(counts: Counter[str]) -> list[str]:
    """Return a sentence that says what of an export is no message; none where all of it is."""
    if not counts:
        return []
    named = ", ".join(f"{kind} ({count:,})" for kind, count in counts.most_common())
    entries = counted(counts.total(), "entry", "entries")
    return [f"Left out, as no message of the conversation: {entries}: {named}."]


def call(name: Any, given: Any, call_id: Any = None) -> dict[str, Any]:
    """Return the call of a tool as OpenAI writes it."""
    known = name if isinstance(name, str) and name else "tool"
    return {"id": call_id, "function": {"name": known, "arguments": given}}


def result(text: Any, name: Any = None, call_id: Any = None) -> dict[str, Any]:
    """Return the message with what a tool returned."""
    return {"role": "tool", "name": name, "tool_call_id": call_id, "content": text}


def inner(value: Any, key: str) -> Mapping[str, Any]:
    """Return the object under a key; an empty one where there is none."""
    held = value.get(key) if isinstance(value, dict) else None
    return held if isinstance(held, dict) else {}


def texts_of(parts: Any) -> str:
    """Return the text of a content: itself, or the texts of its parts, one a line."""
    if isinstance(parts, str):
        return parts
    listed = parts if isinstance(parts, list) else [parts]
    found = [one.get("text") if isinstance(one, dict) else one for one in listed]
    return "\n".join(one for one in found if isinstance(one, str) and one.strip())


def path_to(last: str, above: Mapping[str, Any]) -> list[str]:
    """Return the ids from the first message to one of the last ones.

    Args:
        last: Its id.
        above: Of each message the id of the one before it.
    """
    path: list[str] = []
    seen: set[str] = set()
    at: Any = last
    while isinstance(at, str) and at in above and at not in seen:  # torn exports may go round
        seen.add(at)
        path.append(at)
        at = above[at]
    return path[::-1]
