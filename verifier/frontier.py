"""Frontiers: the candidate nodes of one iteration, and the order they are read in.

Source: VeriTrail 3.1.4 (candidate node selection).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from veritrail_graph.graph.model import NodeRef, frontier_order


def in_order(nodes: Iterable[NodeRef]) -> tuple[NodeRef, ...]:
    """Nodes in the order in which they go into prompts: stage, position, node_id."""
    return tuple(sorted(nodes, key=frontier_order))


def merge_sources(known: dict[str, tuple[str, ...]], new: Mapping[str, tuple[str, ...]]) -> None:
    """Remember which nodes were inputs to which, in an order that no engine decides."""
    for target, source_ids in new.items():
        known[target] = tuple(sorted(source_ids))
