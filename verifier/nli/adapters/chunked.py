"""Checkers that score chunks of a document, or the document whole: MiniCheck, AlignScore, HHEM.

Sources: Tang, Laban, Durrett 2024 (MiniCheck), 2 and 4; Zha et al. 2023 (AlignScore), 3.3; Vectara,
Hughes Hallucination Evaluation Model (model cards of HHEM-1.0 and HHEM-2.1-Open); VeriTrail 4.2
(b), (c), F.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters.port import (
    Support,
    chunks_of_words,
    filled_chunks,
    mean,
    mean_of_top,
    sentences,
)
from veritrail_graph.verifier.nli.port import EntailmentModel, Pair
from veritrail_graph.verifier.ports import Split

WORDS = 350
"""Words of a chunk; the checkpoint of MiniCheck with 7 billion parameters reads some 24,000."""


@dataclass(frozen=True, slots=True)
class _Chunked(ABC):
    """A `ChunkedAdapter`: each part of a claim gets the mean of its `top` highest chunks.

    Attributes:
        model: Scores a chunk and a part of a claim.
        split: Splits texts into sentences.
        words: How many words a chunk has.
        top: How many of the highest chunks are averaged; VeriTrail averages the top k of them.
    """

    model: EntailmentModel
    split: Split
    words: int = WORDS
    top: int = 1
    lowest: ClassVar[float] = 0.0

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its scores."""
        return {"words": self.words, "top": self.top}

    @abstractmethod
    def chunks(self, document: str) -> list[str]:
        """A document in chunks; see `ChunkedAdapter`."""

    @abstractmethod
    def parts(self, claim: str) -> list[str]:
        """Return what of a claim is scored by itself."""

    async def scores(self, chunks: Sequence[str], claim: str, meter: Meter) -> list[list[float]]:
        """For each part of a claim the score of each chunk; see `ChunkedAdapter`."""
        parts = self.parts(claim)
        pairs = [Pair(chunk, part) for part in parts for chunk in chunks]
        scores = [one.entailment for one in await self.model.predict(pairs, meter)]
        size = len(chunks)
        return [scores[number * size : (number + 1) * size] for number in range(len(parts))]


@dataclass(frozen=True, slots=True)
class MiniCheck(_Chunked):
    """The highest support of a claim by any chunk; the claim is scored whole as it is.

    The published checkpoints of BERT's kind read one text, document and claim joined by the
    end-of-sequence token (`VERITRAIL_NLI_TEMPLATE`), and have two outputs, of which the second is
    support.
    """

    @property
    def name(self) -> str:
        """Name of the method."""
        return "minicheck"

    def chunks(self, document: str) -> list[str]:
        """Sentences joined to chunks that hold at most `words` words."""
        return filled_chunks(sentences(self.split, document), self.words)

    def parts(self, claim: str) -> list[str]:
        """The claim whole."""
        return [claim]

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim; `parts` are the chunks' scores. See `Adapter`."""
        [parts] = await self.scores(self.chunks(document), claim, meter)
        return Support(mean_of_top(parts, self.top), tuple(parts))


@dataclass(frozen=True, slots=True)
class AlignScore(_Chunked):
    """The mean over the claim's sentences of their highest alignment with a chunk."""

    @property
    def name(self) -> str:
        """Name of the method."""
        return "alignscore"

    def chunks(self, document: str) -> list[str]:
        """Chunks of equally many sentences, with about `words` words each."""
        return chunks_of_words(sentences(self.split, document), self.words)

    def parts(self, claim: str) -> list[str]:
        """The sentences of the claim."""
        return sentences(self.split, claim)

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim; `parts` are those of its sentences. See `Adapter`."""
        rows = await self.scores(self.chunks(document), claim, meter)
        parts = tuple(mean_of_top(row, self.top) for row in rows)
        return Support(mean(parts), parts)


@dataclass(frozen=True, slots=True)
class Hhem:
    """The consistency of a claim with a document: both as they are, without chunks.

    Version 1 reads the two as a pair and has one output; version 2 reads one text made of a
    template (`VERITRAIL_NLI_TEMPLATE`, as the model's card gives it) and has two outputs, of which
    the second is consistency. A document that is longer than the model reads is read in windows,
    and the highest counts.

    Attributes:
        model: Scores a document and a claim.
    """

    model: EntailmentModel
    lowest: ClassVar[float] = 0.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "hhem"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing beside the model decides."""
        return {}

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim. See `Adapter`."""
        [score] = await self.model.predict([Pair(document, claim)], meter)
        return Support(score.entailment, (score.entailment,))
