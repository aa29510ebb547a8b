"""Verifying a correction again: by the judge of sentences, or by VeriTrail's walk.

Source: Error-tolerant attribution 7 (fixed, partially fixed, not fixed); VeriTrail 3.1.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from veritrail_graph.graph.content_hash import derived_claim_id
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Claim, Sentence, Status, Verdict, Verification
from veritrail_graph.graph.model.attribution import (
    Faithfulness,
    Recheck,
    Revision,
    RevisionOutcome,
    SourceMode,
)
from veritrail_graph.verifier.attribution.faithfulness import (
    FaithfulnessJudge,
    SentenceMaterial,
    judge_sentence,
)
from veritrail_graph.verifier.claims.extraction import claims_between
from veritrail_graph.verifier.claims.steps import ClaimSteps
from veritrail_graph.verifier.driver import DEFAULT_Q, Observer, Task, verify_claim
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, OverBudget
from veritrail_graph.verifier.ports import Judge, JudgeError, NodeSource, ReadNode, Split
from veritrail_graph.verifier.prompted import results


@dataclass(frozen=True, slots=True)
class Revised:
    """A sentence with a proposed wording.

    Attributes:
        node: The node that holds the sentence.
        sentence: The sentence.
        material: The wording with the sources and the attribution of the sentence.
        revision: The proposed wording.
    """

    node: ReadNode
    sentence: Sentence
    material: SentenceMaterial
    revision: Revision


class Rechecker(Protocol):
    """Verifies corrections again."""

    async def check(self, revised: Revised, meter: Meter) -> tuple[Revision, Faithfulness | None]:
        """Say what became of a sentence that was corrected.

        Args:
            revised: The sentence with its proposed wording.
            meter: Records every call.

        Returns:
            The revision with its outcome, and the label where a judge of sentences gave one.

        Raises:
            VeriTrailError: No answer could be had; that is no outcome.
        """
        ...


@dataclass(frozen=True, slots=True)
class JudgeRechecker:
    """A `Rechecker` that asks whether the corrected sentence is faithful.

    The judge sees what it sees of other sentences; of a correction that was proposed from other
    material, too.

    Attributes:
        judge: Who is asked.
        mode: What the judge sees.
    """

    judge: FaithfulnessJudge
    mode: SourceMode

    async def check(self, revised: Revised, meter: Meter) -> tuple[Revision, Faithfulness | None]:
        """Ask the judge; it reads the sentence as a whole, so nothing is `partly` fixed."""
        answer = await judge_sentence(revised.material, self.mode, self.judge, meter)
        is_fixed = answer.label is Faithfulness.FAITHFUL
        outcome = RevisionOutcome.FIXED if is_fixed else RevisionOutcome.NOT
        revision = revised.revision.replace(outcome=outcome, rechecked_by=Recheck.JUDGE)
        return revision, answer.label


@dataclass(frozen=True, slots=True)
class WalkRechecker:
    """A `Rechecker` that verifies each claim of the corrected sentence by a walk.

    The claims are extracted with the corrected sentence in its place among the others. A sentence
    from which none is extracted is verified as one claim.

    Attributes:
        process_id: The process.
        judge: Selects evidence and gives verdicts.
        claims: The stages of claim extraction.
        split: Splits texts into sentences.
        nodes: Where nodes are read from.
        question: What the process answers, if that is known.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        limit: The most walks at a time.
    """

    process_id: str
    judge: Judge
    claims: ClaimSteps
    split: Split
    nodes: NodeSource
    question: str | None = None
    q: int = DEFAULT_Q
    limit: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(16))

    async def check(self, revised: Revised, meter: Meter) -> tuple[Revision, Faithfulness | None]:
        """Verify its claims: fixed where all are supported, partly some, not where none is."""
        claims = await self._claims(revised, meter)
        walks = (self._walk(one, revised, meter) for one in claims)
        ended = results(await asyncio.gather(*walks, return_exceptions=True))
        supported = sum(one.verdict is Verdict.FULLY_SUPPORTED for one in ended)
        outcome = RevisionOutcome.PARTLY
        if supported in (0, len(ended)):
            outcome = RevisionOutcome.FIXED if supported else RevisionOutcome.NOT
        revision = revised.revision.replace(
            outcome=outcome,
            rechecked_by=Recheck.WALK,
            claims=len(ended),
            supported=supported,
        )
        return revision, None

    async def _claims(self, revised: Revised, meter: Meter) -> tuple[Claim, ...]:
        node_id, old = revised.node.ref.node_id, revised.sentence
        wording, whole = revised.revision.text, revised.node.text
        text = f"{whole[: old.start]}{wording}{whole[old.end :]}"
        found = await claims_between(
            node_id,
            text,
            self.question,
            self.claims,
            self.split,
            meter,
            start=old.start,
            end=old.start + len(wording),
        )
        if found:
            return found
        claim_id = derived_claim_id(node_id, wording)
        return (Claim(claim_id=claim_id, text=wording, node_id=node_id),)

    async def _walk(self, claim: Claim, revised: Revised, meter: Meter) -> Verification:
        """Verify a claim.

        Raises:
            VeriTrailError: The walk gave no verdict.
        """
        faults: list[VeriTrailError] = []
        async with self.limit:
            ended = await verify_claim(
                Task(claim, revised.node.ref),
                self.process_id,
                self.judge,
                self.nodes,
                q=self.q,
                observer=Observer(faulted=faults.append),
                meter=meter,  # of the whole attribution: what one walk cost is not asked for
            )
        if ended.status is Status.SUCCEEDED:
            return ended
        if ended.status is Status.OVER_BUDGET:
            raise OverBudget(ended.error or "the budget is used up")
        if faults and isinstance(faults[0], EndpointRefused):
            raise faults[0]
        raise JudgeError(f"the correction could not be verified: {ended.error}")
