"""One run of a program, as the spans of many tracers spell it; all of it is invented."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TRACE = "0af7651916cd43dd8448eb211c80319c"
Attributes = dict[str, Any]
Events = list[tuple[str, Attributes]]


@dataclass(frozen=True)
class Step:
    """A call: of a model (`llm`), a tool or a retriever.

    Attributes:
        kind: Its kind.
        given: The user's message, the arguments, the query.
        made: The answer, the result, the documents.
        thought: The model's thought before the answer; empty: none.
        system: The instructions of a model; empty: none.
        status: The message that the span ended with; empty: none.
        beside: Attributes besides, such as what a program notes of itself.
        noted: Attributes of an event besides; empty: there is none.
    """

    kind: str
    given: str
    made: tuple[str, ...]
    thought: str = ""
    system: str = ""
    status: str = ""
    beside: Mapping[str, Any] = field(default_factory=dict)
    noted: Mapping[str, Any] = field(default_factory=dict)


def _said(step: Step, part: str = "content") -> tuple[list[Any], list[Any]]:
    """The messages of a model's call in the parts of the conventions."""
    parts = [{"type": "reasoning", part: step.thought}] if step.thought else []
    parts += [{"type": "text", part: step.made[0]}]
    return (
        [{"role": "user", "parts": [{"type": "text", part: step.given}]}],
        [{"role": "assistant", "parts": parts}],
    )


def _chat(step: Step) -> tuple[list[Any], dict[str, Any]]:
    answer = {"role": "assistant", "content": step.made[0]}
    if step.thought:
        answer["reasoning_content"] = step.thought
    return [{"role": "user", "content": step.given}], answer


def _documents(step: Step) -> list[Any]:
    return [{"id": f"d{n}", "content": text, "score": 0.5} for n, text in enumerate(step.made)]


def _genai(step: Step) -> tuple[Attributes, Events]:
    given, made = _said(step)
    if step.kind == "llm":
        return {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(given),
                "gen_ai.output.messages": json.dumps(made)}, []  # fmt: skip
    if step.kind == "tool":
        return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": step.given,
                "gen_ai.tool.call.result": step.made[0]}, []  # fmt: skip
    return {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": step.given,
            "gen_ai.retrieval.documents": json.dumps(_documents(step))}, []  # fmt: skip


def _memory(step: Step) -> tuple[Attributes, Events]:
    if step.kind != "retriever":
        return _genai(step)
    return {"gen_ai.operation.name": "search_memory",
            "gen_ai.memory.records": json.dumps(_documents(step))}, []  # fmt: skip


def _details(step: Step) -> tuple[Attributes, Events]:
    if step.kind != "llm":
        return _genai(step)
    given, made = _said(step)
    about = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps(made)}
    return {"gen_ai.operation.name": "chat"}, [("gen_ai.client.inference.operation.details", about)]


def _events(step: Step) -> tuple[Attributes, Events]:
    if step.kind != "llm":
        return _genai(step)
    given, answer = _chat(step)
    return {"gen_ai.operation.name": "chat"}, [
        ("gen_ai.user.message", {"gen_ai.event.content": json.dumps(given[0])}),
        ("gen_ai.choice", {"gen_ai.event.content": json.dumps({"index": 0, "message": answer})}),
    ]


def _old_events(step: Step) -> tuple[Attributes, Events]:
    if step.kind != "llm":
        return _genai(step)
    given, answer = _chat(step)
    return {"gen_ai.operation.name": "chat"}, [
        ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(given)}),
        ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([answer])}),
    ]


def _strands(step: Step) -> tuple[Attributes, Events]:
    if step.kind == "retriever":
        return _genai(step)
    if step.kind == "tool":
        return {"gen_ai.operation.name": "execute_tool"}, [
            ("gen_ai.tool.message", {"content": json.dumps({"q": step.given})}),
            ("gen_ai.choice", {"message": json.dumps([{"text": step.made[0]}])}),
        ]
    blocks: list[Any] = [{"text": step.made[0]}]
    if step.thought:
        blocks.insert(0, {"reasoningContent": {"reasoningText": {"text": step.thought}}})
    return {"gen_ai.operation.name": "chat"}, [
        ("gen_ai.user.message", {"content": json.dumps([{"text": step.given}])}),
        ("gen_ai.choice", {"message": json.dumps(blocks)}),
    ]


def _openinference(step: Step) -> tuple[Attributes, Events]:
    if step.kind == "llm":
        contents = "llm.output_messages.0.message.contents"
        made = {}
        if step.thought:
            made = {f"{contents}.0.message_content.type": "reasoning",
                    f"{contents}.0.message_content.text": step.thought}  # fmt: skip
        made |= {f"{contents}.1.message_content.type": "text",
                 f"{contents}.1.message_content.text": step.made[0]}  # fmt: skip
        return {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": step.given,
                "llm.output_messages.0.message.role": "assistant", **made}, []  # fmt: skip
    if step.kind == "tool":
        return {"openinference.span.kind": "TOOL", "input.value": step.given,
                "output.value": step.made[0]}, []  # fmt: skip
    found = {f"retrieval.documents.{n}.document.content": one for n, one in enumerate(step.made)}
    return {"openinference.span.kind": "RETRIEVER", "input.value": step.given, **found}, []


def _traceloop(step: Step) -> tuple[Attributes, Events]:
    if step.kind == "llm":
        thought = {"gen_ai.completion.0.reasoning": step.thought} if step.thought else {}
        return {"llm.request.type": "chat", "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": step.given, "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": step.made[0], **thought}, []  # fmt: skip
    made = step.made[0] if step.kind == "tool" else list(step.made)
    return {"traceloop.span.kind": "tool" if step.kind == "tool" else "retriever",
            "traceloop.entity.input": json.dumps({"args": [step.given], "kwargs": {}}),
            "traceloop.entity.output": json.dumps(made)}, []  # fmt: skip


def _pair(kind: str, given: str, made: str, kinds: dict[str, str]) -> Callable[[Step], Any]:
    """A tracer that has one attribute for each of kind, input and output."""

    def spelled(step: Step) -> tuple[Attributes, Events]:
        asked: Any = step.given
        if step.kind == "llm":
            asked, answer = _chat(step)
        else:
            answer = {"documents": _documents(step)} if step.kind == "retriever" else step.made[0]
        quote = json.dumps if kind.startswith("mlflow") else str
        return {kind: quote(kinds[step.kind]), given: json.dumps(asked),
                made: json.dumps(answer)}, []  # fmt: skip

    return spelled


def _logfire(step: Step) -> tuple[Attributes, Events]:
    if step.kind == "retriever":
        return _genai(step)
    if step.kind == "tool":
        return {"gen_ai.operation.name": "execute_tool", "tool_arguments": step.given,
                "tool_response": step.made[0]}, []  # fmt: skip
    given, answer = _chat(step)
    response = {"message": answer, "usage": {"total_tokens": 9}}
    return {"request_data": json.dumps({"model": "m", "messages": given}),
            "response_data": json.dumps(response)}, []  # fmt: skip


def _adk(step: Step) -> tuple[Attributes, Events]:
    if step.kind == "retriever":
        return _genai(step)
    if step.kind == "tool":
        return {"gen_ai.operation.name": "execute_tool", "gcp.vertex.agent.llm_request": "{}",
                "gcp.vertex.agent.tool_call_args": json.dumps({"q": step.given}),
                "gcp.vertex.agent.tool_response": json.dumps({"result": step.made[0]}),
                }, []  # fmt: skip
    parts: list[Any] = [{"text": step.thought, "thought": True}] if step.thought else []
    parts += [{"text": step.made[0]}]
    request = {"model": "m", "config": {"http_options": {"headers": {"user-agent": "a desk"}}},
               "contents": [{"role": "user", "parts": [{"text": step.given}]}]}  # fmt: skip
    return {"gcp.vertex.agent.llm_request": json.dumps(request),
            "gcp.vertex.agent.llm_response": json.dumps(
                {"content": {"role": "model", "parts": parts}})}, []  # fmt: skip


def _vercel(step: Step) -> tuple[Attributes, Events]:
    if step.kind == "retriever":
        return _genai(step)
    if step.kind == "tool":
        return {"ai.operationId": "ai.toolCall", "ai.toolCall.args": json.dumps({"q": step.given}),
                "ai.toolCall.result": json.dumps(step.made[0])}, []  # fmt: skip
    thought = {"ai.response.reasoning": step.thought} if step.thought else {}
    return {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": step.made[0],
            "ai.prompt.messages": json.dumps(_chat(step)[0]), **thought}, []  # fmt: skip


SPELLINGS: dict[str, Callable[[Step], tuple[Attributes, Events]]] = {
    "conventions": _genai,
    "memory": _memory,
    "details": _details,
    "events": _events,
    "old events": _old_events,
    "strands": _strands,
    "openinference": _openinference,
    "traceloop": _traceloop,
    "logfire": _logfire,
    "google adk": _adk,
    "vercel": _vercel,
    "langfuse": _pair(
        "langfuse.observation.type", "langfuse.observation.input", "langfuse.observation.output",
        {"llm": "generation", "tool": "tool", "retriever": "retriever"},
    ),
    "langsmith": _pair(
        "langsmith.span.kind", "gen_ai.prompt", "gen_ai.completion",
        {"llm": "llm", "tool": "tool", "retriever": "retriever"},
    ),
    "mlflow": _pair(
        "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs",
        {"llm": "CHAT_MODEL", "tool": "TOOL", "retriever": "RETRIEVER"},
    ),
    "haystack": _pair(
        "haystack.component.type", "haystack.component.input", "haystack.component.output",
        {"llm": "OpenAIChatGenerator", "tool": "ToolInvoker", "retriever": "InMemoryRetriever"},
    ),
}  # fmt: skip
"""How each tracer spells a step: attributes and events."""


def span_of(number: int, name: str, spelling: str, step: Step) -> Any:
    """A step as a span, as a tracer spells it, with all that is known of it besides."""
    attributes, events = SPELLINGS[spelling](step)
    system = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": step.system}])}
    attributes = {**attributes, **step.beside, **(system if step.system else {})}
    events = [*events, ("acme.noted", dict(step.noted))] if step.noted else events
    made = span(number, name, attributes, events)
    return {**made, "status": {"code": 2, "message": step.status}} if step.status else made


def span(number: int, name: str, attributes: Attributes, events: Events = ()) -> Any:  # type: ignore[assignment]
    """A span as an export request holds it; number 1 is the whole."""

    def listed(about: Attributes) -> list[Any]:
        return [{"key": key, "value": {"stringValue": one}} for key, one in about.items()]

    return {
        "traceId": TRACE, "spanId": f"{number:016x}", "name": name,
        "parentSpanId": "" if number == 1 else f"{1:016x}",
        "startTimeUnixNano": str(number * 1_000),
        "endTimeUnixNano": str(1_000_000 if number == 1 else number * 1_000 + 500),
        "attributes": listed(attributes),
        "events": [{"name": kind, "attributes": listed(about)} for kind, about in events],
    }  # fmt: skip


def as_logs(export: Any) -> list[Any]:
    """An export request, and one of log records with what its spans had as events."""
    records = []
    for one in export["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for event in one.pop("events"):
            listed = event["attributes"]
            body = next((a["value"] for a in listed if a["key"] == "gen_ai.event.content"), {})
            kept = [a for a in listed if a["key"] != "gen_ai.event.content"]
            records.append({
                "timeUnixNano": one["startTimeUnixNano"], "eventName": event["name"],
                "traceId": one["traceId"], "spanId": one["spanId"], "body": body,
                "attributes": kept,
            })  # fmt: skip
    return [export, {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}]


def request(*spans: Any) -> Any:
    """An export request."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
