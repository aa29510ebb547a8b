"""Files of conversations: which they are, and the processes in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import beside, files, nulled
from veritrail_graph.graph.importers.agents import chain, process
from veritrail_graph.graph.importers.agents.layouts import as_message
from veritrail_graph.graph.importers.conversations import exported, listed
from veritrail_graph.graph.importers.conversations.evaluated import (
    is_oaieval,
    samples_of_oaieval,
)
from veritrail_graph.graph.importers.conversations.exported import told
from veritrail_graph.graph.importers.records import ProcessInput, warned
from veritrail_graph.graph.importers.registry import Found, ImportOptions

LISTS = (
    "messages", "history", "chat_history", "conversation", "conversations", "user_input", "turns",
    "dialog", "dialogue", "traj", "chat",
)  # fmt: skip
"""Keys under which a document holds its messages."""

_WRAPPERS = ("body", "request", "kwargs")
OTHERS = (
    "format", "resourceSpans", "observations", "run_type", "trace_id", "traceId", "spans", "values",
    "nodes", "edges",
)  # fmt: skip
"""Keys of documents of other formats."""
_LOOKED_AT = 20


class AgentsImporter:
    """Reads conversations with models, logs of many agents, and rounds of Chain-of-Agents."""

    name = process.NAME
    description = "message lists and logs of agents: JSON, JSON Lines"
    extra = None
    options = frozenset[str]()

    def detect(self, path: Path) -> str | None:
        """By the first messages, or by the first round."""
        if not path.is_file():
            return "not a file"
        value = listed(files.first_value(path))
        if not isinstance(value, (list, dict)):
            return "no JSON in it"
        if is_oaieval(value) and files.is_lines(path):
            return None
        if isinstance(value, dict) and as_message(value) is not None and files.is_lines(path):
            return None if is_log([value]) else "its first line is no message of a conversation"
        if isinstance(value, list) and messages_of(value) is None and value:
            value = value[0]
        if isinstance(value, dict):
            other = next((key for key in OTHERS if key in value), None)
            if other is not None:
                return f"the key {other!r} belongs to another format"
            if chain.is_chain(value):
                return None
        if messages_of(value) is None:
            return f"no list of messages with role and content, also not under {', '.join(LISTS)}"
        return None

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a conversation.

        Raises:
            InputError: The file cannot be read, or holds no conversation.
        """
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        where = str(path)
        said: Sequence[str] = ()
        if not files.is_lines(path):
            document = files.document(path)
            whole = listed(document)
            if _is_conversation(whole) or not isinstance(whole, list) or not whole:
                yield Found(where, partial(_open, whole, where, options))
                return
            values: Iterator[tuple[int, Any]] = iter(enumerate(whole, start=1))
            said = beside.of_document(document, "the conversations", whole)
        else:
            first = next((one for _, one in files.json_lines(path)), None)
            if as_message(first) is not None:
                yield Found(where, partial(_open_lines, path, options))
                return
            values = files.values(path)
            if is_oaieval(first):
                values = enumerate(samples_of_oaieval(one for _, one in values), start=1)
        for number, value in values:
            place = f"{where}#{number}"
            yield Found(place, partial(_open, value, place, options, said))


def is_log(messages: list[Any]) -> bool:
    """Return whether the first entries of a list are messages, and one of them has a usual role."""
    read = [as_message(one) for one in messages[:_LOOKED_AT]]
    known = [one for one in read if one is not None and one.role != "event"]
    usual = any(not one.is_role for one in known)
    return usual and all(one is not None for one in read)


def messages_of(value: Any) -> tuple[list[Any], Mapping[str, Any]] | None:
    """The messages of a conversation, and the document that holds them; None: it is none."""
    known = exported(value)
    if known is not None:
        return known["messages"], known
    if isinstance(value, list):
        return (value, {}) if is_log(value) else None
    if not isinstance(value, dict):
        return None
    for key in LISTS:
        found = value.get(key)
        if isinstance(found, list) and found and is_log(found):
            return [*found, *_completion(value)], value
    output = value.get("output")
    if isinstance(output, list) and output and is_log(output):
        given = value.get("input")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        return [*(given if isinstance(given, list) else []), *output], value
    for key in _WRAPPERS:
        inner = messages_of(value.get(key)) if isinstance(value.get(key), dict) else None
        if inner is not None:
            return [*inner[0], *_completion(value)], {**inner[1], **value}
    return None


def _completion(value: Mapping[str, Any]) -> list[Any]:
    """The message that a model answered with, where a log holds request and response."""
    response = value.get("response")
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        response = response["body"]
    holder = value if "choices" in value else response
    choices = holder.get("choices") if isinstance(holder, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return [message] if isinstance(message, dict) else []


def _is_conversation(value: Any) -> bool:
    return messages_of(value) is not None or chain.is_chain(value)


def _open(value: Any, where: str, options: ImportOptions, said: Sequence[str] = ()) -> ProcessInput:
    if isinstance(value, InputError):
        raise value
    if chain.is_chain(value):
        made = chain.told(chain.read(value, where, options.question), value)
        return nulled.told(made, value)
    found = messages_of(value)
    if found is None:
        raise InputError(
            f"{where}: no conversation. It must be a list of messages with role and content, or "
            f"hold one under {', '.join(LISTS)}."
        )
    messages, document = found
    read = process.of_messages(messages, document, where, options.question)
    return nulled.told(warned(told(read, value, process.MARKS), said), value)


def _open_lines(path: Path, options: ImportOptions) -> ProcessInput:
    """The one conversation of a file with a message a line."""
    messages = []
    for _, value in files.json_lines(path):
        if isinstance(value, InputError):
            raise value
        messages.append(value)
    made = process.of_messages(messages, {}, str(path), options.question)
    return nulled.told(told(made, messages), messages)
