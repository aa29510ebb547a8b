"""Traces without text: which spans hold none, and what to switch on so that they do."""

from __future__ import annotations

from collections.abc import Iterable

from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.traces.calls import Call

_NAMED = 5
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


def reason(format_name: str, calls: Iterable[Call]) -> str:
    """Why a trace gives no node, with the spans by name, and the switches that record texts."""
    every = list(calls)
    silent = [one.name for one in every if one.made in (None, "", [], {})]
    names = list(dict.fromkeys(silent or [one.name for one in every]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    which = f" Spans without output text: {', '.join(map(shown, names[:_NAMED]))}{more}."
    switch = _SWITCHES.get(format_name)
    return (
        "the trace holds no text that a model wrote."
        + (which if names else " It holds no span.")
        + " Have your tracer record what models, tools and retrievers are given and give"
        + (f" ({switch})" if switch else "")
        + ", and run the program again"
    )
