"""Record spans of OpenTelemetry.

    python examples/recorders/with_opentelemetry.py traces

Each trace becomes a process file in the folder. The spans are made by hand here; instrumentation
for your library makes them for you. Needs OPENAI_API_KEY, like the other examples.
"""

import os
import sys

from openai import OpenAI
from opentelemetry.sdk.trace import TracerProvider

from veritrail_record.opentelemetry import RecordingSpanProcessor

PAGE = "The quay of Solvik was opened in 1901, on a Sunday in May."
MODEL = os.environ.get("OPENAI_MODEL", "gpt-6-luna")

provider = TracerProvider(shutdown_on_exit=False)
provider.add_span_processor(RecordingSpanProcessor(sys.argv[1]))
tracer = provider.get_tracer("quay")

with tracer.start_as_current_span("answer"):
    with tracer.start_as_current_span("search") as span:
        span.set_attribute("openinference.span.kind", "RETRIEVER")
        span.set_attribute("retrieval.documents.0.document.content", PAGE)
    with tracer.start_as_current_span("write") as span:
        prompt = f"Sum up:\n\n{PAGE}"
        messages = [{"role": "user", "content": prompt}]
        reply = OpenAI().chat.completions.create(model=MODEL, messages=messages)
        span.set_attribute("openinference.span.kind", "LLM")
        span.set_attribute("llm.input_messages.0.message.role", "user")
        span.set_attribute("llm.input_messages.0.message.content", prompt)
        span.set_attribute("llm.output_messages.0.message.role", "assistant")
        said = reply.choices[0].message.content
        span.set_attribute("llm.output_messages.0.message.content", said)
provider.shutdown()
