"""Nodes as they stand in lists, a piece of a node's text, and what of a node was cited.

Source: VeriTrail 2 (nodes, source nodes), VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.graph.model import Role, Verdict
from veritrail_graph.graph.store.database import Row

EXCERPT = 160
"""Characters of a text that are shown in a list."""


@dataclass(frozen=True, slots=True)
class NodeQuery:
    """Which nodes are looked for; None: any.

    Attributes:
        text: With a text or an id that holds this, in capitals or not.
        stage: Of this stage.
        role: Of this role.
        kind: Of this kind.
        cited: True: with sentences that are evidence.
    """

    text: str | None = None
    stage: int | None = None
    role: Role | None = None
    kind: str | None = None
    cited: bool | None = None


ANY_NODE = NodeQuery()


@dataclass(frozen=True, slots=True)
class ListedNode:
    """A node in a list.

    Attributes:
        node_id: Its id in the process.
        stage: Its place in the generative process.
        position: Its place in the input.
        role: Root, intermediate or terminal.
        kind: What sort of text it is, where the input says so.
        step: The step that produced it.
        model: The model that produced it.
        excerpt: How its text begins.
        length: Characters of the whole text.
        upstream: How many source nodes it has.
        downstream: How many nodes it was an input to.
        cited: How many of its sentences are evidence.
    """

    node_id: str
    stage: int
    position: int
    role: Role
    kind: str | None
    step: str | None
    model: str | None
    excerpt: str
    length: int
    upstream: int
    downstream: int
    cited: int

    @property
    def place(self) -> tuple[int, int]:
        """Its place in a list."""
        return self.stage, self.position

    @property
    def is_cut(self) -> bool:
        """Whether its text goes on behind the excerpt."""
        return self.length > EXCERPT


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A source node of a node, or one that it was an input to."""

    node_id: str
    stage: int
    position: int
    role: Role
    kind: str | None
    excerpt: str

    @property
    def place(self) -> tuple[int, int]:
        """Its place in a list."""
        return self.stage, self.position


@dataclass(frozen=True, slots=True)
class NodeText:
    """A piece of a node's text, with what else there is to read of the node.

    Attributes:
        piece: The piece.
        number: Which one it is, counted from 1.
        pieces: How many there are.
        length: Characters of the whole text.
        prompt: The prompt that it was written with, cut where it is very long.
        metadata: All else that the input says of it, as JSON, cut where it is very long.
    """

    piece: str
    number: int
    pieces: int
    length: int
    prompt: str | None
    metadata: str | None


@dataclass(frozen=True, slots=True)
class IntroducedError:
    """A claim into which unsupported content came at a node."""

    claim_id: str
    claim: str
    verification_id: str
    indicative: bool


@dataclass(frozen=True, slots=True)
class CitedSentenceHere:
    """A sentence of a node with a claim that it was cited for.

    Attributes:
        index: Its number in the node, counted from 0.
        text: The sentence.
        claim_id: The claim.
        claim: Its text.
        verification_id: The claim's latest succeeded verification.
        verdict: Its verdict.
        indicative: Whether no model judged.
        is_evidence: Whether it was cited as evidence, and not only as context.
    """

    index: int
    text: str
    claim_id: str
    claim: str
    verification_id: str
    verdict: Verdict
    indicative: bool
    is_evidence: bool


def listed_from(row: Row) -> ListedNode:
    """A node from a row of a list."""
    node_id, stage, position, role, *others = row
    return ListedNode(node_id, stage, position, Role(role), *others)


def neighbour_from(row: Row) -> Neighbour:
    """A neighbour from a row of a list."""
    node_id, stage, position, role, kind, excerpt = row
    return Neighbour(node_id, stage, position, Role(role), kind, excerpt)


def citation_from(row: Row) -> CitedSentenceHere:
    """A cited sentence from a row."""
    index, text, claim_id, claim, verification_id, verdict, indicative, is_evidence = row
    verdict = Verdict(verdict)
    return CitedSentenceHere(
        index, text, claim_id, claim, verification_id, verdict, bool(indicative), is_evidence
    )
