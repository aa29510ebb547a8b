"""What a process is made of: nodes, edges, claims, and what is known of the whole.

Source: VeriTrail 2 (the conceptual framework).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Any


class Role(StrEnum):
    """What a node is to its process. Source: VeriTrail 2."""

    ROOT = "root"
    INTERMEDIATE = "intermediate"
    TERMINAL = "terminal"


class Verdict(StrEnum):
    """The three verdicts of the paper. Source: VeriTrail 2."""

    FULLY_SUPPORTED = "FULLY_SUPPORTED"
    NOT_FULLY_SUPPORTED = "NOT_FULLY_SUPPORTED"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node without its text: what the walk needs to know of it.

    Attributes:
        node_id: The node's id in its process.
        stage: Its place in the generative process (an integer >= 0).
        position: Its place in the input, counted from 0.
        role: Root, intermediate or terminal.
    """

    node_id: str
    stage: int
    position: int
    role: Role

    def __hash__(self) -> int:
        return hash(self.node_id)  # ids differ within a process; frontiers are sets of thousands

    @property
    def is_root(self) -> bool:
        """Whether the node is source material, which a claim is checked against."""
        return self.role is Role.ROOT


frontier_order = attrgetter("stage", "position", "node_id")
"""Sort key of nodes in a frontier: stage, then place in the input, then id."""


@dataclass(frozen=True, slots=True)
class Span:
    """A node of a process with its text. Source: VeriTrail 2 (a node is a text span)."""

    node_id: str
    text: str
    stage: int
    position: int
    role: Role
    kind: str | None = None
    step: str | None = None
    model: str | None = None
    prompt: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ref(self) -> NodeRef:
        """The node without its text."""
        return NodeRef(self.node_id, self.stage, self.position, self.role)


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` was an input to the step that produced `target`.

    Attributes:
        source: node_id of the input.
        target: node_id of what was produced from it.
        cited: Whether the target cites the source, where the importer knows; else None.
    """

    source: str
    target: str
    cited: bool | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A self-contained, verifiable statement about one node.

    Attributes:
        claim_id: Unique within the process.
        text: The statement.
        node_id: The node whose content it states; never a root.
        start: Offset of its place in the node's text in code points, or None.
        end: Offset just behind it, or None; given together with `start`.
        sub_claims: Simpler statements it is made of; context only. Source: VeriTrail 3.1.1.
        label: A person's label, for evaluation; never read by a judge.
        also: Other places of the same claim in the node's text, as (start, end), where it is
            made more than once.
    """

    claim_id: str
    text: str
    node_id: str
    start: int | None = None
    end: int | None = None
    sub_claims: tuple[str, ...] = ()
    label: Verdict | None = None
    also: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Process:
    """A stored process without its nodes.

    Attributes:
        process_id: Its id.
        name: What people call it.
        question: What its final output answers, if it answers a question.
        source_format: The format it was read from (`veritrail.process/1`, `graphrag`, …).
        content_hash: SHA-256 over nodes, edges, stages and terminals, in hexadecimal.
        stages: Number of nodes by stage.
        stage_names: What the stages are called, where the input says so.
        terminals: node_ids of the final outputs.
        nodes: Number of nodes.
        edges: Number of edges.
        claims: Number of claims.
        warnings: What the input does not hold, and how that was bridged.
    """

    process_id: str
    name: str
    question: str | None
    source_format: str
    content_hash: str
    stages: Mapping[int, int]
    stage_names: Mapping[int, str]
    terminals: tuple[str, ...]
    nodes: int
    edges: int
    claims: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourcesRead:
    """src() of some nodes as it is read from a graph.

    Attributes:
        nodes: The source nodes, each once, in the order of a frontier.
        sources: node_ids of the source nodes, by the node that they were inputs to.
        texts: Texts of the source nodes by node_id, where they were asked for.
    """

    nodes: tuple[NodeRef, ...]
    sources: dict[str, tuple[str, ...]]
    texts: dict[str, str]
