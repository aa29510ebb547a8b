"""A program whose spans are recorded: it looks something up and writes an answer."""

from __future__ import annotations

import json
from typing import Any

PAGE = "The lamp of Varnholm was lit in 1884. It is seen for nineteen miles."
ANSWER = "Varnholm's lamp was lit in 1884."


def retrieve(tracer: Any, page: str = PAGE) -> None:
    with tracer.start_as_current_span("search") as span:
        span.set_attribute("openinference.span.kind", "RETRIEVER")
        span.set_attribute("input.value", "When was it lit?")
        span.set_attribute("retrieval.documents.0.document.content", page)


def generate(tracer: Any, given: str = PAGE, made: str = ANSWER) -> None:
    """A generation of OpenInference."""
    with tracer.start_as_current_span("write") as span:
        span.set_attribute("openinference.span.kind", "LLM")
        for way, role, text in (
            ("input", "user", f"Sum up:\n\n{given}"),
            ("output", "assistant", made),
        ):
            span.set_attribute(f"llm.{way}_messages.0.message.role", role)
            span.set_attribute(f"llm.{way}_messages.0.message.content", text)


def generate_with_events(tracer: Any, given: str = PAGE, made: str = ANSWER) -> None:
    """A generation of the GenAI conventions."""
    with tracer.start_as_current_span("chat m") as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.request.model", "m")
        span.set_attribute("gen_ai.response.finish_reasons", ["stop"])
        span.add_event("gen_ai.user.message", {"content": f"Sum up:\n\n{given}"})
        span.add_event("gen_ai.choice", {"message": json.dumps({"content": made})})


def run(tracer: Any, write: Any = generate, **texts: str) -> None:
    with tracer.start_as_current_span("assistant") as span:
        span.set_attribute("input.value", "When was it lit?")
        retrieve(tracer)
        write(tracer, **texts)
        span.set_attribute("output.value", texts.get("made", ANSWER))
