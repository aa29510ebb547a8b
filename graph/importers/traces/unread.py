"""The attributes of a span that hold text which was not read from them or from another one.

Nothing is known of their layout: a text of them is neither a source nor an answer. A reader is told
their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from veritrail_graph.graph.importers.traces import parts, vendors
from veritrail_graph.graph.importers.traces.calls import Call
from veritrail_graph.graph.importers.traces.texts import NAMING, unfold

_ABOUT = (
    "exception.", "error", "code.", "http.", "url.", "server.", "client.", "net.", "network.",
    "process.", "host.", "os.", "telemetry.", "service.", "otel.", "thread.", "rpc.", "db.",
    "user_agent.", "aws.", "cloud.", "k8s.", "logfire.", "gen_ai.workflow.", "gen_ai.request.",
    "gen_ai.usage.", "gen_ai.agent.", "gen_ai.provider.", "ai.settings.", "ai.telemetry.",
    "ai.prompt.tool", "ai.model.", "langfuse.trace.name", "langfuse.trace.tags",
    "langfuse.trace.public", "langfuse.environment", "langfuse.observation.model",
    "langfuse.observation.status", "langfuse.release", "langfuse.internal", "langsmith.trace.",
    "langsmith.span.tags", "langsmith.request.", "traceloop.association.", "traceloop.prompt.",
    "mlflow.trace", "mlflow.source", "graph.", "session", "user.", "agent.", "status",
    "model_request_", "eval.", "document.", "prompt.", "smolagents.", "scope.", "event.",
    "openinference.", "pydantic_ai.", "tag",
)  # fmt: skip
"""How attributes begin that tell of the program and its settings, unless a word of theirs says that
they hold what somebody said or what was found."""
_EXACTLY = (
    "exception.", "error.", "status.message", "status_message", "db.statement", "db.query.text",
    "url.", "http.request.header", "http.response.header", "gen_ai.tool.definitions",
    "gen_ai.prompt.name", "llm.tools", "llm.invocation_parameters", "llm.prompt_template",
    "llm.request.functions", "langfuse.trace.metadata", "langfuse.observation.metadata",
    "langsmith.metadata", "metadata.", "mlflow.chat.tools", "mlflow.spanFunction",
    "document.metadata", "tool.parameters", "tool.json_schema", "sk.available_functions",
    "crew_agents", "crew_inputs.", "haystack.component.input_types",
    "haystack.component.input_spec", "haystack.component.output_types",
    "haystack.component.output_spec", "haystack.component.fully", "haystack.pipeline.metadata",
    "gen_ai.request.", "gen_ai.usage.", "gen_ai.response.finish_reasons", "agent_session",
    "traceloop.association.", "ai.settings.", "ai.telemetry.", "ai.prompt.tool",
    "traceloop.prompt.", "logfire.", "openinference.",
)  # fmt: skip
"""How attributes begin that hold no text of a run, whatever their names say."""
_SAID = frozenset((
    "answer", "answers", "body", "chunk", "chunks", "completion", "content", "contents", "context",
    "contexts", "conversation", "docs", "document", "documents", "explanation", "history", "input",
    "inputs", "message", "messages", "output", "outputs", "passage", "passages", "payload",
    "prompt", "prompts", "query", "question", "questions", "rationale", "reason", "reply", "report",
    "response", "responses", "result", "results", "retrieved", "said", "summary", "text", "texts",
    "transcript",
))  # fmt: skip
"""Words in the names of attributes that hold what somebody said, or what was found."""
_ENDS = frozenset((
    "definitions", "schema", "name", "id", "ids", "type", "template", "path", "version", "url",
    "metadata", "model", "role", "stacktrace", "tags",
))  # fmt: skip
"""Words with which the names of attributes end that name things."""
_WORDS = re.compile(r"[A-Za-z][a-z]*")
_BETWEEN = re.compile(r"[\"'`\[\]{}()<>=\\|\n]+|[.!?;:,]\s")
_ESCAPED = re.compile(r"\\[ntr]")
_PRINTED = re.compile(r"\w=[\"'<\[]|['\"]: ['\"\[{]")
"""An object as Python prints it: the texts in it may be read elsewhere."""
_MACHINE = (
    "http.", "url.", "server.", "client.", "net.", "network.", "process.", "host.", "os.",
    "telemetry.", "service.", "otel.", "thread.", "rpc.", "user_agent.", "aws.", "cloud.", "k8s.",
    "code.", "exception.", "error", "status", "logfire.", "openinference.", "scope.",
)  # fmt: skip
"""How attributes begin that tell of machines and of errors, which are named elsewhere."""
_NAMES = frozenset((
    "name", "id", "ids", "type", "path", "version", "url", "model", "role", "stacktrace",
))  # fmt: skip
"""Words with which the names of attributes end that hold names."""
_ASIDE = frozenset(map(parts.plain, (
    "additional_kwargs", "response_metadata", "metadata", "artifact", "instructions", "tools",
    "generation_info", "grounding_metadata", "citation_metadata", "provider_metadata",
    "provider_details", "llm_output", "safety_ratings", "prompt_feedback", "refusal",
)))  # fmt: skip
"""Fields that are not read for texts, as `parts.plain` writes them."""
_NAMED_ASIDE = (
    "kwargs", "etadata", "artifact", "instructions", "tools", "nfo", "etails", "utput",
    "atings", "eedback", "refusal",
)  # fmt: skip
"""A part of each of their names."""
_LEAST_WORDS = 4
_SHORTEST = 12
_DEEPEST = 40
_MOST_SEARCHED = 500
"""Texts that are looked for within all others; of more only whole ones are compared."""
_END = "\n"


def kept_apart(
    own: Mapping[str, Any], events: Iterable[Mapping[str, Any]], read: tuple[Any, Any]
) -> list[tuple[str, str]]:
    """Return the texts of a span that are not in what was read of it, with their attributes."""
    found = [
        (name, value) for name, value in own.items() if name != "events" and not _is_about(name)
    ]
    for event in events:
        if not _is_about(str(event.get("name"))):
            inner = {name: one for name, one in event["attributes"].items() if not _is_about(name)}
            found.append((f"event {event.get('name')}", [inner, event.get("body")]))
    known: str | None = None
    apart = []
    for name, value in found:
        if value is read[0] or value is read[1]:
            continue
        if name in vendors.REQUESTS:
            value = vendors.messages_of_request(unfold(value) if isinstance(value, str) else value)
        for text in texts_in(value):
            if known is None:
                known = _all_of(read)
            if _is_apart(text, known):
                apart.append((name, text))
    return apart


def beside(own: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the attributes of a span that tell of the program and its settings in words."""
    return [
        (name, value)
        for name, value in own.items()
        if _is_about(name)
        and not name.startswith(_MACHINE)
        and not (name.split(".")[-1] in _NAMES or _last_word(name) in _NAMES)
        and any(words_in(value))
    ]


def words_in(value: Any) -> Iterator[str]:
    """Yield the texts in a value that say something, also below fields that name things."""
    return filter(says_something, texts_in(value, whole=True))


def aside(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the fields within a value that are not read for texts but may hold some."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        is_any = value[:1] in ("{", "[") and any(one in value for one in _NAMED_ASIDE)
        inner = unfold(value) if is_any else None
        if inner is not None:
            yield from aside(inner, depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from aside(one, depth + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, (str, list, dict)):
                if parts.plain(str(name)) in _ASIDE:
                    yield str(name), one
                else:
                    yield from aside(one, depth + 1)


def _last_word(name: str) -> str:
    return next((one.lower() for one in reversed(_WORDS.findall(name))), "")


def hidden(own: Mapping[str, Any]) -> list[str]:
    """Return the attributes of a span that hold text and tell of the program by their names."""
    return [
        name
        for name, value in own.items()
        if name.startswith(_ABOUT) and not name.startswith(_EXACTLY) and any(texts_in(value))
    ]


def names(apart: Sequence[tuple[str, str]], calls: Iterable[Call]) -> tuple[str, ...]:
    """Return the attributes with text that stands nowhere else in the trace."""
    if not apart:
        return ()
    known = _all_of([part for call in calls for part in (call.given, call.made)])
    whole = set(known.split(_END))
    lost: dict[str, None] = {}
    for number, (name, text) in enumerate(apart):
        if name in lost or _plain(text) in whole:
            continue
        if number >= _MOST_SEARCHED or _is_apart(text, known):
            lost[name] = None
    return tuple(lost)


def _all_of(values: Iterable[Any]) -> str:
    return _END.join(_plain(text) for value in values for text in texts_in(value, whole=True))


def _is_about(name: str) -> bool:
    words = [one.lower() for one in _WORDS.findall(name)]
    if name.startswith(_EXACTLY) or (words and words[-1] in _ENDS):
        return True
    is_setting = name.startswith(_ABOUT) or name.endswith(("description", "finish_reasons"))
    return is_setting and _SAID.isdisjoint(words)


def texts_in(value: Any, *, whole: bool = False, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value; `whole`: also below fields that name things."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        inner = unfold(value) if value[:1] in ("{", "[", '"') else None
        if inner is not None:
            yield from texts_in(inner, whole=whole, depth=depth + 1)
        elif whole or says_something(value):
            yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from texts_in(one, whole=whole, depth=depth + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            if whole or parts.plain(str(name)) not in NAMING:
                yield from texts_in(one, whole=whole, depth=depth + 1)


def says_something(text: str) -> bool:
    """Return whether a text is words, and no name, number, id or bytes."""
    bare = text.strip()
    if len(bare) < _SHORTEST and bare.isascii():
        return False
    is_words = " " in bare or (not bare.isascii() and len(bare) >= _LEAST_WORDS)
    return is_words and not (parts.is_opaque(bare) or parts.is_represented(bare))


def _plain(text: str) -> str:
    if "\\" in text:
        text = _ESCAPED.sub(" ", text).replace("\\", "")
    return " ".join(text.split()).casefold()


def _is_apart(text: str, known: str) -> bool:
    """Return whether a text, or a passage of one that holds others, stands nowhere else."""
    bare = _plain(text)
    if bare in known:
        return False
    if _PRINTED.search(text) is None:
        return True
    passages = [one.strip() for one in _BETWEEN.split(_ESCAPED.sub("\n", text))]
    long = [one for one in passages if one.count(" ") >= _LEAST_WORDS - 1]
    said = long or [one for one in passages if " " in one]
    return any(_plain(one) not in known for one in said)
