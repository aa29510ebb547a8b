"""What methods are given to work with: models, prompts, a splitter, embeddings, entailment.

Whoever runs an evaluation makes these from its settings; all methods of a run share them, and
with them the answer cache, the budget and the limits of endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.judge import StepModels
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Judge
from veritrail_graph.verifier.prompts import Prompts


class Embedder(Protocol):
    """Gives texts places in a space in which similar texts are near each other."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    async def embed(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """One vector a text, all of one length.

        Raises:
            VeriTrailError: No vectors could be had.
        """
        ...


class EntailmentModel(Protocol):
    """Says how probable it is that a hypothesis follows from a premise."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    async def probabilities(
        self, pairs: Sequence[tuple[str, str]], meter: Meter
    ) -> Sequence[Mapping[str, float]]:
        """For each (premise, hypothesis) its `entailment`, `neutral` and `contradiction`.

        A model that knows support alone gives `entailment` alone.

        Raises:
            VeriTrailError: No probabilities could be had.
        """
        ...


class Resources(Protocol):
    """What a method may ask for while it is made; what it asks for is open until the run ends."""

    @property
    def splitter(self) -> SentenceSplitter:
        """Splits texts into sentences: the same for all methods. Source: VeriTrail F."""
        ...

    async def prompts(self, named: str | None = None) -> Prompts:
        """Our prompts, or those of a folder or variant.

        Raises:
            InputError: They cannot be used.
        """
        ...

    async def judge(self, options: Mapping[str, Any]) -> Judge:
        """A judge as `veritrail verify` makes it, from options named as in REST's request.

        Raises:
            InputError: An option is wrong.
        """
        ...

    async def models(self, options: Mapping[str, Any]) -> StepModels:
        """The models of the steps of an engine that asks models.

        Raises:
            InputError: An option is wrong, or the engine asks no model.
        """
        ...

    async def embedder(self, named: str | None = None) -> Embedder:
        """The embedding model that is named, or the one of the settings.

        Raises:
            InputError: There is none.
        """
        ...

    async def entailment(self, named: str | None = None) -> EntailmentModel:
        """The entailment model that is named, or the one of the settings.

        Raises:
            InputError: There is none.
        """
        ...
