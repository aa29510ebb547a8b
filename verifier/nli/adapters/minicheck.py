"""MiniCheck: a checker of documents and claims, over chunks that it reads whole.

A document is cut into chunks of sentences; the claim is scored against each, whole as it is, and
the highest counts (VeriTrail takes the mean of the top k). The published checkpoints of BERT's kind
read one text, document and claim joined by the end-of-sequence token (`VERITRAIL_NLI_TEMPLATE`),
and have two outputs, of which the second is support.

Source: Tang, Laban, Durrett 2024 (MiniCheck), 2 and 4; VeriTrail 4.2 (c), F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters.port import (
    Support,
    filled_chunks,
    mean_of_top,
    sentences,
)
from veritrail_graph.verifier.nli.port import EntailmentModel, Pair
from veritrail_graph.verifier.ports import Split

WORDS = 350
"""Words of a chunk; the checkpoint of 7 billion parameters reads some 24,000."""


@dataclass(frozen=True, slots=True)
class MiniCheck:
    """The highest support of a claim by any chunk.

    Attributes:
        model: Scores a chunk and a claim.
        split: Splits documents into sentences.
        words: The most words of a chunk.
        top: How many of the highest are averaged.
    """

    model: EntailmentModel
    split: Split
    words: int = WORDS
    top: int = 1
    lowest: ClassVar[float] = 0.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "minicheck"

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decides its scores."""
        return {"words": self.words, "top": self.top}

    def chunks(self, document: str) -> list[str]:
        """A document in chunks; see `ChunkedAdapter`."""
        return filled_chunks(sentences(self.split, document), self.words)

    async def scores(self, chunks: Sequence[str], claim: str, meter: Meter) -> list[list[float]]:
        """The score of each chunk, for the claim as a whole; see `ChunkedAdapter`."""
        scores = await self.model.predict([Pair(chunk, claim) for chunk in chunks], meter)
        return [[one.entailment for one in scores]]

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim; `parts` are the chunks' scores. See `Adapter`."""
        [parts] = await self.scores(self.chunks(document), claim, meter)
        return Support(mean_of_top(parts, self.top), tuple(parts))
