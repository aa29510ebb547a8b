"""The texts in what a call was given or gave: messages, documents, fields, rows.

Programs record the same text in many forms: as a message of a chat, as a field of an object, as
JSON inside a text. What is taken out here are the innermost texts, with what is known of them. For
a trace without texts it is said how its tracer records them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.traces.calls import Call
from veritrail_graph.graph.model.canonical import canonical_text

_ROLES = {
    "human": "user", "user": "user", "ai": "assistant", "assistant": "assistant",
    "model": "assistant", "aimessage": "assistant", "humanmessage": "user", "system": "system",
    "developer": "system", "systemmessage": "system", "tool": "tool", "function": "tool",
    "toolmessage": "tool", "toolresult": "tool", "aimessagechunk": "assistant",
}  # fmt: skip
_PREFIXES = {"Human: ": "user", "AI: ": "assistant", "System: ": "system", "Tool: ": "tool"}
"""How LangChain prints messages of a chat."""
_TEXT_KEYS = ("page_content", "document.content", "content", "text", "document", "passage")
_ABOUT_KEYS = ("metadata", "score", "document.score", "document.metadata", "distance", "source")
_DROPPED = frozenset((
    "id", "ids", "uuid", "type", "role", "name", "model", "object", "status", "finish_reason",
    "index", "created", "created_at", "additional_kwargs", "response_metadata", "usage",
    "usage_metadata", "token_usage", "llm_output", "lc", "system_fingerprint", "mime_type",
    "logprobs", "invalid_tool_calls", "response_id", "model_name", "tool_call_id", "call_id",
    "span_id", "trace_id", "run_id", "thread_id", "checkpoint_ns", "refusal", "stop_reason",
    "stop_sequence", "service_tier", "temperature", "top_p", "max_tokens", "tools",
    "tool_choice", "parallel_tool_calls", "reasoning", "instructions", "metadata",
    "generation_info", "artifact", "url",
))  # fmt: skip
"""Fields that name or count things."""
QUESTION_KEYS = ("question", "query", "q", "input", "prompt", "user_input", "messages", "request")
DOCUMENT_KEYS = (
    "docs", "documents", "context", "contexts", "chunks", "passages", "results", "sources", "hits",
    "retrieved", "retrieved_docs", "retrieved_documents", "retrieved_contexts", "source_documents",
)  # fmt: skip
"""Fields in which programs keep what they looked up."""
_RESULT_KEYS = ("response", "result", "content", "output")
"""Where the part of a message that answers a tool call holds the answer."""
_DEEPEST = 60
_MOST_UNFOLDED = 20_000_000

_SILENT_NAMED = 5
_SWITCHES = {
    "otlp": (
        "OpenTelemetry: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true; OpenLLMetry: "
        "TRACELOOP_TRACE_CONTENT=true; OpenInference: no OPENINFERENCE_HIDE_INPUTS and "
        "OPENINFERENCE_HIDE_OUTPUTS; Pydantic AI: include_content=True; Vercel AI SDK: "
        "recordInputs and recordOutputs"
    ),
    "langfuse": "Langfuse: capture_input and capture_output of @observe, and no masking; export "
    "observations with the fields `io`",
    "mlflow": "MLflow: inputs and outputs of the spans, and traces exported with their data",
    "langchain": "LangSmith: no LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS; of a LangGraph "
    "history all states, or one with `messages`",
    "haystack": "Haystack: include_outputs_from with every component",
}
"""How each tracer is told to record texts, by the format of its traces."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An innermost text.

    Attributes:
        text: The text.
        role: Who said it, of a message: user, assistant, system, tool; `call` for a tool call,
            `document` for a document; None where that is not known.
        key: The field that it stood in; None: in none.
        link: The id of the tool call that it is or answers; None: none.
        about: What else is known of a document.
    """

    text: str
    role: str | None = None
    key: str | None = None
    link: str | None = None
    about: Mapping[str, Any] | None = None


def pieces(value: Any, key: str | None = None, depth: int = 0) -> Iterator[Piece]:
    """The texts of a value, in their order; empty ones and those that name things are left out."""
    if depth > _DEEPEST or value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        yield from _of_text(value, key, depth)
    elif isinstance(value, (int, float)):
        if key is not None and key not in _DROPPED:
            yield Piece(str(value), None, key)
    elif isinstance(value, list):
        for one in value:
            yield from pieces(one, key, depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(value, key, depth)


def _of_text(text: str, key: str | None, depth: int) -> Iterator[Piece]:
    bare = text.strip()
    if not bare:
        return
    unfolded = unfold(bare)
    if unfolded is not None:
        found = list(pieces(unfolded, key, depth + 1))
        if any(one.role is not None for one in found) or isinstance(unfolded, (dict, list)):
            yield from found
            return
    for prefix, role in _PREFIXES.items():
        if bare.startswith(prefix):
            yield Piece(bare.removeprefix(prefix), role, key)
            return
    yield Piece(text, None, key)


def unfold(text: str) -> Any:
    """The object or list that a text holds as JSON or as Python prints it; None: it holds none."""
    bare = text.strip()
    if bare[:1] not in ("{", "[", '"') or len(bare) > _MOST_UNFOLDED:
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        if bare[:2] not in ("{'", "['", "[{"):
            return None
        try:
            value = ast.literal_eval(bare)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    if isinstance(value, str):
        return value if bare[:1] == '"' and value != text else None
    return value if isinstance(value, (dict, list)) else None


def _of_object(value: Mapping[str, Any], key: str | None, depth: int) -> Iterator[Piece]:
    constructor = value.get("kwargs")
    if value.get("lc") is not None and isinstance(constructor, dict):  # LangChain's own form
        names = value.get("id")
        last = str(names[-1]).lower() if isinstance(names, list) and names else ""
        role = _ROLES.get(last)
        yield from _of_object({"type": role, **constructor}, key, depth + 1)
        return
    if isinstance(value.get("message"), dict) and ("text" in value or "finish_reason" in value):
        yield from pieces(value["message"], key, depth + 1)  # a generation, a choice
        return
    kind = value.get("type")
    if kind == "function_call_output":
        yield from _with_role(value.get("output"), "tool", _id(value.get("call_id")), key, depth)
        return
    if kind in ("tool_call_response", "tool_result"):
        result = next((value[name] for name in _RESULT_KEYS if value.get(name) is not None), None)
        yield from _with_role(result, "tool", tool_call_id(value), key, depth)
        return
    if kind in ("function_call", "tool_use", "tool_call"):
        yield tool_call(value)
        return
    role = _ROLES.get(str(value.get("role") or kind or "").lower())
    if role is not None and ("content" in value or "tool_calls" in value or "parts" in value):
        yield from _of_message(value, role, key, depth)
        return
    text = next((name for name in _TEXT_KEYS if isinstance(value.get(name), str)), None)
    if text is not None and (len(value) == 1 or any(name in value for name in _ABOUT_KEYS)):
        about = {name: one for name, one in value.items() if name != text}
        yield Piece(value[text], "document", key, None, about)
        return
    if kind in ("text", "output_text", "input_text") and isinstance(value.get("text"), str):
        yield Piece(value["text"], None, key)
        return
    for name, one in value.items():
        if name not in _DROPPED:
            yield from pieces(one, name, depth + 1)


def _of_message(
    value: Mapping[str, Any], role: str, key: str | None, depth: int
) -> Iterator[Piece]:
    content = value.get("content", value.get("parts"))
    link = _id(value.get("tool_call_id"))
    if role == "tool" and _is_definition(content):
        return
    yield from _with_role(content, role, link, key, depth)
    more = value.get("additional_kwargs")
    calls = value.get("tool_calls") or (more.get("tool_calls") if isinstance(more, dict) else None)
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield tool_call(call)


def _with_role(
    content: Any, role: str, link: str | None, key: str | None, depth: int
) -> Iterator[Piece]:
    """The texts of a message: one where its content is a text, whatever that looks like."""
    if isinstance(content, str):
        if content.strip():
            yield Piece(content, role, key, link)
        return
    for one in pieces(content, key, depth + 1):
        is_call = one.role == "call" and role == "assistant"
        kept = is_call or (one.role == "tool" and role != "tool")
        yield one if kept else Piece(one.text, role, one.key, link or one.link)


def _is_definition(content: Any) -> bool:
    """Whether it defines a tool, as some tracers put among the messages."""
    return isinstance(content, dict) and "function" in content and "parameters" in str(content)


def tool_call_id(value: Mapping[str, Any]) -> str | None:
    """The id of the tool call that a result answers; None: it holds none."""
    names = ("tool_call_id", "tool_use_id", "call_id", "id")
    return next((link for name in names if (link := _id(value.get(name)))), None)


def tool_call(call: Mapping[str, Any]) -> Piece:
    """The call of a tool, as `name(arguments)`."""
    inner = call.get("function")
    function = inner if isinstance(inner, dict) else call
    name = function.get("name") or "call"
    given = function.get("arguments", function.get("args", function.get("input")))
    unfolded = unfold(given) if isinstance(given, str) else given
    said = given if isinstance(given, str) and unfolded is None else canonical_text(unfolded)
    return Piece(f"{name}({said})", "call", None, _id(call.get("call_id") or call.get("id")))


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def of_output(value: Any) -> Iterator[Piece]:
    """The texts of an output; of a language model's answer only what it wrote."""
    if isinstance(value, str):
        inner = unfold(value)
        if isinstance(inner, dict) and ("output" in inner or "choices" in inner):
            value = inner
    if isinstance(value, dict) and isinstance(value.get("generations"), list):
        value = value["generations"]  # of LangChain
    elif isinstance(value, dict) and isinstance(value.get("choices"), list):
        value = value["choices"]  # of OpenAI
    elif isinstance(value, dict) and value.get("object") == "response":
        value = value.get("output")
    yield from pieces(value)


def why_without_text(format_name: str, calls: Iterable[Call]) -> str:
    """Why a trace gives no node, with the spans by name, and the switches that record texts."""
    every = list(calls)
    silent = [one.name for one in every if one.made in (None, "", [], {})]
    names = list(dict.fromkeys(silent or [one.name for one in every]))
    more = f" and {len(names) - _SILENT_NAMED} more" if len(names) > _SILENT_NAMED else ""
    which = f" Spans without output text: {', '.join(map(shown, names[:_SILENT_NAMED]))}{more}."
    switch = _SWITCHES.get(format_name)
    return (
        "the trace holds no text that a model wrote."
        + (which if names else " It holds no span.")
        + " Have your tracer record what models, tools and retrievers are given and give"
        + (f" ({switch})" if switch else "")
        + ", and run the program again"
    )
