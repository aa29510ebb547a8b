"""Answers that were recorded as the chunks in which they came: one message again.

Every vendor writes its chunks in a form of its own. A list is a stream only where all of it are
chunks; a list of texts only where words or sentences go on from one to the next.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from veritrail_graph.graph.importers.traces.parts import ENDS, kind_of, plain, thought_text

_ENDS = ENDS + ";\"')]\u201d\u2019\u00bb"
_EVENTS = (
    "messagestart", "messagedelta", "messagestop", "messageend", "contentblockstart",
    "contentblockstop", "contentstart", "contentend", "ping", "start", "finish",
    "stepstart", "stepfinish", "startstep", "finishstep", "textstart", "textend",
    "reasoningstart", "reasoningend", "toolinputstart", "toolinputdelta", "toolinputend",
    "toolcallstart", "toolcallend", "toolplandelta", "done", "error", "raw", "source",
    "partstart", "partend", "finalresult", "metadata",
)  # fmt: skip
"""Kinds of events of streams that hold no text of their own."""
_BEDROCK = (
    "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop",
    "metadata", "message_start", "content_block_start", "content_block_delta",
)  # fmt: skip


@dataclass
class _Joined:
    """The content of the chunks so far.

    Attributes:
        texts: Parts of the answer.
        thoughts: Parts of what the model thought.
        calls: Calls of tools by their place or id.
        whole: The message that a last event repeats as a whole.
    """

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: dict[Any, dict[str, Any]] = field(default_factory=dict)
    whole: Any = None

    def call(self, place: Any, name: Any = None, given: Any = None, call_id: Any = None) -> None:
        """Add to the call of a tool."""
        if place is None:
            place = next(reversed(self.calls), 0)
        known = self.calls.setdefault(place, {"name": "", "arguments": "", "id": None})
        known["id"] = known["id"] or call_id
        if isinstance(name, str):
            known["name"] += name
        if isinstance(given, str):
            known["arguments"] += given
        elif given:
            known["arguments"] = given

    def content(self, content: Any, place: Any = 0) -> None:
        """Add a content that is a text or a list of parts."""
        if isinstance(content, str):
            self.texts.append(content)
            return
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                self.texts.append(part)
            elif isinstance(part, dict):
                self.part(part, place)

    def part(self, part: Mapping[str, Any], place: Any) -> None:
        """Add a part of a content."""
        kind = kind_of(part)
        if kind.startswith(("thinking", "reasoning", "redacted")) or part.get("thought") is True:
            self.thoughts.append(thought_text(part))
            return
        for name, one in part.items():
            bare = plain(name)
            if bare == "text" and isinstance(one, str):
                self.texts.append(one)
            elif bare in ("reasoningcontent", "thinking"):
                self.thoughts.append(thought_text(one))
            elif bare in ("partialjson",) and isinstance(one, str):
                self.call(place, None, one)
            elif bare in ("tooluse", "functioncall") and isinstance(one, dict):
                known = one.get("toolUseId") or one.get("id")
                given = one.get("input", one.get("args"))
                self.call(place if "input" in one and "name" not in one else len(self.calls),
                          one.get("name"), given, known)  # fmt: skip
        if kind in ("tooluse", "toolcall", "functioncall"):
            self.call(place, part.get("name"), part.get("input") or None, part.get("id"))


def joined(chunks: Sequence[Any]) -> Any:
    """The message that the chunks of a stream make up; None: they are none."""
    if not chunks or not all(isinstance(one, dict) for one in chunks):
        return None
    found = _Joined()
    for one in chunks:
        if not _add(one, found, len(chunks)):
            return None
    if found.whole is not None:
        return found.whole
    if not (found.texts or found.thoughts or found.calls):
        return None
    return {
        "role": "assistant",
        "content": "".join(found.texts),
        "reasoning_content": "".join(found.thoughts),
        "tool_calls": list(found.calls.values()),
    }


def _add(chunk: Mapping[str, Any], to: _Joined, count: int) -> bool:
    """Add a chunk; whether it is one."""
    inner = chunk.get("kwargs")
    if "lc" in chunk and isinstance(inner, dict):
        names = chunk.get("id")
        chunk = {"type": names[-1] if isinstance(names, list) and names else "", **inner}
        if isinstance(names, list) and names:
            chunk = {**chunk, "type": str(names[-1])}
    kind = kind_of(chunk)
    if kind in ("aimessagechunk", "chatgenerationchunk", "generationchunk"):
        return _of_langchain(chunk, kind, to)
    choices = chunk.get("choices")
    if isinstance(choices, list):
        return _of_openai(chunk, choices, to, count)
    candidates = chunk.get("candidates")
    if isinstance(candidates, list):
        if count > 1:
            for one in candidates[:1]:
                content = one.get("content") if isinstance(one, dict) else None
                if isinstance(content, dict):
                    to.content(content.get("parts") or [])
        return count > 1
    if isinstance(chunk.get("done"), bool) and ("message" in chunk or "response" in chunk):
        return _of_ollama(chunk, to)
    if any(name in chunk for name in _BEDROCK) and len(chunk) == 1:
        return _of_bedrock(chunk, to)
    return bool(kind) and "role" not in chunk and _of_events(chunk, kind, to)


def _of_langchain(chunk: Mapping[str, Any], kind: str, to: _Joined) -> bool:
    message = chunk.get("message")
    if kind != "aimessagechunk" and isinstance(message, dict):
        return _add({"type": "AIMessageChunk", **message}, to, 1)
    more = chunk.get("additional_kwargs")
    if isinstance(more, dict):
        to.thoughts.append(thought_text(more.get("reasoning_content")))
    to.content(chunk.get("content", chunk.get("text")) or "")
    calls = chunk.get("tool_call_chunks")
    for one in calls if isinstance(calls, list) else ():
        if isinstance(one, dict):
            to.call(one.get("index"), one.get("name"), one.get("args"), one.get("id"))
    if not calls and isinstance(chunk.get("tool_calls"), list):
        for one in chunk["tool_calls"]:
            if isinstance(one, dict):
                to.call(one.get("id"), one.get("name"), one.get("args"), one.get("id"))
    return True


def _of_openai(chunk: Mapping[str, Any], choices: Sequence[Any], to: _Joined, count: int) -> bool:
    is_chunk = chunk.get("object") == "chat.completion.chunk"
    for one in choices[:1]:
        if not isinstance(one, dict):
            return False
        delta = one.get("delta")
        if isinstance(delta, dict):
            is_chunk = True
            to.content(delta.get("content") or "")
            for name in ("reasoning_content", "reasoning", "thinking"):
                if delta.get(name):
                    to.thoughts.append(thought_text(delta[name]))
                    break
            for call in delta.get("tool_calls") or ():
                function = call.get("function") if isinstance(call, dict) else None
                if isinstance(function, dict):
                    to.call(call.get("index"), function.get("name"), function.get("arguments"),
                            call.get("id"))  # fmt: skip
        elif count > 1 and "message" not in one and isinstance(one.get("text"), str):
            is_chunk = True
            to.texts.append(one["text"])
    return is_chunk


def _of_ollama(chunk: Mapping[str, Any], to: _Joined) -> bool:
    message = chunk.get("message")
    if isinstance(message, dict):
        to.content(message.get("content") or "")
        to.thoughts.append(thought_text(message.get("thinking")))
        for one in message.get("tool_calls") or ():
            function = one.get("function") if isinstance(one, dict) else None
            if isinstance(function, dict):
                to.call(len(to.calls), function.get("name"), function.get("arguments"))
    elif isinstance(chunk.get("response"), str):
        to.texts.append(chunk["response"])
        to.thoughts.append(thought_text(chunk.get("thinking")))
    return True


def _of_bedrock(chunk: Mapping[str, Any], to: _Joined) -> bool:
    ((name, inner),) = chunk.items()
    if not isinstance(inner, dict):
        return False
    place = inner.get("contentBlockIndex", 0)
    held = inner.get("delta") if "elta" in name else inner.get("start")
    if isinstance(held, dict):
        to.part(held, place)
    return True


def _of_events(chunk: Mapping[str, Any], kind: str, to: _Joined) -> bool:
    """Events that say their type: Anthropic, OpenAI's responses, the AI SDK, Cohere, Pydantic."""
    place = chunk.get("index", chunk.get("output_index", chunk.get("id", 0)))
    delta = next(
        (chunk[name] for name in ("delta", "textDelta", "text") if chunk.get(name) is not None),
        None,
    )
    if kind == "responsecompleted" and isinstance(chunk.get("response"), dict):
        to.whole = chunk["response"].get("output")
        return True
    if kind.endswith("delta") or kind in ("contentblockdelta", "reasoning", "text"):
        if kind in ("text", "reasoning") and "textDelta" not in chunk:
            return False  # a part of a message
        if isinstance(delta, str):
            if "reasoning" in kind or "thinking" in kind:
                to.thoughts.append(delta)
            elif "arguments" in kind or "toolinput" in kind:
                to.call(place, None, delta)
            elif "text" in kind or "content" in kind:
                to.texts.append(delta)
        elif isinstance(delta, dict):
            message = delta.get("message")
            held = message.get("content") if isinstance(message, dict) else None
            content = delta.get("content_delta")
            if isinstance(held, dict):
                to.part(held, place)
            elif isinstance(content, str):
                thinks = kind_of(delta).startswith("thinking")
                (to.thoughts if thinks else to.texts).append(content)
            else:
                to.part(delta, place)
        return True
    block = chunk.get("content_block")
    if kind == "contentblockstart" and isinstance(block, dict):
        if kind_of(block) in ("tooluse", "servertooluse"):
            to.call(place, block.get("name"), None, block.get("id"))
        elif isinstance(block.get("text"), str):
            to.texts.append(block["text"])
        return True
    item = chunk.get("item")
    if kind == "responseoutputitemadded" and isinstance(item, dict):
        if kind_of(item) == "functioncall":
            to.call(place, item.get("name"), None, item.get("call_id"))
        return True
    if kind == "toolcall" and "toolName" in chunk:
        given = chunk.get("input", chunk.get("args"))
        to.call(chunk.get("toolCallId"), chunk["toolName"], given, chunk.get("toolCallId"))
        return True
    return kind.startswith("response") or kind in _EVENTS


def joined_texts(chunks: Sequence[Any], *, by_model: bool) -> str | None:
    """The text that a list of texts makes up, as a stream gave it; None: each is one of its own.

    Args:
        chunks: The list.
        by_model: Whether a model wrote it; else sentences that follow one another stay apart, as
            documents do.
    """
    if len(chunks) < 2 or not all(isinstance(one, str) for one in chunks):
        return None
    if any(len(one) > 4_000 for one in chunks):
        return None
    within = between = 0
    for left, right in pairwise(chunks):
        before, behind = left.rstrip(" "), right.lstrip(" ")
        if not before or not behind:
            within += by_model
            continue
        is_open = before == left and behind == right
        if is_open and not (_is_unspaced(before[-1]) and _is_unspaced(behind[0])):
            continue
        between += 1
        within += before[-1] not in _ENDS and before[-1] != "\n"
    wanted = 1 if by_model else max(1, (len(chunks) - 1) // 3)
    goes_on = within >= wanted or (by_model and between == len(chunks) - 1 and _spaced(chunks))
    return "".join(chunks) if goes_on else None


def _spaced(chunks: Sequence[str]) -> bool:
    """Return whether a blank stands between every two of some texts, as within a paragraph."""
    return all(left.endswith(" ") or right.startswith(" ") for left, right in pairwise(chunks))


def _is_unspaced(sign: str) -> bool:
    """Return whether a sign is of a writing without blanks between words."""
    if sign.isascii():
        return False
    name = unicodedata.name(sign, "")
    return name.startswith(("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"))
