"""The forms in which single products write spans, turned into those of the conventions.

- Phoenix: spans of its REST API (`span_kind` beside the attributes), lines of its data frames
  (`context.span_id`, `attributes.…`).
- Logfire: rows of its queries, and messages as JSON in the attribute `events`.
- Jaeger: `jaeger`.
- Grafana Tempo: an export request as `batches`, or under `trace`.
- Vercel's AI SDK: `ai.prompt`, `ai.response.text`, `ai.toolCall.…`.
- Attributes of a name of their own for kind, input and output: Google ADK, LangSmith, MLflow,
  Langfuse, Haystack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.files import first_of
from veritrail_graph.graph.importers.traces import jaeger
from veritrail_graph.graph.importers.traces.calls import CallKind
from veritrail_graph.graph.importers.traces.texts import unfold
from veritrail_graph.graph.importers.traces.values import from_dotted, listed_attributes

_SPANS = "spans"
_PAGES = ("data", "rows", _SPANS, "results", "items", "result", "trace", "traces")
_MOST_WRAPPERS = 3
_RESOURCES = ("resourceSpans", "resource_spans", "batches")
GIVEN = (
    "input.value", "traceloop.entity.input", "gen_ai.input", "input", "mlflow.spanInputs",
    "langfuse.observation.input", "gcp.vertex.agent.llm_request", "gcp.vertex.agent.tool_call_args",
    "gen_ai.prompt", "haystack.component.input", "haystack.pipeline.input_data", "request_data",
    "gen_ai.tool.call.arguments", "gen_ai.input.messages", "langfuse.trace.input",
    "tool_arguments", "crewai.task.description", "crew_tasks", "tool.parameters",
    "gen_ai.tool.input", "pydantic_ai.all_messages", "all_messages_events",
)  # fmt: skip
"""Attributes with what a span was given."""
MADE = (
    "output.value", "traceloop.entity.output", "gen_ai.output", "output", "mlflow.spanOutputs",
    "langfuse.observation.output", "gcp.vertex.agent.llm_response",
    "gcp.vertex.agent.tool_response", "gen_ai.completion", "haystack.component.output",
    "haystack.pipeline.output_data", "response_data", "gen_ai.tool.call.result",
    "gen_ai.output.messages", "langfuse.trace.output", "tool_response", "gen_ai.tool.output",
    "final_result",
)  # fmt: skip
"""Attributes with what a span gave."""
_KIND_NAMES = (
    "openinference.span.kind", "traceloop.span.kind", "langsmith.span.kind", "mlflow.spanType",
    "langfuse.observation.type", "aws.genai.span_kind",
)  # fmt: skip
_MODELS = ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response", "request_data")
_EMPTY = (None, "", "{}", "null")
REQUESTS = ("gcp.vertex.agent.llm_request", "request_data")
"""Attributes with a whole request to a model, its settings among them."""
_COMPONENTS = (
    ("ToolInvoker", CallKind.TOOL), ("Generator", CallKind.GENERATION), ("Agent", CallKind.AGENT),
    ("Retriever", CallKind.RETRIEVER), ("Ranker", CallKind.RETRIEVER),
    ("WebSearch", CallKind.RETRIEVER), ("Fetcher", CallKind.RETRIEVER),
    ("Evaluator", CallKind.JUDGE),
)  # fmt: skip
"""What types of components of Haystack have in their names."""
_TRACE_IDS, _SPAN_IDS = ("trace_id", "traceId"), ("span_id", "spanId")
_PARENT_IDS = ("parent_span_id", "parent_id", "parentSpanId", "parentId")
_BEGAN = (
    "start_timestamp", "start_time", "start_time_unix_nano", "startTimeUnixNano", "startTime",
)  # fmt: skip
_ENDED = (
    "end_timestamp", "end_time", "end_time_unix_nano", "endTimeUnixNano", "endTime",
)  # fmt: skip
_NOTED = "events"
_KIND = "openinference.span.kind"
_ADDRESSES = ("url.full", "url.path", "http.url", "http.target", "http.route")
_ENDPOINT = re.compile(
    r"/(?:chat/completions|completions|v1/messages|v1/responses|api/(?:chat|generate))(?=$|\?)"
    r"|:(?:stream)?generateContent|/model/[^/]+/(?:invoke|converse)", re.IGNORECASE,
)  # fmt: skip


def entries(value: Any) -> list[Any]:
    """The spans of a page of an API, or below its wrappers, or the value itself."""
    of_jaeger = jaeger.spans_of(value)
    return (_below(value, 0) or [value]) if of_jaeger is None else of_jaeger


def _below(value: Any, depth: int) -> list[Any]:
    """The spans below the wrappers of a page; none where it is no page."""
    if not isinstance(value, dict) or depth > _MOST_WRAPPERS:
        return []
    for name in _PAGES:
        page = value.get(name)
        if isinstance(page, dict):
            found = _below(page, depth + 1)
        elif not isinstance(page, list) or not page:
            continue
        elif (span := one_span(page[0])) is not None:
            found = page if not (name == _SPANS and _is_of_mlflow(span)) else []
        else:
            found = [span for inner in page for span in _below(inner, depth + 1)]
        if found:
            return found
    return []


def _is_of_mlflow(span: Mapping[str, Any]) -> bool:
    own = span["attributes"]
    return isinstance(own, dict) and any(str(name).startswith("mlflow.") for name in own)


def as_request(value: Any) -> Any:
    """The export requests below other wrappings, such as Grafana Tempo's, as one; else the value.

    A request of logs is left as it is.
    """
    found = list(_resources(value, 0))
    is_bare = isinstance(value, dict) and any(name in value for name in _RESOURCES[:2])
    return {_RESOURCES[0]: found} if found and not is_bare else value


def _resources(value: Any, depth: int) -> Iterator[Any]:
    """Yield what the requests in a value list."""
    if not isinstance(value, dict) or depth > _MOST_WRAPPERS:
        return
    listed = next((value[one] for one in _RESOURCES if isinstance(value.get(one), list)), None)
    if listed is not None:
        yield from listed
        return
    for name in _PAGES:
        page = value.get(name)
        for one in page if isinstance(page, list) else [page]:
            yield from _resources(one, depth + 1)


def one_span(value: Any) -> dict[str, Any] | None:
    """A span as the Python SDK prints it, of the forms of Phoenix and Logfire; None: none."""
    if not isinstance(value, dict):
        return None
    context = value.get("context")
    if isinstance(context, dict) and "span_id" in context and "attributes" in value:
        return _with_kind(value, value["attributes"])
    if "context.span_id" in value:  # a row of a data frame
        start = "attributes."
        own = {
            name.removeprefix(start): one
            for name, one in value.items()
            if name.startswith(start) and one is not None
        }
        ids = {key: value.get(f"context.{key}") for key in ("trace_id", "span_id")}
        return _with_kind({**value, "context": ids}, own)
    of_jaeger = jaeger.as_span(value)
    if of_jaeger is not None:
        return _with_kind(of_jaeger, of_jaeger["attributes"])
    attributes = value.get("attributes")
    attributes = unfold(attributes) if isinstance(attributes, str) else attributes
    if isinstance(attributes, list) and "scopeSpans" not in value:
        try:
            attributes = listed_attributes(attributes, "")
        except InputError:
            return None
    trace_id, span_id = (first_of(value, names) for names in (_TRACE_IDS, _SPAN_IDS))
    if trace_id and span_id and isinstance(attributes, dict):
        renamed = {
            "context": {"trace_id": trace_id, "span_id": span_id},
            "parent_id": first_of(value, _PARENT_IDS),
            "name": first_of(value, ("span_name", "spanName", "name")),
            "start_time": first_of(value, _BEGAN),
            "end_time": first_of(value, _ENDED),
            "events": first_of(value, ("otel_events", "span_events", "spanEvents", "events")),
        }
        return _with_kind({**value, **renamed}, attributes)
    return None


def _with_kind(span: Mapping[str, Any], attributes: Any) -> dict[str, Any]:
    if not isinstance(attributes, dict):
        return {**span, "attributes": attributes}
    own: dict[str, Any] = {}
    for name, one in attributes.items():
        _flatten(name, one, own)
    if isinstance(span.get("span_kind"), str) and _KIND not in own:
        own[_KIND] = span["span_kind"]
    return {**span, "attributes": own}


def _flatten(name: str, value: Any, into: dict[str, Any]) -> None:
    """Objects as dotted names; what stands in lists as objects whose names are not dotted."""
    waiting = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting += [(f"{name}.{key}", one) for key, one in value.items()]
        else:
            is_tree = isinstance(value, list) and name != _NOTED  # `event.name` is one name
            into[name] = [_undotted(one) for one in value] if is_tree else value


def _undotted(value: Any) -> Any:
    return from_dotted(value) if isinstance(value, dict) else value


def kind_of(flat: Mapping[str, Any]) -> str:
    """The kind of a span in large letters; empty where no attribute names one."""
    said = next((flat[name] for name in _KIND_NAMES if isinstance(flat.get(name), str)), "")
    return said.strip('"').upper()


def is_model_call(flat: Mapping[str, Any]) -> bool:
    """Return whether a product's own attributes say that a model was called."""
    return any(flat.get(name) not in _EMPTY for name in _MODELS)


def messages_of_request(value: Any) -> Any:
    """Return what a request to a model says, without its settings."""
    if not isinstance(value, dict):
        return value
    said = first_of(value, ("messages", "contents", "input", "prompt"))
    if said is None:
        return value
    config = value.get("config")
    system = first_of(value, ("system", "instructions", "system_instruction"))
    if system is None and isinstance(config, dict):
        system = config.get("system_instruction")
    listed = said if isinstance(said, list) else [{"role": "user", "content": said}]
    return [{"role": "system", "content": system}, *listed] if system else listed


def name_of(flat: Mapping[str, Any]) -> str | None:
    """The name of a call where all spans of a product have one name."""
    said = flat.get("haystack.component.name")
    return said if isinstance(said, str) and said else None


def component_of_haystack(flat: Mapping[str, Any]) -> CallKind | None:
    """The kind of a component of Haystack, by its type; None: none of those that are known."""
    said = flat.get("haystack.component.type")
    if not isinstance(said, str):
        return None
    return next((kind for word, kind in _COMPONENTS if word in said), None)


def endpoint_of(flat: Mapping[str, Any]) -> str | None:
    """The path of a language model's endpoint that a span of HTTP called; None: it called none."""
    said = (flat[name] for name in _ADDRESSES if isinstance(flat.get(name), str))
    found = next((path for one in said if (path := _ENDPOINT.search(one))), None)
    return None if found is None else found[0].strip("/")


def noted(flat: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Events that Logfire keeps as JSON in an attribute, in the form of events of a span."""
    kept = flat.get(_NOTED)
    found = unfold(kept) if isinstance(kept, str) else kept
    return [
        {"name": one["event.name"], "attributes": one}
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, dict) and "event.name" in one
    ]


def of_vercel(flat: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """Return what a span of Vercel's AI SDK was given and gave; None: it is none."""
    if operation_of_vercel(flat) is None:
        return None
    given = first_of(flat, ("ai.prompt.messages", "ai.prompt", "ai.toolCall.args"))
    asked = unfold(given) if isinstance(given, str) else given
    if isinstance(asked, dict) and ("prompt" in asked or "messages" in asked):
        said = [{"role": "system", "content": asked["system"]}] if asked.get("system") else []
        if asked.get("prompt"):
            said.append({"role": "user", "content": asked["prompt"]})
        more = asked.get("messages")
        asked = said + (more if isinstance(more, list) else [])
    thought = first_of(flat, ("ai.response.reasoning", "ai.response.reasoningText"))
    made = first_of(flat, ("ai.toolCall.result", "ai.response.text", "ai.response.object"))
    calls = flat.get("ai.response.toolCalls")
    calls = unfold(calls) if isinstance(calls, str) else calls
    if isinstance(calls, list) and calls:
        made = {
            "role": "assistant",
            "content": made or "",
            "tool_calls": [
                {
                    "id": one.get("toolCallId"),
                    "name": one.get("toolName"),
                    "args": first_of(one, ("args", "input")),
                }
                for one in calls
                if isinstance(one, dict)
            ],
        }
    elif thought and isinstance(made, str):
        made = {"role": "assistant", "content": made}
    if thought and isinstance(made, dict):
        made = {**made, "reasoning_content": thought}
    if grounding := _grounding_of_vercel(flat):
        made = _grounded(made, grounding)
    return (given if asked is None else asked), made


def _grounded(answer: Any, grounding: Any) -> dict[str, Any]:
    said = answer if isinstance(answer, dict) else {"role": "assistant", "content": answer}
    return {**said, "grounding_metadata": grounding}


def _grounding_of_vercel(flat: Mapping[str, Any]) -> Any:
    """Return what a provider says of the passages that an answer was grounded in; None: nothing."""
    about = flat.get("ai.response.providerMetadata")
    about = unfold(about) if isinstance(about, str) else about
    told = about.values() if isinstance(about, dict) else ()
    return next((one["groundingMetadata"] for one in told
                 if isinstance(one, dict) and one.get("groundingMetadata")), None)  # fmt: skip


def operation_of_vercel(flat: Mapping[str, Any]) -> str | None:
    """The operation of a span of Vercel's AI SDK, such as `ai.generateText`; None: it is none."""
    said = flat.get("ai.operationId") or flat.get("operation.name")
    name = str(said).split(" ")[0] if said else ""
    return name if name.startswith("ai.") else None
