"""The port to embedding models: texts in, vectors out. Source: VeriTrail 4.2, E.1."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from veritrail_graph.verifier.models.port import Meter


class Embedder(Protocol):
    """Gives texts places in a space in which similar texts are near each other."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its vectors, as JSON."""
        ...

    async def embed(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """One vector a text, in their order, all of one length.

        Args:
            texts: Any number of texts, of any length.
            meter: Records calls, where a server is asked.

        Raises:
            VeriTrailError: No vectors could be had.
        """
        ...


def weighted_mean(vectors: Sequence[Sequence[float]], weights: Sequence[float]) -> array[float]:
    """The vector of a text from those of its parts, of length 1: how long parts count. Ours.

    Args:
        vectors: One a part, all of one length; at least one.
        weights: How much each part counts, such as its tokens.
    """
    mean = [
        math.fsum(weight * one for weight, one in zip(weights, column, strict=True))
        for column in zip(*vectors, strict=True)
    ]
    length = math.sqrt(math.fsum(one * one for one in mean)) or 1.0
    return array("f", [one / length for one in mean])
