"""The reason why a trace gives no node, and how its tracer is told to record texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.importers.traces.calls import Call
from veritrail_graph.graph.importers.traces.texts import pieces

_SWITCHES = {
    "otlp": (
        "OpenTelemetry: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true; OpenLLMetry: "
        "TRACELOOP_TRACE_CONTENT=true; Google ADK: OTEL_SEMCONV_STABILITY_OPT_IN="
        "gen_ai_latest_experimental and OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="
        "SPAN_AND_EVENT; texts that are in logs: spans and logs in one file; "
        "OpenInference: no OPENINFERENCE_HIDE_INPUTS and "
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


def _is_given_as_history(call: Call) -> bool:
    return any(one.role == "assistant" for one in pieces(call.given))


def why_without_text(format_name: str, calls: Iterable[Call], unread: Sequence[str] = ()) -> str:
    """Return why a trace gives no node, with its spans, and the switches that record texts."""
    every = list(calls)
    silent = [one.name for one in every if one.made in (None, "", [], {})]
    without = some(map(shown, silent or [one.name for one in every]))
    which = f" Spans without output text: {without}." if without else ""
    if unread:
        return (
            "the trace holds text, but in a layout that is not known: in "
            f"{some(map(shown, unread))}. No text is read "
            "from there, since nothing tells what of it a model wrote. Record what models, tools "
            "and retrievers are given and give as input.value and output.value or as gen_ai.*, "
            f"and run the program again.{which}"
        )
    if any(_is_given_as_history(one) for one in every):
        return (
            "the trace holds text that a model wrote only among what its calls were given, and no "
            f"text that they gave.{which} Have your tracer record what models give, and run the "
            "program again"
        )
    switch = _SWITCHES.get(format_name)
    return (
        "the trace holds no text that a model wrote."
        + (which or " It holds no span.")
        + " Have your tracer record what models, tools and retrievers are given and give"
        + (f" ({switch})" if switch else "")
        + ", and run the program again"
    )
