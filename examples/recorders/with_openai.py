"""Record a client of OpenAI.

    python examples/recorders/with_openai.py quay.jsonl

Needs OPENAI_API_KEY; OPENAI_BASE_URL names another endpoint, OPENAI_MODEL another model.
"""

import os
import sys

from openai import OpenAI

import veritrail_record as vr
from veritrail_record.openai import instrument

PAGES = [
    "The quay of Solvik was opened in 1901, on a Sunday in May.",
    "The crane on the quay was built in Hull. It lifts forty tons.",
]
MODEL = os.environ.get("OPENAI_MODEL", "gpt-6-luna")

client = instrument(OpenAI())


def ask(prompt: str) -> str:
    """What the model answers."""
    messages = [{"role": "user", "content": prompt}]
    reply = client.chat.completions.create(model=MODEL, messages=messages)
    return reply.choices[0].message.content


with vr.record("Quay", question="What is on the quay?", path=sys.argv[1]) as run:
    notes = [ask(f"In one sentence: {run.source(page, kind='page')}") for page in PAGES]
    run.answer(ask("Join these sentences:\n" + "\n".join(notes)))
