"""The texts in what a call was given or gave: messages, documents, fields, rows.

Programs record the same text in many forms: as a message of a chat, as a field of an object, as
JSON inside a text. What is taken out here are the innermost texts, with what is known of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from veritrail_graph.graph.importers.printed import NO_LITERAL, literal
from veritrail_graph.graph.importers.traces import parts, streams
from veritrail_graph.graph.importers.traces.values import from_dotted
from veritrail_graph.graph.model.canonical import canonical_text

_ROLES = {
    "human": "user", "user": "user", "ai": "assistant", "assistant": "assistant",
    "model": "assistant", "aimessage": "assistant", "humanmessage": "user", "system": "system",
    "developer": "system", "systemmessage": "system", "tool": "tool", "function": "tool",
    "toolmessage": "tool", "toolresult": "tool", "aimessagechunk": "assistant",
    "chatbot": "assistant", "userprompt": "user", "retryprompt": "user",
    "systemprompt": "system", "toolcall": "assistant", "toolresponse": "tool",
}  # fmt: skip
_PREFIXES = {"Human: ": "user", "AI: ": "assistant", "System: ": "system", "Tool: ": "tool"}
"""How LangChain prints messages of a chat."""
_TEXT_KEYS = ("page_content", "document.content", "content", "text", "document", "passage")
_LONE_TEXT = ("content", "text")
"""Fields that hold any text: alone, without what else is known of a document, they name none."""
_ABOUT_KEYS = ("metadata", "score", "document.score", "document.metadata", "distance", "source")
NAMING = frozenset(map(parts.plain, (
    "id", "ids", "uuid", "type", "role", "name", "model", "object", "status", "finish_reason",
    "index", "created", "created_at", "additional_kwargs", "response_metadata", "usage",
    "usage_metadata", "token_usage", "llm_output", "lc", "system_fingerprint", "mime_type",
    "logprobs", "invalid_tool_calls", "response_id", "model_name", "tool_call_id", "call_id",
    "span_id", "trace_id", "run_id", "thread_id", "checkpoint_ns", "refusal", "stop_reason",
    "stop_sequence", "service_tier", "temperature", "top_p", "max_tokens", "tools",
    "tool_choice", "parallel_tool_calls", "reasoning", "instructions", "metadata",
    "generation_info", "artifact", "url", "model_version", "avg_logprobs", "token_count",
    "total_tokens", "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens",
    "total_token_count", "prompt_token_count", "candidates_token_count", "safety_ratings",
    "prompt_feedback", "grounding_metadata", "citation_metadata", "create_time", "latency_ms",
    "total_duration", "load_duration", "eval_count", "eval_duration", "prompt_eval_count",
    "prompt_eval_duration", "done_reason", "stop", "model_id", "provider_metadata", "timestamp",
    "message_id", "tool_use_id", "part_kind", "provider_name", "provider_details",
    "provider_response_id",
)))  # fmt: skip
"""Fields that name or count things, as `parts.plain` writes them."""
QUESTION_KEYS = ("question", "query", "q", "input", "prompt", "user_input", "messages", "request")
DOCUMENT_KEYS = (
    "docs", "documents", "context", "contexts", "chunks", "passages", "results", "sources", "hits",
    "retrieved", "retrieved_docs", "retrieved_documents", "retrieved_contexts", "source_documents",
)  # fmt: skip
"""Fields in which programs keep what they looked up."""
DOCUMENTS = frozenset(map(parts.plain, DOCUMENT_KEYS))
_RESULT_KEYS = ("response", "result", "content", "output", "value", "results", "outputs")
WITHIN_CALLS = ("output", "outputs", "results", "result")
"""Where the call of a tool that the vendor runs holds what it returned."""
"""Where the part of a message that answers a tool call holds the answer."""
_CALL_IDS = ("call_id", "toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "id")
_ANSWER_IDS = ("tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "call_id", "id")
_PLAIN_KINDS = frozenset(("json", "document", "resource", "message", *_ROLES))
"""Kinds of parts of a model's message that are read by their fields."""
_SUMMARY = "summary"
"""The key of what a model wrote in place of earlier messages."""
_DEEPEST = 60
_MOST_UNFOLDED = 20_000_000


@dataclass(frozen=True, slots=True)
class InnerText:
    """An innermost text.

    Attributes:
        text: The text.
        role: Who said it, of a message: user, assistant, system, tool; `call` for a tool call,
            `document` for a document, `thought` for what a model thought before it answered,
            `media` for the name of what has no text, `unknown` for the kind of a part that is not
            known; None where that is not known.
        key: The field that it stood in; None: in none. Of all that stands below a field of
            documents it is that field.
        link: The id of the tool call that it is or answers; None: none.
        about: What else is known of a document.
    """

    text: str
    role: str | None = None
    key: str | None = None
    link: str | None = None
    about: Mapping[str, Any] | None = None


def is_said(piece: InnerText) -> bool:
    """Return whether a piece is a text that counts: no thought, no picture, nothing unknown."""
    return piece.role not in ("thought", "media", "unknown")


def pieces(value: Any) -> Iterator[InnerText]:
    """The texts of a value, in their order; empty ones and those that name things are left out.

    So are thoughts of models, and what has no text, such as pictures.
    """
    return filter(is_said, everything(value))


def everything(value: Any, key: str | None = None, depth: int = 0) -> Iterator[InnerText]:
    """The texts of a value as `pieces` finds them, with thoughts, and names of what has no text."""
    if depth > _DEEPEST or value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        yield from _of_text(value, key, depth)
    elif isinstance(value, (int, float)):
        if key is not None and parts.plain(key) not in NAMING:
            yield InnerText(str(value), None, key)
    elif isinstance(value, list):
        role = _ROLES.get(value[0]) if _is_pair(value) else None
        if role is not None:  # how LangChain's users write a message
            yield from _of_message({"content": value[1]}, role, key, depth)
            return
        whole = streams.joined(value)
        for one in value if whole is None else [whole]:
            yield from everything(one, key, depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(value, key, depth)


def _is_pair(value: list[Any]) -> bool:
    return len(value) == 2 and all(isinstance(one, str) for one in value)


def _of_text(text: str, key: str | None, depth: int) -> Iterator[InnerText]:
    bare = text.strip()
    if not bare or parts.is_represented(bare) or parts.is_id(bare):
        return
    if parts.is_opaque(bare):
        yield _media("data", bare)
        return
    unfolded = unfold(bare)
    if isinstance(unfolded, str):  # a text that a program wrote as JSON
        yield from _of_text(unfolded, key, depth + 1) if depth < _DEEPEST else ()
        return
    if unfolded is not None:
        yield from everything(unfolded, key, depth + 1)
        return
    for one in parts.printed_texts(bare):
        yield from _of_text(one, key, depth + 1) if depth < _DEEPEST else ()
    if parts.printed_texts(bare):
        return
    for prefix, role in _PREFIXES.items():
        if bare.startswith(prefix):
            yield InnerText(bare.removeprefix(prefix), role, key)
            return
    yield InnerText(text, None, key)


def _media(name: str, payload: Any) -> InnerText:
    """Return what has no text; the link tells it from others of its kind."""
    return InnerText(name, "media", None, str(hash(str(payload)[:10_000])))


def unfold(text: str) -> Any:
    """Return what a text holds as JSON or as Python prints it: an object, a list, a text.

    None: it holds none of these.
    """
    bare = text.strip()
    if bare[:1] not in ("{", "[", '"') or len(bare) > _MOST_UNFOLDED:
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        if bare[:2] not in ("{'", "['", "[{"):
            return None
        try:
            value = literal(bare)
        except NO_LITERAL:
            return None
    if isinstance(value, str):
        return value if bare[:1] == '"' and value != text else None
    return value if isinstance(value, (dict, list)) else None


def _of_object(value: Mapping[str, Any], key: str | None, depth: int) -> Iterator[InnerText]:
    constructor = value.get("kwargs")
    if value.get("lc") is not None and isinstance(constructor, dict):  # LangChain's own form
        names = value.get("id")
        last = str(names[-1]).lower() if isinstance(names, list) and names else ""
        role = _ROLES.get(last)
        yield from _of_object({"type": role, **constructor}, key, depth + 1)
        return
    within = next((value[name] for name in _CALLBACK if _is_of_callback(value, name)), None)
    if within is not None:
        yield from everything(within, key, depth + 1)
        return
    if isinstance(value.get("message"), dict) and ("text" in value or "finish_reason" in value):
        message = value["message"]  # of a generation, of a choice
        if isinstance(value.get("text"), str) and not {"role", "type", "kwargs"} & set(message):
            message = {"role": "assistant", "content": value["text"], **message}
        yield from everything(message, key, depth + 1)
        return
    kind = parts.kind_of(value)
    if parts.is_thought(value, kind):
        thought = parts.thought_text(value)
        if thought.strip():
            yield InnerText(thought, "thought", key)
        return
    name = parts.media(value, kind)
    if name is not None:
        yield _media(name, value)
        return
    found = _of_part(value, kind, key, depth)
    if found is not None:
        yield from found
        return
    role = role_of(value)
    if role is not None and any(name in value for name in _CONTENTS):
        yield from _of_message(value, role, key, depth)
        return
    text = next((name for name in _TEXT_KEYS if isinstance(value.get(name), str)), None)
    about = any(name in value for name in _ABOUT_KEYS)
    if text is not None and (about or (len(value) == 1 and text not in _LONE_TEXT)):
        more = {name: one for name, one in value.items() if name != text}
        yield InnerText(value[text], "document", key, None, more)
        return
    for name, one in value.items():
        if parts.is_thought_field(name):
            thought = "" if parts.is_seal(name) else parts.thought_text(one)
            if thought.strip():
                yield InnerText(thought, "thought", name)
        elif parts.plain(name) not in NAMING:
            is_below = key is not None and parts.plain(key) in DOCUMENTS
            yield from everything(one, key if is_below else name, depth + 1)


def role_of(message: Mapping[str, Any]) -> str | None:
    """Return who said a message: user, assistant, system or tool; None where it does not say."""
    said_by = str(message.get("role") or "")
    if not said_by and isinstance(message.get("parts"), list):  # of Pydantic AI
        said_by = {"request": "user", "response": "assistant"}.get(str(message.get("kind")), "")
    return _ROLES.get(parts.plain(said_by) or parts.kind_of(message))


_CALLBACK = ("output", "outputs", "inputs")
"""What a callback of LangChain was told, beside `kwargs` with its own settings."""


def _is_of_callback(value: Mapping[str, Any], name: str) -> bool:
    more = value.get("kwargs")
    if not isinstance(more, dict) or value.get(name) in (None, "", {}, []):
        return False
    return set(value) <= {name, "kwargs", "input_str", "tags", "metadata"} and (
        "tags" in value or "tags" in more
    )


_CONTENTS = ("content", "tool_calls", "parts", "function_call", "text", *(
    "reasoning_content", "reasoning", "thinking",
))  # fmt: skip
"""Fields of which a message has one."""


def _of_part(
    value: Mapping[str, Any], kind: str, key: str | None, depth: int
) -> Iterator[InnerText] | None:
    """The texts of a part of a message that says its kind; None: it is none."""
    if "role" not in value and len(value) <= 3:  # Gemini, Bedrock: the kind is the field
        for name, inner in value.items():
            bare = parts.plain(name)
            if bare in parts.WRAPPED and isinstance(inner, dict):
                return _of_part({"type": bare, **inner, "kind_of": bare}, bare, key, depth)
    if parts.is_result(kind):
        return _result(value, kind, key, depth)
    if parts.is_call(kind):
        result = answer_within(value)
        answered = () if result is None else _result(result, "toolresult", key, depth + 1)
        return chain([tool_call(value)], answered)
    if parts.is_summary(kind):
        held = value.get("content", value.get("summary", value.get("text")))
        texts = "\n".join(one.text for one in everything(held, key, depth + 1) if is_said(one))
        return iter([InnerText(texts, "assistant", _SUMMARY)] if texts.strip() else [])
    if parts.is_text(kind):
        names = ("text", "content", "value", "refusal")
        text = next((value[one] for one in names if value.get(one)), None)
        if isinstance(text, dict):  # of the assistants API: a value and its annotations
            text = text.get("value")
        if isinstance(text, str):
            return iter([InnerText(text, None, key or "text")] if text.strip() else [])
    if kind == "json" and "value" in value:
        return iter([InnerText(canonical_text(value["value"]), None, key)])
    source = value.get("source")
    if kind == "document" and isinstance(source, dict):
        held = source.get("data", source.get("content", source.get("text")))
        texts = "\n".join(one.text for one in everything(held, key, depth + 1) if is_said(one))
        about = {"title": value.get("title")}
        return iter([InnerText(texts, "document", key, None, about)] if texts.strip() else [])
    resource = value.get("resource")
    if kind == "resource" and isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return iter([InnerText(resource["text"], None, key)])
    return None


def _result(
    value: Mapping[str, Any], kind: str, key: str | None, depth: int
) -> Iterator[InnerText]:
    """Yield what a tool returned, as one text."""
    names = ("output", *_RESULT_KEYS) if kind.endswith("output") else _RESULT_KEYS
    own = (one for name, one in value.items() if parts.plain(name) == kind)
    result = next(own, next((value[one] for one in names if value.get(one) is not None), None))
    link = answered_id(value) or _id(value.get("name") or value.get("toolName"))
    yield from _with_role(result, "tool", link, key, depth)


def _of_message(
    value: Mapping[str, Any], role: str, key: str | None, depth: int
) -> Iterator[InnerText]:
    more = value.get("additional_kwargs")
    more = more if isinstance(more, dict) else {}
    for holder in (value, more) if role == "assistant" else ():
        for name, one in holder.items():
            if parts.is_thought_field(name) and not isinstance(one, bool):
                thought = "" if parts.is_seal(name) else parts.thought_text(one)
                if thought.strip():
                    yield InnerText(thought, "thought", name)
                break
    names = ("content", "parts", "text", "refusal")
    content = next((value[one] for one in names if value.get(one)), None)
    link = _id(value.get("tool_call_id")) or (_id(value.get("name")) if role == "tool" else None)
    if role == "tool" and _is_definition(content):
        return
    yield from _with_role(content, role, link, key, depth)
    calls = value.get("tool_calls") or more.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield tool_call(call)
    if isinstance(value.get("function_call"), dict):
        yield tool_call(value["function_call"])


def _with_role(
    content: Any, role: str, link: str | None, key: str | None, depth: int
) -> Iterator[InnerText]:
    """The texts of a message: one where its content is a text, whatever that looks like."""
    unfolded = unfold(content) if isinstance(content, str) else None
    if is_blocks(unfolded):  # a content that a program wrote as JSON
        content = unfolded
    if isinstance(content, str):
        if role == "assistant":
            content, thought = parts.without_thought(content)
            if thought:
                yield InnerText(thought, "thought", key)
        elif role == "tool":
            content = tool_text(content)
        if parts.is_opaque(content):
            yield _media("data", content)
        elif content.strip():
            yield InnerText(content, role, key, link)
        return
    if role == "tool" and not _holds_results(content):
        text, without_text = tool_result(content)
        yield from without_text
        if text.strip():
            yield InnerText(text, role, key, link)
        return
    if isinstance(content, list) and all(isinstance(one, str) for one in content):
        content = ["".join(content)] if role == "assistant" else content
    said: list[InnerText] = []
    others: list[InnerText] = []
    if role == "assistant":
        content, unknown = _without_unknown(content)
        yield from unknown
    for one in everything(content, key, depth + 1):
        if one.key == _SUMMARY and one.role == "assistant":
            yield one
            continue
        is_own = one.role in ("call", "thought") and role == "assistant"
        if is_own or one.role in ("media", "tool"):
            others.append(one)
        elif one.role not in ("call", "thought"):
            said_by = one.role if one.role == "system" else role
            said.append(InnerText(one.text, said_by, one.key, link or one.link))
    if role == "assistant" and len(said) > 1:  # a model's message is one text
        said = [InnerText(_joined([one.text for one in said]), role, key, link)]
    yield from (one for one in others if one.role == "thought")
    for one in said:
        text, thought = parts.without_thought(one.text) if role == "assistant" else (one.text, "")
        if thought:
            yield InnerText(thought, "thought", key)
        if text.strip():
            yield InnerText(text, role, one.key, one.link)
    yield from (one for one in others if one.role != "thought")


def _without_unknown(content: Any) -> tuple[Any, list[InnerText]]:
    """A model's content without the parts of an unknown kind that hold text, and their names.

    Nothing tells whether a model wrote it: it is no part of the answer.
    """
    if not isinstance(content, list):
        return content, []
    unknown = [one for one in content if isinstance(one, dict) and _is_unknown(one)]
    kept = [one for one in content if not any(one is other for other in unknown)]
    kinds = (next(str(one[name]) for name in parts.KIND_KEYS if name in one) for one in unknown)
    return kept, [InnerText(kind[:60], "unknown") for kind in kinds]


def _is_unknown(part: Mapping[str, Any]) -> bool:
    kind = parts.kind_of(part)
    if not kind or "role" in part or "lc" in part or kind in _PLAIN_KINDS or kind.endswith("text"):
        return False
    tests = (parts.is_text, parts.is_call, parts.is_result, parts.is_summary)
    if any(test(kind) for test in tests) or parts.is_thought(part, kind):
        return False
    return parts.media(part, kind) is None and any(" " in one.text for one in pieces(part))


def _holds_results(content: Any) -> bool:
    """Return whether a content is made of parts that answer tool calls, each with its id."""
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        return False
    return any(
        parts.is_result(parts.kind_of(one))
        or (len(one) <= 3 and any(parts.plain(name) in parts.WRAPPED for name in one))
        for one in content
    )


def _joined(texts: list[str]) -> str:
    """The texts of one message as one: as they are where one goes on in the next, else by lines."""
    whole = texts[0]
    for text in texts[1:]:
        ends = whole.rstrip()[-1:] in parts.ENDS
        goes_on = whole[-1:].isspace() or text[:1].isspace() or not text[:1].isalnum()
        whole += text if goes_on or not ends else f"\n{text}"
    return whole


def tool_text(text: str) -> str:
    """Return what a tool returned as a text; a text that a program wrote as JSON is read."""
    unfolded = unfold(text)
    return unfolded if isinstance(unfolded, str) else text


def tool_result(value: Any) -> tuple[str, list[InnerText]]:
    """Return what a tool returned as one text, and what of it has none.

    Of parts of a message it is their texts, of all other data it is the data.
    """
    if isinstance(value, str):
        unfolded = unfold(value)
        if isinstance(unfolded, str):
            return unfolded, []
        if parts.is_opaque(value):
            return "", [_media("data", value)]
        if printed := parts.printed_texts(value):
            return "\n".join(printed), []
        if unfolded is None:
            return value, []
        if not _is_message(unfolded):
            text, without_text = _data(unfolded)
            return (text, without_text) if without_text else (value, [])
        value = unfolded
    if value is None:
        return "", []
    if isinstance(value, dict) and set(value) <= {"type", "text", "value"} and "type" in value:
        value = [value]
    if isinstance(value, dict) and isinstance(value.get("content"), list) and _is_message(value):
        value = value["content"]
    if _is_message(value):
        found = list(everything(value))
        texts = [one.text for one in found if is_said(one)]
        return "\n".join(texts), [one for one in found if one.role == "media"]
    return _data(value)


def _data(value: Any) -> tuple[str, list[InnerText]]:
    """The data of a program as a text, without the bytes in it, and what these are."""
    found: list[InnerText] = []

    def bare(one: Any, depth: int) -> Any:
        if isinstance(one, str) and parts.is_opaque(one):
            found.append(_media("data", one))
            return ""
        if depth > _DEEPEST:
            return one
        if isinstance(one, dict):
            return {name: bare(inner, depth + 1) for name, inner in one.items()}
        return [bare(inner, depth + 1) for inner in one] if isinstance(one, list) else one

    try:
        return canonical_text(bare(value, 0)), found
    except RecursionError:
        return "", [_media("data that is nested too deeply", value.__class__)]


def is_blocks(value: Any, *, by_model: bool = False) -> bool:
    """Return whether a value is the content of a message: a list of parts that say their kinds.

    Args:
        value: The value.
        by_model: Whether a model wrote it: then some of the kinds may be unknown.
    """
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return False
    is_known = False
    for one in value:
        kind = parts.kind_of(one)
        known = parts.is_text(kind) or parts.is_call(kind) or parts.is_result(kind)
        is_known = is_known or known
        known = known or parts.is_summary(kind) or (by_model and _is_unknown(one))
        names = {parts.plain(name) for name in one} if len(one) <= 3 else set()
        lone = bool(names) and names <= {"text", "thoughtsignature", "thought", *parts.WRAPPED}
        if "role" in one or not (
            known or lone or parts.is_thought(one, kind) or parts.media(one, kind) is not None
        ):
            return False
    return True


def _is_message(value: Any) -> bool:
    """Return whether a value is made of a message's parts, and not of data of a program."""
    if isinstance(value, dict):
        return isinstance(value.get("content"), list) and _is_message(value["content"])
    if not isinstance(value, list) or not any(isinstance(one, dict) for one in value):
        return False
    for one in value:
        if isinstance(one, str) and parts.is_opaque(one):
            continue
        if not isinstance(one, dict):
            return False
        kind = parts.kind_of(one)
        lone = len(one) == 1 and isinstance(one.get("text"), str)
        known = parts.is_text(kind) or kind in ("json", "resource", "document")
        if not (lone or (known and len(one) <= 5) or parts.media(one, kind) is not None):
            return False
    return True


def _is_definition(content: Any) -> bool:
    """Return whether it defines a tool, as some tracers put among the messages."""
    return isinstance(content, dict) and "function" in content and "parameters" in str(content)


def answered_id(value: Mapping[str, Any]) -> str | None:
    """The id of the tool call that a result answers; None: it holds none."""
    return next((link for name in _ANSWER_IDS if (link := _id(value.get(name)))), None)


def tool_call(call: Mapping[str, Any]) -> InnerText:
    """The call of a tool, as `name(arguments)`."""
    if any("." in str(name) for name in call):  # of a data frame
        call = from_dotted(dict(call))
    if isinstance(call.get("tool_call"), dict) and "name" not in call:
        call = call["tool_call"]
    kind = parts.kind_of(call)
    own = (one for name, one in call.items() if parts.plain(name) == kind)
    inner = next((one for one in (call.get("function"), *own) if isinstance(one, dict)), call)
    names = ("name", "toolName", "tool_name")
    name = next((one[key] for one in (inner, call) for key in names if one.get(key)), None)
    keys = ("arguments", "args", "input", "parameters")
    given = next((inner[one] for one in keys if inner.get(one) is not None), None)
    if given is None and (parts.is_call(kind) or inner is not call):
        given = _arguments(inner)
    unfolded = unfold(given) if isinstance(given, str) else given
    said = given if isinstance(given, str) and unfolded is None else canonical_text(unfolded)
    link = next((link for one in _CALL_IDS if (link := _id(call.get(one)))), None)
    named = name or str(call.get("type", "")).removesuffix("_call") or "call"
    return InnerText(f"{named}({said})", "call", None, link or _id(name))


def _arguments(call: Mapping[str, Any]) -> Any:
    """Return what a call that names no arguments says besides itself; None: nothing."""
    left_out = NAMING.union(("kindof", "function", *map(parts.plain, (*_CALL_IDS, *WITHIN_CALLS))))
    held = {name: one for name, one in call.items() if parts.plain(name) not in left_out}
    return held or None


def answer_within(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a call says that its tool returned, as a part of its own; None: nothing."""
    result = next((call[name] for name in WITHIN_CALLS if call.get(name)), None)
    if result is None:
        return None
    link = next((link for one in _CALL_IDS if (link := _id(call.get(one)))), None)
    return {"type": "tool_result", "tool_call_id": link or call.get("name"), "content": result}


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
