"""The port to entailment models: pairs of texts in, probabilities out.

Source: VeriTrail 4.2, F (NLI methods give a probability that a source entails a claim).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from veritrail_graph.verifier.models.port import Meter


class Pair(NamedTuple):
    """A question to a model: does `premise` say that `hypothesis` holds?"""

    premise: str
    hypothesis: str


class Entailment(NamedTuple):
    """A model's answer for a pair: its own probabilities, from 0 to 1, unchanged.

    Attributes:
        entailment: That the premise entails the hypothesis; of a checker, that it supports it.
        neutral: That it says neither; None: the model tells only support from the rest.
        contradiction: That it contradicts the hypothesis; None: the same.
    """

    entailment: float
    neutral: float | None = None
    contradiction: float | None = None

    @property
    def silence(self) -> float:
        """The neutral probability; of a model that has none, what is left beside support."""
        return 1.0 - self.entailment if self.neutral is None else self.neutral

    @property
    def strength(self) -> float:
        """Return how strongly the premise speaks for or against: the higher of the two."""
        return max(self.entailment, self.contradiction or 0.0)


class EntailmentModel(Protocol):
    """A model that judges pairs, wherever it runs."""

    @property
    def name(self) -> str:
        """Return what the model is called, in trails and messages."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that decide its answers, as JSON: fingerprint, windows, labels."""
        ...

    async def predict(self, pairs: Sequence[Pair], meter: Meter) -> list[Entailment]:
        """Judge pairs, in their order; the answer to a pair does not depend on the others.

        Args:
            pairs: Any number of pairs, of texts of any length.
            meter: Records calls, where a server is asked.

        Raises:
            JudgeError: The model failed, or gave what is no probability.
            ModelError: The server that runs it could not be asked.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
