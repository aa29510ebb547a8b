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
    "user_agent.", "aws.", "cloud.", "k8s.", "logfire.", "gen_ai.workflow.",
    "gen_ai.request.", "gen_ai.usage.",
    "gen_ai.tool.definitions", "gen_ai.evaluation.", "gen_ai.agent.", "gen_ai.provider.",
    "llm.tools", "llm.invocation_parameters", "llm.prompt_template", "llm.request.functions",
    "ai.settings.", "ai.telemetry.", "ai.prompt.tool", "ai.response.provider", "ai.model.",
    "langfuse.trace.metadata", "langfuse.observation.metadata", "langfuse.observation.model",
    "langfuse.observation.status", "langfuse.environment", "langfuse.release",
    "langfuse.trace.name",
    "langfuse.internal", "langfuse.trace.tags", "langfuse.trace.public", "langsmith.metadata",
    "langsmith.trace.", "langsmith.span.tags", "langsmith.request.", "traceloop.association.",
    "traceloop.prompt.", "mlflow.trace", "mlflow.source", "mlflow.chat.tools",
    "mlflow.spanFunction",
    "metadata", "tag", "graph.", "session", "user.", "agent.", "crew_agents", "crew_inputs.",
    "sk.available_functions", "tool.parameters", "tool.json_schema", "status", "model_request_",
    "eval.", "document.metadata", "prompt.", "smolagents.", "haystack.component.input_types",
    "haystack.component.input_spec", "haystack.component.output_types", "gen_ai.prompt.name",
    "haystack.component.output_spec", "haystack.pipeline.metadata", "haystack.component.fully",
    "scope.", "event.", "openinference.", "pydantic_ai.version", "agent_session",
)  # fmt: skip
"""How attributes begin that tell of the program, its settings and its tools."""
_ENDS = (
    "description", "definitions", "schema", "name", "id", "ids", "type", "template", "path",
    "version", "url", "model", "message.role", "finish_reasons", "stacktrace", "tags",
)  # fmt: skip
_BETWEEN = re.compile(r"[\"'`\[\]{}()<>=\\|\n]+|[.!?;:,]\s")
_ESCAPED = re.compile(r"\\[ntr]")
_PRINTED = re.compile(r"\w=[\"'<\[]|['\"]: ['\"\[{]")
"""An object as Python prints it: the texts in it may be read elsewhere."""
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
        for text in _texts(value):
            if known is None:
                known = _all_of(read)
            if _is_apart(text, known):
                apart.append((name, text))
    return apart


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
    return _END.join(_plain(text) for value in values for text in _texts(value, whole=True))


def _is_about(name: str) -> bool:
    return name.startswith(_ABOUT) or name.endswith(_ENDS)


def _texts(value: Any, *, whole: bool = False, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value; `whole`: also below fields that name things."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        inner = unfold(value) if value[:1] in ("{", "[", '"') else None
        if inner is not None:
            yield from _texts(inner, whole=whole, depth=depth + 1)
        elif whole or _says_something(value):
            yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one, whole=whole, depth=depth + 1)
    elif isinstance(value, dict):
        for name, one in value.items():
            if whole or parts.plain(str(name)) not in NAMING:
                yield from _texts(one, whole=whole, depth=depth + 1)


def _says_something(text: str) -> bool:
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
