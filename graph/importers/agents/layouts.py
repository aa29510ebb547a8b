"""Messages as different programs write them, brought into one layout.

The layout is that of OpenAI's chat messages: `role`, `name`, `content` and `tool_calls`. A role
that is none of the usual ones is the name of an agent, as Magentic-One writes its logs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.traces import parts

ROLES = {
    "user": "user", "human": "user", "user_input": "user",
    "assistant": "assistant", "ai": "assistant", "gpt": "assistant", "model": "assistant",
    "bot": "assistant", "chatbot": "assistant", "aimessagechunk": "assistant",
    "system": "system", "developer": "system",
    "tool": "tool", "function": "tool", "observation": "tool", "tool_result": "tool",
    "ipython": "tool",
}  # fmt: skip
"""What the names of roles mean."""

CONTENT = ("content", "value", "parts", "text")
_CALLS = ("tool_calls", "function_call", "tool_responses")


@dataclass(frozen=True, slots=True)
class Message:
    """A message of any layout.

    Attributes:
        role: `user`, `assistant`, `system`, `tool`, or `event` for what is no message.
        name: Who sent it, or the tool that answered; None: not recorded.
        content: Its text, its parts, or None.
        calls: Calls of tools as they were recorded.
        answers: Id of the call that a tool answers.
        note: What a log says about the message in brackets, such as `thought`.
        is_role: Whether the name was recorded as a role.
        label: The role as it was written.
        thoughts: Text that the model wrote before its message.
        model: The model that wrote it.
    """

    role: str
    name: str | None = None
    content: Any = None
    calls: tuple[Any, ...] = ()
    answers: str | None = None
    note: str | None = None
    is_role: bool = False
    label: str | None = None
    thoughts: str | None = None
    model: str | None = None


def as_message(raw: Any) -> Message | None:
    """A message in any of the known layouts; None: it is in none of them."""
    if not isinstance(raw, dict):
        return None
    if isinstance(raw.get("data"), dict) and isinstance(raw.get("type"), str):
        raw = {**raw["data"], "type": raw["type"]}  # how LangChain writes messages to a file
    elif "lc" in raw and isinstance(raw.get("kwargs"), dict):
        raw = raw["kwargs"]  # and how it writes objects
    kind, source = raw.get("type"), raw.get("source")
    typed = isinstance(kind, str) and kind.endswith(("Message", "Event")) and "content" in raw
    if typed and isinstance(kind, str) and isinstance(source, str):
        return _of_autogen(raw, kind, source)
    if isinstance(kind, str) and kind in _ITEMS and "role" not in raw:
        return _ITEMS[kind](raw)
    role = next((raw[key] for key in ("role", "from") if isinstance(raw.get(key), str)), None)
    if role is None and isinstance(kind, str) and kind.lower() in ROLES and "content" in raw:
        role = kind
    if role is None or not role.strip():
        return None
    if not any(key in raw for key in (*CONTENT, *_CALLS)):
        return None
    return _of_chat(raw, role.strip())


def _of_chat(raw: Mapping[str, Any], role: str) -> Message:
    known = ROLES.get(role.lower())
    name = raw.get("name") if isinstance(raw.get("name"), str) else None
    note = None
    if known is None:
        bare, _, rest = role.partition(" (")
        name, note = bare, rest.removesuffix(")").strip() or None
    calls = list(_listed(raw.get("tool_calls")))
    if isinstance(raw.get("function_call"), dict):
        calls.append({"function": raw["function_call"]})
    content = files.first_of(raw, CONTENT)
    if not content and isinstance(raw.get("refusal"), str):
        content = raw["refusal"]  # OpenAI writes it beside a content that is null
    responses = [one for one in _listed(raw.get("tool_responses")) if isinstance(one, dict)]
    if responses:  # AG2 repeats them, joined, as the content
        content = [_result(one.get("tool_call_id"), one.get("content")) for one in responses]
    thoughts = files.first_of(raw, ("reasoning_content", "reasoning", "thought", "thinking"))
    if known == "assistant" and isinstance(content, str):  # in front of the answer
        content, before = parts.without_thought(content)
        thoughts = thoughts or before
    return Message(
        known or "assistant",
        name or None,
        content,
        tuple(calls),
        _text_of(files.first_of(raw, ("tool_call_id", "call_id"))),
        note,
        known is None,
        role,
        _text_of(thoughts),
        _text_of(raw.get("model")),
    )


def _of_autogen(raw: Mapping[str, Any], kind: str, source: str) -> Message:
    """A message of AutoGen 0.4 or later, which says its type and its source."""
    content = raw.get("content")
    person = source.lower() in ("user", "human")
    if kind == "ToolCallRequestEvent":
        return Message("assistant", source, None, tuple(_listed(content)))
    if kind == "ToolCallExecutionEvent":
        found = [one for one in _listed(content) if isinstance(one, dict)]
        parts = [_result(one.get("call_id"), one.get("content"), one.get("name")) for one in found]
        return Message("tool", None, parts)
    if kind == "MemoryQueryEvent":
        found = [one for one in _listed(content) if isinstance(one, dict)]
        return Message("tool", source, [_document(one.get("content"), None) for one in found])
    if kind == "ThoughtEvent":
        return Message("assistant", source, None, thoughts=_text_of(content))
    if kind.endswith("Message") and kind != "HandoffMessage":
        return Message("user" if person else "assistant", source, content)
    return Message("event", source)


def _of_call(raw: Mapping[str, Any]) -> Message:
    return Message("assistant", None, None, (raw,))


def _of_output(raw: Mapping[str, Any]) -> Message:
    return Message("tool", None, raw.get("output"), (), _text_of(raw.get("call_id")))


def _of_reasoning(raw: Mapping[str, Any]) -> Message:
    parts = [*_listed(raw.get("summary")), *_listed(raw.get("content"))]
    texts = [part["text"] for part in parts if isinstance(part, dict) and part.get("text")]
    return Message("assistant", thoughts="\n".join(map(str, texts)) or None)


def _of_file_search(raw: Mapping[str, Any]) -> Message:
    found = [one for one in _listed(raw.get("results")) if isinstance(one, dict)]
    return Message("tool", None, [_document(one.get("text"), one.get("filename")) for one in found])


def _of_interpreter(raw: Mapping[str, Any]) -> Message:
    outputs = [one for one in _listed(raw.get("outputs")) if isinstance(one, dict)]
    texts = [one["logs"] for one in outputs if isinstance(one.get("logs"), str)]
    call = {"id": raw.get("id"), "name": "code_interpreter", "arguments": raw.get("code")}
    parts = [_result(raw.get("id"), text) for text in texts]
    return Message("assistant", None, parts, (call,))


def _of_mcp(raw: Mapping[str, Any]) -> Message:
    output = raw.get("output")
    parts = [_result(raw.get("id"), output)] if output else []
    return Message("assistant", None, parts, (raw,))


_ITEMS: Mapping[str, Callable[[Mapping[str, Any]], Message]] = {
    "function_call": _of_call,
    "custom_tool_call": _of_call,
    "function_call_output": _of_output,
    "custom_tool_call_output": _of_output,
    "reasoning": _of_reasoning,
    "file_search_call": _of_file_search,
    "code_interpreter_call": _of_interpreter,
    "mcp_call": _of_mcp,
    "web_search_call": lambda _raw: Message("event"),
    "computer_call": lambda _raw: Message("event"),
    "computer_call_output": lambda _raw: Message("event"),
    "image_generation_call": lambda _raw: Message("event"),
    "item_reference": lambda _raw: Message("event"),
    "compaction": lambda _raw: Message("event"),
}
"""Items of OpenAI's responses API that are no messages, by type."""


def _result(call: Any, content: Any, name: Any = None) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, "name": name}


def _document(text: Any, title: Any) -> dict[str, Any]:
    return {"type": "document", "source": {"type": "text", "data": text}, "title": title}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text_of(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
