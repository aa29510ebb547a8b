"""Record a pipeline of Haystack.

    python examples/recorders/with_haystack.py quay.jsonl

Needs OPENAI_API_KEY; OPENAI_BASE_URL names another endpoint, OPENAI_MODEL another model.
"""

import os
import sys

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import veritrail_record as vr
from veritrail_record.haystack import instrument

PAGES = ["The quay of Solvik was opened in 1901.", "The crane on the quay was built in Hull."]
TEMPLATE = "Pages: {% for one in pages %}{{ one.content }}\n{% endfor %}Question: {{ question }}"
QUESTION = "When was the quay opened?"
MODEL = os.environ.get("OPENAI_MODEL", "gpt-6-luna")

stop = instrument()
store = InMemoryDocumentStore()
store.write_documents([Document(content=page) for page in PAGES])
pipeline = Pipeline()
pipeline.add_component("search", InMemoryBM25Retriever(store))
pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
pipeline.add_component(
    "write", OpenAIChatGenerator(model=MODEL, api_base_url=os.environ.get("OPENAI_BASE_URL"))
)
pipeline.connect("search.documents", "prompt.pages")
pipeline.connect("prompt", "write")

with vr.record("Quay", question=QUESTION, path=sys.argv[1]):
    pipeline.run({"search": {"query": QUESTION}, "prompt": {"question": QUESTION}})
stop()
