"""Judging a claim by a checker's score: documents, the k highest scores, a threshold.

Source: VeriTrail 4.2 (NLI methods and thresholds), E.3 (native scores), F (one document a claim, or
all pairs of documents and claims).
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.documents import documents_of
from veritrail_eval.methods.judging import named_roots, outcome_of
from veritrail_eval.methods.memory import Memory, Scored, digest_of
from veritrail_eval.methods.method import MethodOutcome
from veritrail_graph.graph.model import NodeRef, Usage, Verdict
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.models.port import Meter, StepCall
from veritrail_graph.verifier.nli.adapters import Adapter, ChunkedAdapter, mean, mean_of_top
from veritrail_graph.verifier.nli.port import EntailmentModel
from veritrail_graph.verifier.ports import JudgeError, Judgement

ONE, ALL = "one", "all"

_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that turns scores into a verdict.

    Attributes:
        threshold: A claim with a score of it or more is Fully Supported.
        k: How many of the highest scores are averaged.
        documents: `one`: all source text is one document; `all`: each document is scored apart.
        sources: Which source text: `process`, `below` or `documents`.
        lowest: The lowest score of the adapter. The threshold is on its scale; the score that is
            kept is brought to 0 to 1.
    """

    threshold: float
    k: int = 1
    documents: str = ALL
    sources: str = "process"
    lowest: float = 0.0

    def native(self, scored: Scored) -> float:
        """The checker's own score: over a claim's parts, the mean of the k highest.

        Source: VeriTrail 4.2, F.
        """
        native = mean([mean_of_top(row, self.k) for row in scored.rows])
        # A mean may pass the bound by a rounding.
        return min(max(native, self.lowest), 1.0)

    def probability(self, native: float) -> float:
        """The score of an outcome, from 0 to 1, in the order of the native one."""
        return (native - self.lowest) / (1.0 - self.lowest)


@dataclass
class Checker:
    """A published checker as a method.

    Configurations that differ in k and threshold share what the model said.

    Attributes:
        name: The method's name.
        adapter: Asks the model in the checker's way.
        model: The entailment model.
        rule: How scores become a verdict.
        memory: What the model said in this run.
    """

    name: str
    adapter: Adapter
    model: EntailmentModel
    rule: Rule
    memory: Memory[Scored]
    _pieces: dict[_Key, list[str]] = field(default_factory=dict)
    _cutting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model, how it is asked, k, the threshold and the documents."""
        return {
            **self._asked,
            "k": self.rule.k,
            "threshold": self.rule.threshold,
        }

    @property
    def _asked(self) -> dict[str, Any]:
        """Return what decides what the model says."""
        return {
            "adapter": {name: one for name, one in self.adapter.settings.items() if name != "top"},
            "entailment": dict(self.model.settings),
            "documents": self.rule.documents,
            "sources": self.rule.sources,
        }

    async def prepare(self, processes: Sequence[HeldProcess], meter: Meter) -> None:
        """Nothing is paid once for all claims."""

    async def judge(
        self, claim: LabelledClaim, process: HeldProcess, meter: Meter
    ) -> MethodOutcome:
        """Score a claim.

        Raises:
            EndpointRefused: No call of this run can succeed.
        """

        async def judged() -> Judgement:
            scored = await self._scored(claim, process, meter)
            rule, score = self.rule, self.rule.native(scored)
            is_supported = score >= rule.threshold
            verdict = Verdict.FULLY_SUPPORTED if is_supported else Verdict.NOT_FULLY_SUPPORTED
            count = len(scored.rows[0])
            averaged = min(rule.k, count)
            highest = f"the mean of the {averaged} highest" if averaged > 1 else "the highest"
            kind = "chunk" if _is_chunked(self.adapter) else "document"
            of = f"{highest} of {count:,} {kind}s" if count > 1 else f"one {kind}"
            reason = (
                f"{self.name} by {self.model.name}: {score:.4f} ({of}; threshold "
                f"{rule.threshold:g})"
            )
            return Judgement(verdict, reason, rule.probability(score))

        return await outcome_of(claim, meter, judged)

    async def _scored(self, claim: LabelledClaim, process: HeldProcess, meter: Meter) -> Scored:
        roots = named_roots(claim, process, self.rule.sources)
        names = (process.process_id, *(ref.node_id for ref in roots))
        key = digest_of(
            canonical({"method": self.name, **self._asked}),
            canonical([process.survey.hash, *names]),
            claim.text,
        )
        known = self.memory.get(key)
        if known is not None:
            if known.calls:
                call = StepCall("entailment", "", "", self.model.name, None)
                # What an entailment server costs is not known.
                anew = Usage(calls=known.calls, unpriced_calls=known.calls)
                meter.record(call, Usage(cached_calls=known.calls, cost_usd=0.0), anew)
            return known
        pieces = await self._pieces_of(names, process, roots)
        before = meter.total
        rows = await self._asked_of(pieces, claim.text, meter)
        after = meter.total
        calls = after.calls + after.cached_calls - before.calls - before.cached_calls
        scored = Scored(tuple(array("d", row) for row in rows), calls)
        self.memory.keep(key, scored, sum(map(len, rows)))
        return scored

    async def _pieces_of(
        self, names: _Key, process: HeldProcess, roots: Sequence[NodeRef]
    ) -> list[str]:
        """The chunks or documents that a claim is compared with, cut once for all claims.

        Raises:
            JudgeError: There is no text.
        """
        async with self._cutting:
            if names not in self._pieces:
                self._pieces[names] = await asyncio.to_thread(self._cut, process, roots)
        if not self._pieces[names]:
            raise JudgeError("there is no source text to compare the claim with")
        return self._pieces[names]

    def _cut(self, process: HeldProcess, roots: Sequence[NodeRef]) -> list[str]:
        texts = [one.text for one in documents_of(process, roots) if one.text.strip()]
        if self.rule.documents == ONE and texts:
            texts = ["\n".join(texts)]
        if not _is_chunked(self.adapter):
            return texts
        return [chunk for text in texts for chunk in self.adapter.chunks(text) if chunk.strip()]

    async def _asked_of(self, pieces: Sequence[str], claim: str, meter: Meter) -> list[list[float]]:
        if _is_chunked(self.adapter):
            return await self.adapter.scores(pieces, claim, meter)
        return [[(await self.adapter.support(text, claim, meter)).score for text in pieces]]


def _is_chunked(adapter: Adapter) -> TypeGuard[ChunkedAdapter]:
    return hasattr(adapter, "chunks")
