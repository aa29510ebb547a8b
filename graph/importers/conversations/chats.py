"""Exports of ChatGPT and of Claude: `conversations.json` of the archive that they send.

A conversation is a tree: an answer that was asked for again stands beside the earlier one. The
branch that the person saw last is the conversation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.importers.conversations.exported import (
    Exported,
    call,
    inner,
    left_out,
    path_to,
    result,
    texts_of,
)

_MARKS = re.compile("\ue200[^\ue200\ue201]*\ue201")
"""Citations and other marks of ChatGPT's page in its answers."""
_WRITES = ("artifacts", "create_file", "str_replace")
"""Tools with which Claude writes a document beside the conversation."""
_CANVAS = "canmore."
"""How the tools begin with which ChatGPT writes a document beside the conversation."""
_INSTRUCTIONS = ("user_editable_context", "model_editable_context")
_ANSWERED = ("execution_output", "tether_browsing_display", "tether_quote", "system_error")
_OTHERS = ("user", "system", "tool")
"""Who speaks beside the assistant of ChatGPT."""
_OTHER_BRANCHES = (
    "Left out: {} of other branches of the conversation, such as answers that were asked for again."
)


def is_unanswered(value: Any) -> bool:
    """Return whether it is a conversation of an export in which the assistant wrote no message."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("chat_messages"), list):
        return all(inner({"": one}, "").get("sender") == "human" for one in value["chat_messages"])
    if not isinstance(value.get("mapping"), dict) or of_chatgpt(value) is None:
        return False
    said = [inner(one, "message") for one in value["mapping"].values()]
    return all(inner(one, "author").get("role") in _OTHERS for one in said if one)


def of_chatgpt(value: Any) -> Exported | None:
    """Return a conversation of ChatGPT's export."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        return None
    nodes = {key: one for key, one in value["mapping"].items() if isinstance(one, dict)}
    if not value["mapping"] and "current_node" in value:  # opened, and nothing was said
        return Exported([], _about_chatgpt(value), is_chat=True)
    if not any("message" in one and "children" in one for one in nodes.values()):
        return None
    counts: Counter[str] = Counter()
    last = value.get("current_node")
    if not isinstance(last, str) or last not in nodes:
        leaves = [key for key, one in nodes.items() if not one.get("children")]
        last = leaves[-1] if leaves else next(reversed(nodes))
    path = path_to(last, {key: one.get("parent") for key, one in nodes.items()})
    messages = []
    for name in path:
        said = nodes[name].get("message")
        if isinstance(said, dict):
            messages += _of_chatgpt(said, counts)
    besides = sum(_has_text(one.get("message")) for key, one in nodes.items() if key not in path)
    remarks = left_out(+counts)
    if besides:
        remarks.append(_OTHER_BRANCHES.format(counted(besides, "message", "messages")))
    return Exported(messages, _about_chatgpt(value), remarks, is_chat=True)


def _about_chatgpt(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "conversation_id": value.get("conversation_id") or value.get("id"),
        "title": value.get("title"),
    }


def _of_chatgpt(said: Mapping[str, Any], counts: Counter[str]) -> list[dict[str, Any]]:
    author, content = inner(said, "author"), inner(said, "content")
    about = inner(said, "metadata")
    role, kind = author.get("role"), content.get("content_type")
    base = {"id": said.get("id"), "model": about.get("model_slug")}
    if kind == "thoughts":
        thoughts = content.get("thoughts")
        texts = [
            one.get("content") or one.get("summary")
            for one in (thoughts if isinstance(thoughts, list) else [])
            if isinstance(one, dict)
        ]
        return [{**base, "role": "assistant", "content": None, "thinking": texts_of(texts)}]
    parts = _parts_of_chatgpt(content, counts)
    text = texts_of([one for one in parts if one.get("type") == "text"])
    if kind in _INSTRUCTIONS or role == "system":
        counts["instructions and memory"] += bool(text.strip())
        return []
    if kind == "reasoning_recap":
        counts["recaps of thoughts"] += bool(text.strip())
        return []
    counts["summaries of what a tool returned"] += isinstance(content.get("summary"), str)
    found = [result(one, title) for one, title in _found_by_chatgpt(about)]
    if not text.strip() and len(parts) == 0:
        return found
    to, name = said.get("recipient"), author.get("name")
    if role == "tool" and isinstance(name, str) and name.startswith(_CANVAS):
        counts["receipts for documents that the assistant wrote"] += 1
        return found
    if role == "tool" or kind in _ANSWERED:
        return [result(text, name)]
    if isinstance(to, str) and to.startswith(_CANVAS) and (written := _written_by_chatgpt(text)):
        return [*found, {**base, "role": "assistant", "content": written}]
    if role == "assistant" and (kind == "code" or to not in (None, "all")):
        return [{**base, "role": "assistant", "content": None, "tool_calls": [call(to, text)]}]
    return [*found, {**base, "role": role if isinstance(role, str) else "user", "content": parts}]


def _written_by_chatgpt(given: str) -> str:
    """Return the text of a document, or of its changes, that ChatGPT wrote beside the conversation.

    Args:
        given: What the tool was called with, as JSON.
    """
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return ""
    updates = value.get("updates") if isinstance(value, dict) else None
    listed = [value, *(updates if isinstance(updates, list) else ())]
    texts = (
        one.get(key)
        for one in listed
        if isinstance(one, dict)
        for key in ("content", "replacement")
    )
    return texts_of([one for one in texts if isinstance(one, str)])


def _found_by_chatgpt(about: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield what pages said that an answer refers to, and their titles."""
    listed = about.get("content_references")
    for one in listed if isinstance(listed, list) else ():
        inside = one.get("items") if isinstance(one, dict) else None
        for page in (one, *(inside if isinstance(inside, list) else ())):
            snippet = page.get("snippet") if isinstance(page, dict) else None
            if isinstance(snippet, str) and snippet.strip():
                title = page.get("title")
                yield snippet, title if isinstance(title, str) and title else None


def _parts_of_chatgpt(content: Mapping[str, Any], counts: Counter[str]) -> list[dict[str, Any]]:
    listed = content.get("parts")
    if not isinstance(listed, list):
        names = ("text", "result", "content", "user_profile", "model_set_context")
        listed = [content[name] for name in names if isinstance(content.get(name), str)]
    parts: list[dict[str, Any]] = []
    for one in listed:
        text = one if isinstance(one, str) else None
        if isinstance(one, dict):
            text = one.get("text") if isinstance(one.get("text"), str) else None
            if text is None:
                parts.append({"type": str(one.get("content_type") or "file")})
                continue
        if text is None:
            counts["parts of no known kind"] += one is not None
        elif text := _MARKS.sub("", text):
            parts.append({"type": "text", "text": text})
    return parts


def _has_text(said: Any) -> bool:
    content = said.get("content") if isinstance(said, dict) else None
    return isinstance(content, dict) and bool(
        texts_of(content.get("parts") or content.get("text") or "").strip()
    )


def of_claude(value: Any) -> Exported | None:
    """Return a conversation of Claude's export."""
    if not isinstance(value, dict) or not isinstance(value.get("chat_messages"), list):
        return None
    every = [one for one in value["chat_messages"] if isinstance(one, dict)]
    counts: Counter[str] = Counter()
    counts["entries of no known kind"] = len(value["chat_messages"]) - len(every)
    path, besides = _branch(every, value.get("current_leaf_message_uuid"))
    messages = [message for one in path for message in _of_claude(one, counts)]
    remarks = left_out(+counts)
    if besides:
        remarks.append(_OTHER_BRANCHES.format(counted(besides, "message", "messages")))
    if isinstance(value.get("summary"), str) and value["summary"].strip():
        remarks += left_out(Counter({"summary of the conversation": 1}))
    about = {"conversation_id": value.get("uuid"), "title": value.get("name")}
    return Exported(messages, about, remarks, is_chat=True)


def _branch(every: list[dict[str, Any]], last: Any) -> tuple[list[dict[str, Any]], int]:
    """Return the messages of the branch that was seen last, and how many others there are."""
    by_id = {one["uuid"]: one for one in every if isinstance(one.get("uuid"), str)}
    above = {name: one.get("parent_message_uuid") for name, one in by_id.items()}
    parents = [one for one in above.values() if isinstance(one, str)]
    if len(by_id) < len(every) or len(parents) == len(set(parents)):
        return every, 0
    is_known = isinstance(last, str) and last in by_id
    path = [by_id[name] for name in path_to(last if is_known else [*by_id][-1], above)]
    return path, len(every) - len(path)


def _of_claude(said: Mapping[str, Any], counts: Counter[str]) -> list[dict[str, Any]]:
    role = "user" if said.get("sender") == "human" else "assistant"
    content = said.get("content")
    parts: list[Any] = []
    written: list[Any] = []
    for one in content if isinstance(content, list) else ():
        is_call = isinstance(one, dict) and one.get("type") == "tool_use"
        if is_call and (texts := _written_by_claude(one)):
            written.append(one.get("id") or one.get("name"))
            parts += [{"type": "text", "text": text} for text in texts]
        elif is_call:
            counts["calls of tools"] += 1
            parts.append(one)
        elif isinstance(one, dict) and _is_receipt(one, written):
            counts["receipts for documents that the assistant wrote"] += 1
        elif isinstance(one, dict) and one.get("type") == "tool_result":
            parts.append({**one, "content": _found_by_claude(one.get("content"))})
        elif isinstance(one, dict) and one.get("type") in ("token_budget", "flag"):
            counts[f"parts of the type {one['type']}"] += 1
        elif isinstance(one, dict) and one.get("type") == "voice_note":
            parts.append({"type": "text", "text": str(one.get("text") or "")})
        else:
            parts.append(one)
    is_there = any(isinstance(one, dict) and one.get("text") for one in parts)
    if not is_there and isinstance(said.get("text"), str) and said["text"].strip() and not parts:
        parts.append({"type": "text", "text": said["text"]})
    attached = said.get("attachments")
    for one in attached if isinstance(attached, list) else ():
        if isinstance(one, dict) and isinstance(one.get("extracted_content"), str):
            source = {"type": "text", "data": one["extracted_content"]}
            parts.append({"type": "document", "title": one.get("file_name"), "source": source})
        else:
            parts.append({"type": "file"})
    files = said.get("files")
    parts += [{"type": "file"} for _ in (files if isinstance(files, list) else ())]
    return [{"id": said.get("uuid"), "role": role, "content": parts}] if parts else []


def _is_receipt(one: Mapping[str, Any], written: list[Any]) -> bool:
    """Return whether a part answers a call that wrote a document."""
    name = one.get("tool_use_id") or one.get("name")
    return one.get("type") == "tool_result" and name is not None and name in written


def _written_by_claude(one: Mapping[str, Any]) -> list[str]:
    """Return the text of a document that Claude wrote beside the conversation."""
    if one.get("name") not in _WRITES:
        return []
    given = inner(one, "input")
    return [
        given[key]
        for key in ("content", "file_text", "new_str")
        if isinstance(given.get(key), str) and given[key].strip()
    ]


def _found_by_claude(content: Any) -> Any:
    """Return what a tool returned with the pages of a search as texts."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", "text": one["text"]}
        if isinstance(one, dict) and isinstance(one.get("text"), str)
        else one
        for one in content
    ]
