"""The interface of published checkers: a document and a claim in, one score out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Split


@dataclass(frozen=True, slots=True)
class Support:
    """A checker's score for how well a document supports a claim.

    Attributes:
        score: The method's own score; for most of them a probability from 0 to 1.
        parts: The scores that it comes from, such as one for each chunk, in order.
        premise: The text that was judged in the end, where the method chooses one.
    """

    score: float
    parts: tuple[float, ...] = ()
    premise: str | None = None


class Adapter(Protocol):
    """Asks an entailment model in the way of one published method.

    Attributes:
        lowest: The lowest score that it can give; the highest is 1.
    """

    lowest: ClassVar[float]

    @property
    def name(self) -> str:
        """Name of the method."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its scores beside the model, as JSON."""
        ...

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim against a document of any length.

        Raises:
            JudgeError: The model failed.
            ModelError: The server that runs it could not be asked.
        """
        ...


class ChunkedAdapter(Adapter, Protocol):
    """An adapter that scores chunks apart, so that chunks of several documents compete."""

    def chunks(self, document: str) -> list[str]:
        """A document in chunks, in their order."""
        ...

    async def scores(self, chunks: Sequence[str], claim: str, meter: Meter) -> list[list[float]]:
        """For each part of a claim that is judged apart, the score of each chunk.

        Raises:
            JudgeError: The model failed.
            ModelError: The server that runs it could not be asked.
        """
        ...


def sentences(split: Split, text: str) -> list[str]:
    """The sentences of a text, blank ones left out; the text itself where there is none."""
    return [one.text for one in split("", text) if one.text.strip()] or [text]


def chunks_of_words(texts: Sequence[str], words: int) -> list[str]:
    """Sentences joined to chunks of about equally many, each of about so many words.

    Source: AlignScore (Zha et al. 2023, 3.3): as many chunks as `words` go into the text, and one
    more, with equally many sentences in each.
    """
    count = sum(len(text.split()) for text in texts) // words + 1
    size = max(len(texts) // count, 1)
    return [" ".join(texts[start : start + size]) for start in range(0, len(texts), size)]


def filled_chunks(texts: Sequence[str], words: int) -> list[str]:
    """Sentences joined to chunks that are filled up to at most so many words.

    A sentence that is longer is a chunk of its own. Source: MiniCheck (Tang et al. 2024, 2).
    """
    chunks: list[list[str]] = []
    filled = 0
    for text in texts:
        size = len(text.split())
        if not chunks or filled + size > words:
            chunks.append([])
            filled = 0
        chunks[-1].append(text)
        filled += size
    return [" ".join(chunk) for chunk in chunks]


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def mean_of_top(values: Iterable[float], k: int) -> float:
    """The mean of the `k` highest; of all where there are fewer. Source: VeriTrail 4.2."""
    return mean(sorted(values, reverse=True)[:k])
