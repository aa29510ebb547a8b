"""The shape of a stored process: what an input that is appended to it is checked against.

Source: VeriTrail 2 (one process as a directed acyclic graph, whenever its nodes came in).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

from veritrail_graph.graph.topology import Topology


@dataclass(frozen=True, slots=True)
class StoredShape:
    """A stored process without its texts; nodes are numbered in the order of their position.

    Attributes:
        process_id: Its id.
        name: What people call it.
        question: What its final output answers, or None.
        source_format: The format that it was read from.
        stage_names: Names of the stages.
        terminals: node_ids of the terminals.
        hash: The content hash.
        warnings: Those of earlier ingests.
        topology: Its nodes, stages and edges.
        digests: `node_digest` by number.
        lengths: Length of the text in characters, by number.
        next_position: The place of the next node.
    """

    process_id: str
    name: str
    question: str | None
    source_format: str
    stage_names: Mapping[int, str]
    terminals: tuple[str, ...]
    hash: str
    warnings: tuple[str, ...]
    topology: Topology
    digests: list[bytes]
    lengths: array[int]
    next_position: int
