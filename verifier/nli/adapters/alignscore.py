"""AlignScore: chunks of a document against sentences of a claim.

A document is cut into chunks of about 350 words, a claim into sentences. A sentence gets the
highest probability of alignment with any chunk; the claim the mean over its sentences.
VeriTrail's baseline takes for each claim the mean of the top k chunks instead of the highest.

Source: Zha et al. 2023 (AlignScore), 3.3; VeriTrail 4.2 (b), F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters.port import (
    Support,
    chunks_of_words,
    mean,
    mean_of_top,
    sentences,
)
from veritrail_graph.verifier.nli.port import EntailmentModel, Pair
from veritrail_graph.verifier.ports import Split

WORDS = 350
"""Words of a chunk."""


@dataclass(frozen=True, slots=True)
class AlignScore:
    """The mean over the claim's sentences of their highest alignment with a chunk.

    Attributes:
        model: Scores a chunk and a sentence.
        split: Splits documents and claims into sentences.
        words: About how many words a chunk has.
        top: How many chunks are averaged for a sentence.
    """

    model: EntailmentModel
    split: Split
    words: int = WORDS
    top: int = 1
    lowest: ClassVar[float] = 0.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "alignscore"

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decides its scores."""
        return {"words": self.words, "top": self.top}

    def chunks(self, document: str) -> list[str]:
        """A document in chunks; see `ChunkedAdapter`."""
        return chunks_of_words(sentences(self.split, document), self.words)

    async def scores(self, chunks: Sequence[str], claim: str, meter: Meter) -> list[list[float]]:
        """For each sentence of a claim the score of each chunk; see `ChunkedAdapter`."""
        said = sentences(self.split, claim)
        pairs = [Pair(chunk, one) for one in said for chunk in chunks]
        scores = [one.entailment for one in await self.model.predict(pairs, meter)]
        size = len(chunks)
        return [scores[start : start + size] for start in range(0, len(scores), size)]

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim; `parts` are those of its sentences. See `Adapter`."""
        rows = await self.scores(self.chunks(document), claim, meter)
        parts = tuple(mean_of_top(row, self.top) for row in rows)
        return Support(mean(parts), parts)
