"""A scripted model server that embeds texts, too: all that a matrix of methods asks for.

Completions are those of `fakes.model_server`. Vectors count words, so that texts with words in
common are near.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eval_fakes.evaluating import word_vector
from fakes.model_answers import NOT_FULLY_SUPPORTED, Answer, Reader, WordReader
from fakes.model_prompts import VERDICT
from fakes.model_replies import Reply, as_json, error, tokens
from fakes.model_server import ModelServer, Received


def by_words(step: str, system: str, user: str, request: Any) -> Answer:
    """Compares words, and answers the True/False prompt by a word instead of an object."""
    answer = WordReader()(step, system, user, request)
    if step != VERDICT or "true or false" not in system.lower():
        return answer
    assert not isinstance(answer, str)
    return "False" if answer["verdict"] == NOT_FULLY_SUPPORTED else "True"


@dataclass
class EmbeddingModelServer(ModelServer):
    """A `ModelServer` with `/embeddings`.

    Attributes:
        embedded: The texts that were embedded, in the order of the calls.
    """

    reader: Reader = by_words
    embedded: list[str] = field(default_factory=list, init=False)

    def receive(self, path: str, headers: Mapping[str, str], body: Any) -> Received | Reply:
        """Take a request for a completion; embeddings are answered at once."""
        if not path.endswith("/embeddings"):
            return super().receive(path, headers, body)
        texts = body.get("input")
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            self.wrong.append(f"no texts to embed: {body!r}")
            return error(400, "no texts to embed")
        self.embedded += texts
        data = [
            {"object": "embedding", "index": place, "embedding": word_vector(text)}
            for place, text in enumerate(texts)
        ]
        used = sum(map(tokens, texts))
        usage = {"prompt_tokens": used, "total_tokens": used}
        return as_json({"object": "list", "model": body["model"], "data": data, "usage": usage})
