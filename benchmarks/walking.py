"""A scripted judge and a splitter that cost next to nothing, and the claims to verify."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    NodeRef,
    Sentence,
    Verdict,
)
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judgement, ReadNode, Selection

SELECTED = 5


class WholeTexts:
    """A splitter for which every text is one sentence."""

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        """The text as one sentence."""
        return (Sentence(node_id, 0, 0, len(text), text),)


@dataclass(slots=True)
class FixedJudge:
    """Selects one sentence in each of a few nodes and always gives the same verdict.

    The nodes are drawn from those of the highest stage of a frontier, by the claim's id, so
    that a walk passes through every stage and claims take ways of their own.

    Attributes:
        verdict: What is said every time.
        iterations: How many verdicts were given.
        nodes_read: How many nodes were read, those of each claim counted.
    """

    verdict: Verdict
    iterations: int = 0
    nodes_read: int = 0
    name: str = "fixed"
    model: str | None = None
    indicative: bool = True

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing that matters."""
        return {}

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """None."""
        del claim, meter
        return ()

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """The sentences of a few nodes of the highest stage."""
        del meter
        self.nodes_read += len(nodes)
        highest = max(node.ref.stage for node in nodes)
        candidates = [node for node in nodes if node.ref.stage == highest]
        draw = random.Random(f"{claim.claim_id} {highest}")
        chosen = draw.sample(candidates, min(SELECTED, len(candidates)))
        cited = tuple(CitedSentence.of(node.sentences[0]) for node in chosen)
        return Selection((Evidence(text="What they say.", sentences=cited),))

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """The same verdict, always."""
        del claim, found, meter
        self.iterations += 1
        return Judgement(self.verdict, "fixed")


def claim_number(number: int, terminal: NodeRef) -> Claim:
    """A claim about the final answer."""
    return Claim(
        claim_id=f"claim-{number}", text=f"Claim number {number}.", node_id=terminal.node_id
    )


def tasks(terminal: NodeRef, count: int) -> list[Task]:
    """So many claims about the final answer."""
    return [Task(claim_number(number, terminal), terminal) for number in range(count)]
