"""Engine `lexical`: a judge without a model, indicative only.

It compares words, numbers, names and denials, so that everything runs on a fresh machine.
It knows no meaning: what it says is a hint, and every output that it touches says so.

Source: VeriTrail 3.1.2 and 3.1.3 (what is asked of a judge); the method is ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from graph.model import Claim, Evidence
from verifier.engines.lexical.selection import select
from verifier.engines.lexical.verdict import decide
from verifier.ports import Judgement, ReadNode, Selection

__all__ = ["LexicalJudge"]

# Below this a thread costs more than it spares the event loop.
_SENTENCES_IN_LINE = 200


class LexicalJudge:
    """Judges on word, number, name and negation overlap. Limits on prompts do not apply."""

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "lexical"

    @property
    def model(self) -> str | None:
        """None: no model judges."""
        return None

    @property
    def indicative(self) -> bool:
        """True: verdicts are indicative only."""
        return True

    async def select_evidence(self, claim: Claim, nodes: Sequence[ReadNode]) -> Selection:
        """Select sentences that hold much of the claim or say otherwise; one entry a node."""
        if sum(len(node.sentences) for node in nodes) <= _SENTENCES_IN_LINE:
            return Selection(select(claim.text, nodes))
        return Selection(await asyncio.to_thread(select, claim.text, nodes))

    async def judge(
        self, claim: Claim, evidence: Sequence[Evidence], roots: Sequence[ReadNode]
    ) -> Judgement:
        """Give a verdict on the selected sentences and on those of the roots with evidence."""
        if sum(len(node.sentences) for node in roots) <= _SENTENCES_IN_LINE:
            return Judgement(*decide(claim.text, evidence, roots))
        return Judgement(*await asyncio.to_thread(decide, claim.text, evidence, roots))
