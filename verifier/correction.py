"""Proposing the smallest change of a wrong claim that its own evidence supports.

Where a value was turned on the way, that of the source takes its place, and no model is asked. Else
a model corrects the claim by the source text that was selected for it. What is proposed is judged
again, as a claim of the same node, before anybody sees it.

Source: Error-tolerant attribution 7 (as few changes as possible), which corrects sentences.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from veritrail_graph.graph.model import Claim, NodeRef, Role, Verdict, Verification
from veritrail_graph.graph.model.attribution import AttributedSentence, SourceMode
from veritrail_graph.verifier.attribution.faithfulness import SentenceMaterial, correct_sentence
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import NodeSource, Split
from veritrail_graph.verifier.prompted import PromptedStep


@dataclass(frozen=True, slots=True)
class Corrector:
    """Proposes wordings of claims that are Not Fully Supported.

    Attributes:
        step: The prompt and the model; None: no model is asked, only values are put right.
        split: Splits texts into sentences.
    """

    step: PromptedStep | None
    split: Split

    async def correction(
        self,
        found: Verification,
        nodes: NodeSource,
        judged: Callable[[Claim], Awaitable[Verdict | None]],
        meter: Meter,
    ) -> str | None:
        """Return the first proposal that is Fully Supported; None: there is none.

        Args:
            found: The verification of a claim that is Not Fully Supported, with its trail.
            nodes: Where nodes are read from.
            judged: Verifies a claim about the same node.
            meter: Records what it costs.

        Raises:
            VeriTrailError: An answer could not be had.
        """
        async for text in self._proposals(found, nodes, meter):
            if text.split() == found.claim.split():
                continue
            claim = Claim(claim_id=found.claim_id, text=text, node_id=found.node_id)
            if await judged(claim) is Verdict.FULLY_SUPPORTED:
                return text
        return None

    async def _proposals(
        self, found: Verification, nodes: NodeSource, meter: Meter
    ) -> AsyncIterator[str]:
        if (text := with_source_value(found)) is not None:
            yield text
        if self.step is None:
            return
        material = await _material(found, nodes)
        if material.attributed:
            proposed = await correct_sentence(
                material, SourceMode.ATTRIBUTION, self.step, meter, self.split
            )
            if proposed is not None:
                yield proposed


def with_source_value(found: Verification) -> str | None:
    """Return a claim with the value of the source in place of the one that was turned.

    None: no value leads to its error, or the claim does not have it exactly once.
    """
    place = found.value_place
    if place is None or found.claim.count(place.difference.wrote) != 1:
        return None
    return found.claim.replace(place.difference.wrote, place.difference.source)


async def _material(found: Verification, nodes: NodeSource) -> SentenceMaterial:
    """The claim with the source text that was selected for it, context of the evidence with it."""
    roots: dict[str, NodeRef] = {
        ref.node_id: ref
        for iteration in found.iterations
        for ref in (*iteration.checked, *iteration.carried_roots)
        if ref.role is Role.ROOT
    }
    cited = {
        (one.node_id, one.sentence): one
        for iteration in found.iterations
        for one in iteration.evidence
        if one.node_id in roots
    }
    named = dict.fromkeys(node_id for node_id, _ in cited)
    sources = await nodes.read([roots[node_id] for node_id in named])
    attributed = [
        AttributedSentence(
            node_id=one.node_id,
            sentence=one.sentence,
            start=one.start,
            end=one.end,
            text=one.text,
            categories=(),
        )
        for one in cited.values()
    ]
    return SentenceMaterial(found.claim, sources, attributed)
