"""Parts of a process around a node, and how many edges there are between its stages.

Source: VeriTrail 2 (u was an input to the step that produced v).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from veritrail_graph.graph.model.process import EdgeFacts

StageEdges = Mapping[tuple[int, int], int]
"""How many edges there are, by stage of the source and stage of the target."""


class Direction(StrEnum):
    """Which way to walk. Both: what the node was made from, and what was made of it."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Degrees:
    """A node with how many neighbours it has on either side."""

    node_id: str
    upstream: int
    downstream: int


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A node of a lineage.

    Attributes:
        node_id: The node.
        stage: Its stage.
        upstream: How many source nodes it has.
        downstream: How many nodes it was an input to.
        hidden_upstream: How many of its source nodes the lineage does not show.
        hidden_downstream: How many of the nodes that it was an input to are not shown.
    """

    node_id: str
    stage: int
    upstream: int
    downstream: int
    hidden_upstream: int
    hidden_downstream: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """A part of a process around one node.

    Attributes:
        root: The node.
        nodes: The node and those around it, by stage and place in the input.
        edges: All edges between them, as (source, target).
        truncated_by: Why there is more that way: `time`, `limit` or `depth`; None: there is not.
        inferred: What is known of those edges that the input does not name.
    """

    root: str
    nodes: tuple[LineageNode, ...]
    edges: tuple[tuple[str, str], ...]
    truncated_by: str | None
    inferred: Mapping[tuple[str, str], EdgeFacts] = field(default_factory=dict)
