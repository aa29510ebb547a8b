"""The nodes of a trail from which sentences were selected, and those of them that are shown.

Source: VeriTrail 3.2 (evidence trail).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_graph.graph.exporters.results import selected_sentences
from veritrail_graph.graph.model import (
    CitedSentence,
    Iteration,
    NodeRef,
    Verification,
    frontier_order,
)

MOST_OF_STAGE = 9
"""Cards of one stage that a page shows."""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node with evidence and what was selected from it."""

    ref: NodeRef
    iteration: Iteration
    cited: tuple[CitedSentence, ...]


def found_nodes(verification: Verification, current: int | None) -> list[FoundNode]:
    """Nodes with evidence, those of the later stages first, then in the order of the input."""
    found: dict[str, FoundNode] = {}
    for iteration in verification.iterations:
        if current is not None and iteration.number > current:
            break
        refs = {ref.node_id: ref for ref in iteration.checked}
        cited_of: dict[str, list[CitedSentence]] = {}
        for cited in selected_sentences(iteration):
            cited_of.setdefault(cited.sentence.node_id, []).append(cited)
        for node_id, cited_here in cited_of.items():
            ref = refs.get(node_id)
            if ref is not None and node_id not in found:
                found[node_id] = FoundNode(ref, iteration, tuple(cited_here))
    return sorted(found.values(), key=lambda one: (-one.ref.stage, *frontier_order(one.ref)[1:]))


def chosen_nodes(found: Sequence[FoundNode], most: int) -> list[FoundNode]:
    """Nodes that get a card: in turn one of each stage, as long as there is room."""
    by_stage: dict[int, list[FoundNode]] = {}
    for one in found:
        by_stage.setdefault(one.ref.stage, []).append(one)
    shares = dict.fromkeys(by_stage, 0)
    limits = {stage: min(len(ones), MOST_OF_STAGE) for stage, ones in by_stage.items()}
    left = min(most, sum(limits.values()))
    while left:
        unfinished = [stage for stage, limit in limits.items() if shares[stage] < limit]
        for stage in unfinished[:left]:
            shares[stage] += 1
        left -= len(unfinished[:left])
    return [one for stage, ones in by_stage.items() for one in ones[: shares[stage]]]
