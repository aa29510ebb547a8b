"""What methods of an evaluation are made with in tests: the lexical engine, and word vectors."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from veritrail_eval.methods.memory import RunMemory
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.engines import Parts, engine_named
from veritrail_graph.verifier.judge import StepModels
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import Meter, StepCall
from veritrail_graph.verifier.ports import Judge
from veritrail_graph.verifier.prompts import PAPER, Prompts, load_prompts

_CALL = StepCall("embedding", "", "", "words", None)


def word_vector(text: str) -> list[float]:
    """How often each word is in a text, in 256 places; of length 1."""
    vector = [0.0] * 256
    words = [word.strip(".,;:()").lower() for word in text.split()]
    for word in words:
        vector[zlib.crc32(word.encode()) % 256] += 1.0
    length = sum(one * one for one in vector) ** 0.5 or 1.0
    return [one / length for one in vector]


class WordEmbedder:
    """Counts words, each in one of 256 places: texts with words in common are near."""

    name = "words"
    settings: Mapping[str, Any] = {"model": "words"}

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], meter: Meter) -> list[list[float]]:
        self.texts += texts
        meter.record(_CALL, Usage(calls=1, input_tokens=sum(map(len, texts)), cost_usd=0.001))
        return [word_vector(text) for text in texts]


class LexicalResources:
    """`Resources` without a model."""

    def __init__(self) -> None:
        self.splitter = SentenceSplitter.for_language()
        self.memory = RunMemory()
        self.words = WordEmbedder()

    async def prompts(self, named: str | None = None) -> Prompts:
        return load_prompts(PAPER)

    async def judge(self, options: Mapping[str, Any]) -> Judge:
        return engine_named("lexical").judge(Parts(self.splitter.split, Limits(), Samples()))

    async def models(self, options: Mapping[str, Any]) -> StepModels:
        raise InputError("engine lexical asks no model")

    async def embedder(self, named: str | None = None) -> WordEmbedder:
        return self.words

    async def entailment(
        self, named: str | None = None, reading: Mapping[str, Any] | None = None
    ) -> Any:
        raise InputError("no entailment model is set")
