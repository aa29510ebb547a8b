"""A conversation of an export, and the parts that all layouts make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.importers import beside
from veritrail_graph.graph.importers.records import ProcessInput


class Exported(dict[str, Any]):
    """A conversation as the document that the importers of conversations know.

    Attributes:
        remarks: What has to be said of how it was made.
        is_chat: Whether it is one of a person with an assistant, however much it uses tools.
        written: What it was made of, where that is no longer at hand when it is read.
    """

    def __init__(
        self,
        messages: Sequence[Any],
        about: Mapping[str, Any],
        remarks: Iterable[str] = (),
        *,
        is_chat: bool = False,
        written: Any = None,
    ) -> None:
        super().__init__({**about, "messages": list(messages)})
        self.remarks = tuple(remarks)
        self.is_chat = is_chat
        self.written = written


def remarks_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what has to be said of a conversation that came from an export."""
    return document.remarks if isinstance(document, Exported) else ()


_READ = frozenset((
    "messages", "history", "chat_history", "conversation", "conversations", "user_input", "turns",
    "dialog", "dialogue", "traj", "chat", "mapping", "chat_messages", "trajectory", "events",
    "message", "content", "value", "parts", "text", "data", "kwargs", "body", "request", "choices",
    "role", "from", "name", "type", "id", "tool_calls", "function_call", "function", "functionCall",
    "functionResponse", "tool_responses", "input", "output", "outputs", "response", "source",
    "refusal", "author", "attachments", "files", "llm_message", "action", "observation", "sample",
    "sampled", "prompt", "results", "retrieval_context", "retrievalContext", "tools_called",
    "toolsCalled", "logs", "extracted_content", "result", "user_profile", "model_set_context",
    "user", "human", "ai", "assistant", "bot", "reference_contexts", "retrieved_contexts",
    "contexts", "context", "documents", "answer", "info", "args", "tool_call", "thought",
    "thoughts", "thinking", "reasoning",
))  # fmt: skip
"""Names in conversations that are read, or counted where they are left out."""
_WHOLE = frozenset((
    "tools", "functions", "system", "system_prompt", "instructions", "arguments", "summary",
    "reasoning_content", "submission", "user_instructions",
))  # fmt: skip
"""Names below which all is read, or named in words of its own."""


def told(source: ProcessInput, value: Any, read: Collection[str] = ()) -> ProcessInput:
    """Return a process that names fields beside messages with words that nothing of it holds.

    Args:
        source: The process of a conversation.
        value: The conversation, as it is written.
        read: Further names of fields that are read.
    """
    if isinstance(value, Exported) and value.written is not None:
        value = value.written
    return beside.told(source, value, "the messages", _READ, _WHOLE | frozenset(read))


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
