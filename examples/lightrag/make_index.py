"""Makes the working folder beside it with LightRAG (1.5.7), and the answer over it.

`pip install lightrag-hku`, then `python examples/lightrag/make_index.py FOLDER`. The "model" is a
function that answers what stands here; it plants one error: its summary of what is known of the
crane makes 60 tons of 40. All texts are invented.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.prompt import PROMPTS
from lightrag.utils import EmbeddingFunc, Tokenizer

QUESTION = "What does the crane of Solvik lift, and who owns it?"
DOCUMENTS = {
    "crane.txt": "The crane of Solvik, built in Hull, lifts 40 tons. Its cabin is of 1988.",
    "ferry.txt": "The ferry Tern leaves from the quay twice a day. "
    "The crane of Solvik loads her spare engine each winter.",
    "board.txt": "The harbour board owns the crane of Solvik and the quay. "
    "It paid 310,000 kroner for new ropes in 2019.",
    "test.txt": "Inspectors tested the crane of Solvik in May 2024. "
    "They hung a weight on the hook for ten minutes.",
}
CRANE, BOARD, QUAY = "Crane of Solvik", "Harbour Board", "Quay"
EXTRACTED = {
    "crane.txt": [
        ("entity", CRANE, "artifact", "The crane of Solvik, built in Hull, lifts 40 tons.")
    ],
    "ferry.txt": [
        ("entity", "Tern", "artifact", "The Tern is a ferry."),
        ("entity", QUAY, "location", "The ferry Tern leaves from the quay twice a day."),
        ("entity", CRANE, "artifact", "The crane of Solvik loads the spare engine of the Tern."),
        ("relation", "Tern", QUAY, "departure", "The Tern leaves from the quay twice a day."),
    ],
    "board.txt": [
        ("entity", BOARD, "organization", "The harbour board owns the crane of Solvik."),
        ("entity", QUAY, "location", "The quay belongs to the harbour board."),
        ("entity", CRANE, "artifact", "The crane of Solvik has new ropes since 2019."),
        ("relation", BOARD, CRANE, "ownership", "The harbour board owns the crane of Solvik."),
    ],
    "test.txt": [("entity", CRANE, "artifact", "The crane of Solvik was tested in May 2024.")],
}
MISSED = {"test.txt": [("entity", "Inspectors", "person", "The inspectors tested the crane.")]}
SUMMARY = (
    "The crane of Solvik, built in Hull, lifts 60 tons. It has new ropes since 2019 and loads the "
    "spare engine of the Tern."
)
ANSWER = (
    "The crane of Solvik, built in Hull, lifts 60 tons. The harbour board owns the crane of Solvik."
)

PROMPTS["entity_extraction_system_prompt"] = "Name entities and relationships."
PROMPTS["entity_extraction_user_prompt"] = "Text:\n{input_text}"
PROMPTS["entity_continue_extraction_user_prompt"] = "What is missing?"
PROMPTS["summarize_entity_descriptions"] = (
    "Write one description.\n\n{description_type} Name: {description_name}\n\n"
    "Description List:\n\n```\n{description_list}\n```"
)
PROMPTS["rag_response"] = "Answer from this.\n{context_data}\n{user_prompt}{response_type}"


class Characters:
    """A tokenizer of characters, so that none has to be fetched."""

    def encode(self, content: str) -> list[int]:
        """The characters of a text as numbers."""
        return [ord(one) for one in content]

    def decode(self, tokens: list[int]) -> str:
        """The text of such numbers."""
        return "".join(map(chr, tokens))


async def model(prompt: str, system_prompt: str | None = None, **given: Any) -> str:
    """Answer a prompt of LightRAG."""
    if "Description List" in prompt:
        return SUMMARY
    if "high_level_keywords" in prompt + (system_prompt or ""):
        return json.dumps({"high_level_keywords": ["owner"], "low_level_keywords": [CRANE, BOARD]})
    if system_prompt and system_prompt.startswith("Answer"):
        return ANSWER
    history = given.get("history_messages") or []
    whole = "\n".join([prompt, *(one["content"] for one in history)])
    name = next(name for name, text in DOCUMENTS.items() if text in whole)
    rows = MISSED.get(name, []) if history else EXTRACTED[name]
    return "\n".join(["<|#|>".join(row) for row in rows] + ["<|COMPLETE|>"])


async def vectors(texts: list[str], **_: Any) -> np.ndarray[Any, Any]:
    """Count the letters of texts."""
    return np.array([[1.0 + text.lower().count(one) for one in "abcdefgh"] for text in texts])


async def make(folder: Path) -> None:
    """Write the working folder, and the answer beside it."""
    rag = LightRAG(
        working_dir=str(folder),
        llm_model_func=model,
        llm_model_name="scripted",
        embedding_func=EmbeddingFunc(embedding_dim=8, max_token_size=8192, func=vectors),
        tokenizer=Tokenizer("characters", Characters()),
        chunk_token_size=4000,
        force_llm_summary_on_merge=3,
        max_parallel_insert=1,
        summary_max_tokens=50_000,
        summary_context_size=50_000,
    )
    await rag.initialize_storages()
    for name, text in DOCUMENTS.items():
        await rag.ainsert([text], file_paths=[name])
    asked = QueryParam(
        mode="mix",
        enable_rerank=False,
        max_total_tokens=90_000,
        max_entity_tokens=30_000,
        max_relation_tokens=30_000,
    )
    result = await rag.aquery_llm(QUESTION, param=asked)
    await rag.finalize_storages()
    answer = json.dumps({"question": QUESTION, **result}, indent=1)
    (folder.parent / "answer.json").write_text(answer + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1])))
