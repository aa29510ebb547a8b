"""Record an index of LlamaIndex.

    python examples/recorders/with_llamaindex.py quay.jsonl

The class stands in for `llama_index.llms.openai.OpenAI`, which is a package of its own. Needs
OPENAI_API_KEY; OPENAI_BASE_URL names another endpoint, OPENAI_MODEL another model.
"""

import os
import sys

from llama_index.core import Document, SummaryIndex
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from openai import OpenAI

import veritrail_record as vr
from veritrail_record.llamaindex import instrument

PAGES = ["The quay of Solvik was opened in 1901.", "The crane on the quay was built in Hull."]
MODEL = os.environ.get("OPENAI_MODEL", "gpt-6-luna")


class Model(CustomLLM):
    metadata = property(lambda _: LLMMetadata(model_name=MODEL))

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **options):
        messages = [{"role": "user", "content": prompt}]
        reply = OpenAI().chat.completions.create(model=MODEL, messages=messages)
        return CompletionResponse(text=reply.choices[0].message.content)

    stream_complete = complete


stop = instrument()
index = SummaryIndex.from_documents([Document(text=page) for page in PAGES])
with vr.record("Quay", path=sys.argv[1]) as run:
    run.answer(str(index.as_query_engine(llm=Model()).query("When was the quay opened?")))
stop()
