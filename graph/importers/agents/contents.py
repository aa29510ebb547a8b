"""The parts of a message: texts, calls of tools, their results, documents and thoughts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.traces import parts

_TEXTS = ("text", "input_text", "output_text", "summary_text", "refusal")
_THOUGHTS = (
    "thinking", "reasoning", "thought", "redacted_thinking", "redacted-reasoning",
    "reasoning_content", "reasoning_text",
)  # fmt: skip
_KNOWN = (*_TEXTS, *_THOUGHTS, "tool_use", "tool_result", "document")
_MEDIA = ("image", "input_image", "audio", "input_audio", "video", "file", "input_file")


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message.

    Attributes:
        kind: `text`, `thought`, `call`, `result`, `document` or `other`, which has no text.
        text: Its text.
        name: The tool, the document or the kind of what has no text.
        call: Id of the call that it is, or that it answers.
    """

    kind: str
    text: str = ""
    name: str | None = None
    call: str | None = None


def parts_of(content: Any, where: str, *, is_result: bool = False) -> Iterator[MessagePart]:
    """The parts of a message's content.

    Args:
        content: A text, a list of parts, or nothing.
        where: Place of the message.
        is_result: Whether it is what a tool returned, which may be any JSON.

    Raises:
        InputError: It is neither text nor parts nor nothing.
    """
    if content is None:
        return
    if isinstance(content, str):
        yield MessagePart("text", content)
    elif is_result and not _is_parts(content):
        yield MessagePart("text", _written(content))
    elif isinstance(content, list):
        for one in content:
            yield from _part(one, where)
    elif isinstance(content, dict):
        yield from _part(content, where)
    else:
        raise InputError(
            f"{where}: the content must be a text or a list of parts, not {type(content).__name__}."
        )


def _is_parts(content: Any) -> bool:
    """Return whether what a tool returned is made of parts, and not of data of its own."""
    listed = content if isinstance(content, list) else [content]
    return all(
        isinstance(one, str)
        or (isinstance(one, dict) and (_is_known(one.get("type")) or "functionResponse" in one))
        for one in listed
    )


def _is_known(kind: Any) -> bool:
    return kind in _KNOWN or (isinstance(kind, str) and kind.startswith(_MEDIA))


def call_of(raw: Any, where: str) -> MessagePart:
    """The call of a tool, as OpenAI, LangChain, AutoGen and the responses API record it.

    Raises:
        InputError: It names no tool.
    """
    if isinstance(raw, dict):
        function = raw["function"] if isinstance(raw.get("function"), dict) else raw
        name = function.get("name")
        if isinstance(name, str) and name:
            given = next(
                (function[key] for key in ("arguments", "args", "input") if key in function), None
            )
            return MessagePart(
                "call", _written(given), name, _id(raw.get("call_id") or raw.get("id"))
            )
    raise InputError(f"{where}: a tool call must be an object with the name of the tool.")


def _part(one: Any, where: str) -> Iterator[MessagePart]:
    if isinstance(one, str):
        yield MessagePart("text", one)
        return
    if not isinstance(one, dict):
        raise InputError(f"{where}: a part must be a text or an object, not {type(one).__name__}.")
    kind = one.get("type")
    if kind in _THOUGHTS or parts.is_thought(one, parts.plain(str(kind or ""))):
        yield MessagePart("thought", parts.thought_text(one))
    elif kind in _TEXTS or (kind is None and isinstance(one.get("text"), str)):
        text = one.get("text", one.get("refusal"))
        if isinstance(text, dict):  # the assistants API holds a value and its annotations
            text = text.get("value")
        if not isinstance(text, str):
            raise InputError(f"{where}: a part of the type {kind} must have a text.")
        yield MessagePart("text", text)
    elif kind == "tool_use":
        yield call_of(one, where)
    elif kind == "tool_result":
        yield from _results(one, where)
    elif isinstance(one.get("functionCall"), dict):
        yield call_of(one["functionCall"], where)
    elif isinstance(one.get("functionResponse"), dict):
        answer = one["functionResponse"]
        yield MessagePart("result", _written(answer.get("response")), _id(answer.get("name")))
    elif kind == "document":
        yield from _document(one, where)
    elif kind is None:
        yield MessagePart("text", _written(one))
    else:
        yield MessagePart("other", name=str(kind))


def _results(one: Mapping[str, Any], where: str) -> Iterator[MessagePart]:
    """The texts of a tool's result as one, and what it holds besides."""
    content = one.get("content")
    call, name = _id(one.get("tool_use_id")), _id(one.get("name"))
    texts = []
    for part in parts_of(content, where, is_result=True):
        if part.kind in ("text", "document"):
            texts.append(part.text)
        else:
            yield part
    yield MessagePart("result", "\n".join(texts), name, call)


def _document(one: Mapping[str, Any], where: str) -> Iterator[MessagePart]:
    source = one.get("source")
    source = source if isinstance(source, dict) else {}
    title = _id(one.get("title"))
    if source.get("type") == "text" and isinstance(source.get("data"), str):
        yield MessagePart("document", source["data"], title)
    elif source.get("type") == "content":
        texts = [part.text for part in parts_of(source.get("content"), where) if part.text]
        yield MessagePart("document", "\n".join(texts), title)
    else:
        yield MessagePart("other", name="document")


def _written(value: Any) -> str:
    """A value as text: a text is left unchanged, all else is JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
