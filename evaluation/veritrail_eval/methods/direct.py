"""A model with a long context reads the source documents whole.

Documents that do not fit together are drawn anew for each claim: in a random order, each that
still fits is taken. They are shown in the order of the process.

Source: VeriTrail 4.2 (direct verification using long-context models).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.documents import documents_of
from veritrail_eval.methods.gathering import Gathering
from veritrail_eval.methods.judging import (
    JUDGE_PARAMETERS,
    judge_options,
    named_roots,
    outcome_of,
    sources_of,
    task_of,
    verdict_prompt,
)
from veritrail_eval.methods.method import Method, MethodOutcome, Resources
from veritrail_eval.methods.registry import MethodKind
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Claim, NodeRef
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judge, Judgement, ReadNode, SplitNode


@dataclass
class Direct:
    """Judges a claim by whole documents.

    Attributes:
        judge_: Gives verdicts.
        splitter: Splits texts into sentences.
        seed: Where the draws come from.
        sources: Which documents are read.
    """

    judge_: Judge
    splitter: SentenceSplitter
    seed: int = 0
    sources: str = "process"
    name: str = "direct"
    _documents: dict[tuple[str, ...], list[ReadNode]] = field(default_factory=dict)
    _sizes: dict[tuple[str, ...], list[int]] = field(default_factory=dict)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The seed, and what decides verdicts."""
        drawn = {"seed": self.seed, "sources": self.sources}
        return {"engine": self.judge_.name, **drawn, **self.judge_.settings}

    async def prepare(self, processes: Sequence[HeldProcess], meter: Meter) -> None:
        """Nothing is done once for all claims."""

    async def judge(
        self, claim: LabelledClaim, process: HeldProcess, meter: Meter
    ) -> MethodOutcome:
        """Read as many documents as fit, and judge.

        Raises:
            EndpointRefused: No call of this run can succeed.
        """

        async def judged() -> Judgement:
            roots = named_roots(claim, process, self.sources)
            names = (process.process_id, *(ref.node_id for ref in roots))
            if names not in self._documents:
                self._documents[names] = self._read(process, roots)
            whole = self._documents[names]
            asked = task_of(claim, process).claim
            shown = self._drawn(asked, claim.key, names)
            judgement = await self.judge_.judge(asked, Found((), tuple(shown)), meter)
            if len(shown) == len(whole):
                return judgement
            said = f"(Of {len(whole)} documents {len(shown)} fitted into the prompt.)"
            return replace(judgement, reasoning=f"{judgement.reasoning} {said}")

        return await outcome_of(claim, meter, judged, indicative=self.judge_.indicative)

    def _read(self, process: HeldProcess, roots: Sequence[NodeRef]) -> list[ReadNode]:
        return [
            SplitNode(one.ref, one.text, self.splitter.split(one.ref.node_id, one.text))
            for one in documents_of(process, roots)
        ]

    def _drawn(self, claim: Claim, key: tuple[str, str], names: tuple[str, ...]) -> list[ReadNode]:
        """All documents where they fit; else those of a random order that still fit."""
        documents = self._documents[names]
        verdicts = verdict_prompt(self.judge_)
        if verdicts is None:
            return list(documents)
        if names not in self._sizes:
            self._sizes[names] = [verdicts.size(document) for document in documents]
        sizes, room = self._sizes[names], verdicts.room(claim)
        if sum(sizes) <= room:
            return list(documents)
        order = list(range(len(documents)))
        random.Random(f"{self.seed}/{'/'.join(key)}").shuffle(order)  # noqa: S311
        taken, used = [], 0
        for place in order:
            if used + sizes[place] <= room:
                taken.append(place)
                used += sizes[place]
        # Of a document that is too long alone, the verdict step shows what fits.
        return [documents[place] for place in sorted(taken or order[:1])]


async def _make(parameters: Mapping[str, Any], resources: Resources) -> Method:
    seed = parameters.get("seed", 0)
    faults = Gathering()
    with faults.keep():
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InputError(f"seed must be a whole number, not {seed!r}")
    with faults.keep():
        sources = sources_of(parameters)
    fixed = {"max_reruns": 0, "sub_claims": False}
    with faults.keep():
        judge = await resources.judge(judge_options(parameters, **fixed))
    faults.refuse()
    return Direct(judge, resources.splitter, seed, sources)


KIND = MethodKind(
    "direct",
    "a model with a long context reads the source documents whole",
    {
        "seed": "where the draws of documents come from",
        "sources": "which documents: process, below or documents",
        **JUDGE_PARAMETERS,
    },
    _make,
)
