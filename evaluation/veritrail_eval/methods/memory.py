"""The memory that configurations of a run share: a grid asks a model once, not once a cell.

Source: VeriTrail E.4 (75 configurations of AlignScore differ in how they read the same
probabilities), D (chunks are embedded once).
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from veritrail_eval.embeddings.port import Embedder
from veritrail_eval.figures.cost import cost_anew
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.verifier.models.port import Meter, StepCall
from veritrail_graph.verifier.ports import JudgeError

MOST_SCORES = 8_000_000
"""Probabilities that are kept, of 8 bytes each."""
MOST_NUMBERS = 64_000_000
"""Numbers of vectors that are kept, of 4 bytes each."""

V = TypeVar("V")


class Memory(Generic[V]):
    """Values by key, up to a size in all; what was not used for longest goes first.

    Args:
        most: The most that all sizes add up to.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        """The value of a key; None: it is not kept."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def keep(self, key: Hashable, value: V, size: int) -> None:
        """Keep a value, unless it is too large for the memory as a whole."""
        if size > self._most:
            return
        _, before = self._kept.pop(key, (None, 0))
        self._kept[key] = value, size
        self._size += size - before
        while self._size > self._most:
            _, (_, gone) = self._kept.popitem(last=False)
            self._size -= gone


@dataclass(frozen=True, slots=True)
class Scored:
    """A checker's scores of a claim and its documents.

    Attributes:
        rows: For each sentence of the claim (or the whole claim) the score of each piece of text.
        calls: How many calls it took.
    """

    rows: tuple[Sequence[float], ...]
    calls: int = 0


class Embedded(NamedTuple):
    """A vector of a text, and what it cost.

    Attributes:
        vector: The vector.
        cost_usd: Its share of what the call cost, by the lengths of texts; None: not known.
    """

    vector: Sequence[float]
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class RunMemory:
    """The memory that the configurations of a run share.

    Attributes:
        scores: Scores of claims, by model, adapter, documents and claim.
        vectors: Vectors of texts, by model and text.
    """

    scores: Memory[Scored] = field(default_factory=lambda: Memory(MOST_SCORES))
    vectors: Memory[Embedded] = field(default_factory=lambda: Memory(MOST_NUMBERS))


_REMEMBERED = StepCall("embedding", "", "", "", None)


@dataclass(frozen=True)
class SharedEmbedder:
    """An `Embedder` that embeds no text twice in a run.

    Attributes:
        embedder: Embeds what is new.
        memory: The vectors.
    """

    embedder: Embedder
    memory: Memory[Embedded]

    @property
    def name(self) -> str:
        """The model's name."""
        return self.embedder.name

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its vectors."""
        return self.embedder.settings

    async def embed(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """Embed texts; see `Embedder`. What is remembered counts as one reused call."""
        model = canonical(dict(self.settings))
        keys = [digest_of(model, text) for text in texts]
        found = {key: one for key in keys if (one := self.memory.get(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if found:
            call = _REMEMBERED._replace(model=self.name)
            costs = [one.cost_usd for one in found.values()]
            known = [one for one in costs if one is not None]
            anew = Usage(calls=1, unpriced_calls=1)
            if len(known) == len(costs):
                anew = Usage(calls=1, cost_usd=math.fsum(known))
            meter.record(call, Usage(cached_calls=1, cost_usd=0.0), anew)
        if new:
            for key, one in (await self._embedded(new, meter)).items():
                found[key] = one
                self.memory.keep(key, one, len(one.vector))
        return [found[key].vector for key in keys]

    async def _embedded(self, texts: Mapping[bytes, str], meter: Meter) -> dict[bytes, Embedded]:
        """Vectors of texts that are not remembered, with what each costs."""
        own = Meter()
        try:
            vectors = await self.embedder.embed(list(texts.values()), own)
        finally:
            meter.take(own)
        if len(vectors) != len(texts):
            raise JudgeError(f"{self.name} gave {len(vectors)} vectors for {len(texts)} texts")
        cost = cost_anew(own.total, own.reused)
        whole = sum(map(len, texts.values())) or 1
        return {
            key: Embedded(vector, None if cost is None else cost * len(text) / whole)
            for (key, text), vector in zip(texts.items(), vectors, strict=True)
        }


def digest_of(*parts: bytes | str) -> bytes:
    """A key of 16 bytes for texts that may be long."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "replace") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
