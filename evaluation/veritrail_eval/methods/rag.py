"""Retrieval: the chunks nearest to the claim, and one verdict on them.

Source: VeriTrail 4.2 (RAG), D (the chunks are embedded once).
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
    judge_texts,
    named_roots,
    outcome_of,
    sources_of,
    task_of,
    whole_number,
)
from veritrail_eval.methods.method import Method, MethodOutcome, Resources
from veritrail_eval.methods.registry import MethodKind
from veritrail_eval.methods.vectors import NodeVectors
from veritrail_graph.verifier.held_process import HeldProcess, SharedHeldNodes
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Judge, Judgement


@dataclass
class Rag:
    """Judges a claim by the k chunks nearest to it.

    Attributes:
        judge_: Gives verdicts.
        k: Chunks that are retrieved.
        vectors: Vectors of the chunks.
        nodes: Where nodes are read from, by process.
        sources: Which chunks may be retrieved.
    """

    judge_: Judge
    k: int
    vectors: NodeVectors
    nodes: SharedHeldNodes
    sources: str = "process"
    name: str = "rag"

    @property
    def settings(self) -> Mapping[str, Any]:
        """k, the embedding model, and what decides verdicts."""
        retrieval = {"k": self.k, "sources": self.sources, **self.vectors.settings}
        return {"engine": self.judge_.name, **retrieval, **self.judge_.settings}

    async def prepare(self, processes: Sequence[HeldProcess], meter: Meter) -> None:
        """Embed all chunks.

        Raises:
            VeriTrailError: No vectors could be had.
        """
        for process in processes:
            await self.vectors.add(process, process.roots, meter)

    async def judge(
        self, claim: LabelledClaim, process: HeldProcess, meter: Meter
    ) -> MethodOutcome:
        """Retrieve and judge.

        Raises:
            EndpointRefused: No call of this run can succeed.
        """

        async def judged() -> Judgement:
            roots = named_roots(claim, process, self.sources)
            near = await self.vectors.nearest(claim.text, process, roots, self.k, meter)
            texts = await self.nodes.of(process).read(near)
            return await judge_texts(self.judge_, task_of(claim, process).claim, texts, meter)

        return await outcome_of(claim, meter, judged, indicative=self.judge_.indicative)


async def _make(parameters: Mapping[str, Any], resources: Resources) -> Method:
    faults = Gathering()
    with faults.keep():
        k = whole_number(parameters, "k")
    with faults.keep():
        sources = sources_of(parameters)
    fixed = {"max_reruns": 0, "sub_claims": False}
    with faults.keep():
        judge = await resources.judge(judge_options(parameters, **fixed))
    with faults.keep():
        vectors = NodeVectors(await resources.embedder(parameters.get("embedding")))
    faults.refuse()
    return Rag(judge, k, vectors, SharedHeldNodes(resources.splitter), sources)


KIND = MethodKind(
    "rag",
    "retrieves the chunks nearest to the claim, and judges it by them",
    {
        "k": "chunks that are retrieved",
        "embedding": "the embedding model",
        "sources": "which chunks: process, below or documents",
        **JUDGE_PARAMETERS,
    },
    _make,
    {"k": (1, 3, 5, 10, 15, 20, 25, 30)},
)
