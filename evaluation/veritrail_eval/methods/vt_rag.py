"""VeriTrail with retrieval in the place of evidence selection.

In each round the k nodes nearest to the claim are the evidence. Nodes that are no roots are
shown by their own text, since no step summarised what was selected of them.

Source: VeriTrail E.1 (VT-RAG).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.methods.gathering import Gathering
from veritrail_eval.methods.judging import (
    JUDGE_PARAMETERS,
    judge_options,
    whole_number,
)
from veritrail_eval.methods.method import Method, MethodOutcome, Resources
from veritrail_eval.methods.registry import MethodKind
from veritrail_eval.methods.vectors import NodeVectors
from veritrail_eval.methods.veritrail import VeriTrail
from veritrail_graph.graph.model import CitedSentence, Claim, Evidence
from veritrail_graph.verifier.held_process import HeldProcess, SharedHeldNodes
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judge, Judgement, ReadNode, Selection


@dataclass(frozen=True)
class RetrievingJudge:
    """A `Judge` that retrieves evidence, and lets another one give verdicts.

    Attributes:
        verdicts: Gives verdicts.
        k: Nodes that are retrieved in a round.
        vectors: Vectors of nodes.
        process: The process that is walked.
    """

    verdicts: Judge
    k: int
    vectors: NodeVectors
    process: HeldProcess

    @property
    def name(self) -> str:
        """The engine that gives verdicts."""
        return self.verdicts.name

    @property
    def model(self) -> str | None:
        """The model that gives verdicts."""
        return self.verdicts.model

    @property
    def indicative(self) -> bool:
        """As with the judge of verdicts."""
        return self.verdicts.indicative

    @property
    def settings(self) -> Mapping[str, Any]:
        """k, the embedding model, and what decides verdicts."""
        return {"k": self.k, **self.vectors.settings, **self.verdicts.settings}

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """Those that the claim brings: retrieval uses none."""
        del meter
        return claim.sub_claims

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """The nodes nearest to the claim, each with its whole text.

        Raises:
            VeriTrailError: The claim could not be embedded.
        """
        refs = [node.ref for node in nodes]
        near = await self.vectors.nearest(claim.text, self.process, refs, self.k, meter)
        chosen = {ref.node_id for ref in near}
        return Selection(
            tuple(
                Evidence(
                    text=node.text,
                    sentences=tuple(CitedSentence.of(one) for one in node.sentences),
                )
                for node in nodes
                if node.ref.node_id in chosen and node.sentences
            )
        )

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """A verdict on what was retrieved."""
        return await self.verdicts.judge(claim, found, meter)


@dataclass
class VtRag:
    """Walks backward, retrieving nodes in each round.

    Attributes:
        judge_: Gives verdicts.
        k: Nodes that are retrieved in a round.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        vectors: Vectors of nodes.
        nodes: Where nodes are read from, by process.
    """

    judge_: Judge
    k: int
    q: int
    vectors: NodeVectors
    nodes: SharedHeldNodes
    name: str = "vt_rag"

    @property
    def settings(self) -> Mapping[str, Any]:
        """k, q, the embedding model, and what decides verdicts."""
        retrieval = {"k": self.k, "q": self.q, **self.vectors.settings}
        return {"engine": self.judge_.name, **retrieval, **self.judge_.settings}

    async def prepare(self, processes: Sequence[HeldProcess], meter: Meter) -> None:
        """Embed all nodes.

        Raises:
            VeriTrailError: No vectors could be had.
        """
        for process in processes:
            await self.vectors.add(process, process.nodes, meter)

    async def judge(
        self, claim: LabelledClaim, process: HeldProcess, meter: Meter
    ) -> MethodOutcome:
        """Walk.

        Raises:
            EndpointRefused: No call of this run can succeed.
        """
        judge = RetrievingJudge(self.judge_, self.k, self.vectors, process)
        return await VeriTrail(judge, self.q, self.nodes).judge(claim, process, meter)


async def _make(parameters: Mapping[str, Any], resources: Resources) -> Method:
    faults = Gathering()
    with faults.keep():
        k = whole_number(parameters, "k")
    with faults.keep():
        q = whole_number(parameters, "q", 1)
    # What is retrieved is shown whole: the limit of the method is on summaries.
    fixed = {"max_reruns": 0, "sub_claims": False, "verdict_sentences": "none"}
    with faults.keep():
        judge = await resources.judge(judge_options(parameters, **fixed))
    with faults.keep():
        vectors = NodeVectors(await resources.embedder(parameters.get("embedding")))
    faults.refuse()
    return VtRag(judge, k, q, vectors, SharedHeldNodes(resources.splitter))


KIND = MethodKind(
    "vt_rag",
    "walks backward, retrieving the nodes nearest to the claim in each round",
    {
        "k": "nodes that are retrieved in a round",
        "q": "consecutive Not Fully Supported verdicts that stop",
        "embedding": "the embedding model",
        **JUDGE_PARAMETERS,
    },
    _make,
    {"k": (5, 15, 25)},
)
