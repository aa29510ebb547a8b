"""What methods are given to work with: models, prompts, a splitter, embeddings, entailment.

The caller of an evaluation makes these from its settings; all methods of a run share them, and
with them the answer cache, the budget and the limits of endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from veritrail_graph.evaluation.methods.memory import RunMemory
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.embeddings.port import Embedder
from veritrail_graph.verifier.judge import StepModels
from veritrail_graph.verifier.nli.port import EntailmentModel
from veritrail_graph.verifier.ports import Judge
from veritrail_graph.verifier.prompts import Prompts


class Resources(Protocol):
    """What a method may ask for while it is made; what it asks for is open until the run ends."""

    @property
    def splitter(self) -> SentenceSplitter:
        """Splits texts into sentences: the same for all methods. Source: VeriTrail F."""
        ...

    @property
    def memory(self) -> RunMemory:
        """What the configurations of the run share."""
        ...

    def path(self, named: object, parameter: str) -> Path:
        """The file or folder that a parameter names, relative to the matrix.

        Raises:
            InputError: It is no text, or there is none.
        """
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

    async def entailment(
        self, named: str | None = None, reading: Mapping[str, Any] | None = None
    ) -> EntailmentModel:
        """The entailment model that is named, or the one of the settings.

        Args:
            named: A folder, the address of a server, or the name of a fetched model.
            reading: How a named one reads: `window`, `labels`, `template`, as the settings
                `VERITRAIL_NLI_…` say it of theirs.

        Raises:
            InputError: There is none.
        """
        ...
