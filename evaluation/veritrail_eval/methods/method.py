"""A method of an evaluation: its Protocol, its resources, its prediction for a claim.

Source: VeriTrail 4.2, 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.embeddings.port import Embedder
from veritrail_eval.methods.memory import RunMemory
from veritrail_graph.graph.model import Status, Usage, Verdict
from veritrail_graph.graph.model.noun import Count, Many, NodeId, Noun, OneOf, PublicId, Stage
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.judge import StepModels
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.port import EntailmentModel
from veritrail_graph.verifier.ports import Judge
from veritrail_graph.verifier.prompts import Prompts


class MethodOutcome(Noun):
    """The outcome of a method on one claim; a failure is a status, and no verdict."""

    process_id: PublicId = Field(description="The process.")
    claim_id: PublicId = Field(description="The claim.")
    status: OneOf[Status] = Field(description="Only `succeeded` has a verdict.")
    verdict: OneOf[Verdict] | None = Field(default=None, description="The hard prediction.")
    score: float | None = Field(
        default=None, ge=0, le=1, description="Probability of Fully Supported; null: none."
    )
    reason: str | None = Field(default=None, description="The reasons, or why there is no verdict.")
    usage: Usage = Field(default=Usage(), description="What the calls for this claim cost.")
    nodes_verified: Count | None = Field(
        default=None, description="Nodes that were checked; null: the method checks none."
    )
    iterations: Count | None = Field(default=None, description="Rounds of the walk, if it walks.")
    error_stages: Many[Stage] | None = Field(
        default=None, description="Where the error came in; null: the method does not say."
    )
    error_nodes: Many[NodeId] | None = Field(
        default=None,
        description="The nodes where it may have come in, the likeliest first, however they were "
        "found; null: the method does not say.",
    )
    indicative: bool = Field(
        default=False, description="Whether no model judged, so that the verdict decides nothing."
    )

    @property
    def key(self) -> tuple[str, str]:
        """process_id and claim_id."""
        return self.process_id, self.claim_id


class Method(Protocol):
    """One configuration of a method: a row of the table.

    Attributes:
        name: The method's name, such as `rag`.
        settings: What decides its answers, as JSON: k, thresholds, models, prompts.
    """

    @property
    def name(self) -> str:
        """The method's name."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its answers besides claims and texts, as JSON."""
        ...

    async def prepare(self, processes: Sequence[HeldProcess], meter: Meter) -> None:
        """Do what is done once for all claims, such as embedding the chunks.

        The meter's cost is divided by the number of claims. Source: VeriTrail D.

        Raises:
            VeriTrailError: It could not be done; no claim can be judged.
        """
        ...

    async def judge(
        self, claim: LabelledClaim, process: HeldProcess, meter: Meter
    ) -> MethodOutcome:
        """Judge a claim; a fault becomes a status, and no exception.

        Raises:
            asyncio.CancelledError: The run was stopped.
        """
        ...


class Resources(Protocol):
    """The resources that a method may ask for while it is made; open until the run ends.

    The caller of an evaluation makes these from its settings; all methods of a run share them, and
    with them the answer cache, the budget and the limits of endpoints.
    """

    @property
    def splitter(self) -> SentenceSplitter:
        """Splits texts into sentences: the same for all methods. Source: VeriTrail F."""
        ...

    @property
    def memory(self) -> RunMemory:
        """Return what the configurations of the run share."""
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
