"""The small ports through which the method meets the world.

Algorithm 1 asks for three things: the source nodes of nodes, evidence from nodes, and a
verdict on evidence. A `Judge` gives the last two; a `NodeSource` gives nodes and texts.
Retries, caches, meters and rate limits wrap a judge; the method never sees them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.errors import VeriTrailError
from graph.model import Claim, Evidence, NodeRef, Sentence, Usage, Verdict


class JudgeError(VeriTrailError):
    """A judge could not answer. The verification is `failed` with this reason."""


@dataclass(frozen=True, slots=True)
class ReadNode:
    """A node as it is read: its whole text and the sentences of it.

    Attributes:
        ref: The node.
        text: Its whole text.
        sentences: Its sentences, first to last; offsets are into `text`.
    """

    ref: NodeRef
    text: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer of evidence selection.

    Attributes:
        evidence: One entry for each prompt that found something; empty when none did.
        dropped_ids: How many sentence ids were returned that were not in the prompt.
        usage: What it cost.

    Source: VeriTrail 3.1.2.
    """

    evidence: tuple[Evidence, ...] = ()
    dropped_ids: int = 0
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of verdict generation.

    Attributes:
        verdict: The interim verdict.
        reasoning: The reasons for it, as text.
        score: Share of Fully Supported samples, where samples were drawn; else None.
        usage: What it cost.

    Source: VeriTrail 3.1.3.
    """

    verdict: Verdict
    reasoning: str
    score: float | None = None
    usage: Usage = Usage()


class Judge(Protocol):
    """Whoever answers the two questions of the method.

    `name` is the engine's name, `model` the model's, if there is one; `indicative` says
    that no model judges, so that verdicts are indicative only.
    """

    @property
    def name(self) -> str:
        """Name of the engine."""
        ...

    @property
    def model(self) -> str | None:
        """Name of the model, if a model judges."""
        ...

    @property
    def indicative(self) -> bool:
        """Whether verdicts are indicative only."""
        ...

    async def select_evidence(self, claim: Claim, nodes: Sequence[ReadNode]) -> Selection:
        """Select the sentences of `nodes` that strongly imply that the claim is true or false.

        Raises:
            JudgeError: No answer could be had.
        """
        ...

    async def judge(
        self, claim: Claim, evidence: Sequence[Evidence], roots: Sequence[ReadNode]
    ) -> Judgement:
        """Give a verdict on what was found.

        Args:
            claim: The claim.
            evidence: What this iteration found, in root and non-root nodes alike.
            roots: Every root node with evidence, found now or carried; their whole text counts.

        Raises:
            JudgeError: No answer could be had.
        """
        ...


@dataclass(frozen=True, slots=True)
class SourceNodes:
    """The source nodes of some nodes.

    Attributes:
        nodes: The source nodes, each once, in the order of a frontier.
        sources: node_ids of the source nodes, by the node that they were inputs to.
    """

    nodes: tuple[NodeRef, ...]
    sources: Mapping[str, tuple[str, ...]]


class NodeSource(Protocol):
    """Where the walk reads the process from."""

    async def source_nodes(self, of: Collection[str], *, will_read: bool) -> SourceNodes:
        """The source nodes of the nodes with these ids.

        Args:
            of: node_ids.
            will_read: Whether `read` may follow for them, so that texts are worth fetching.
        """
        ...

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in the order given, split into sentences."""
        ...
