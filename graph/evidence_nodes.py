"""The nodes that bear evidence in a verification, with what was selected from each.

Source: VeriTrail 3.2 (evidence trail).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    Iteration,
    NodeRef,
    Verification,
    frontier_order,
)


@dataclass(frozen=True, slots=True)
class EvidenceNode:
    """A node with evidence.

    Attributes:
        ref: The node.
        iteration: The iteration that selected from it, counted from 1.
        cited: What was selected from it, in the order of its text.
        summary: What the model said of it and the other nodes of its prompt, or None.
        introduced: Whether unsupported content came in here, or in another of the error nodes.
        among: How many error nodes there are.
        inherited: Whether it only carried unsupported content on.
        feeds: node_ids of the trail that it was an input to.
    """

    ref: NodeRef
    iteration: int
    cited: tuple[CitedSentence, ...]
    summary: Evidence | None = None
    introduced: bool = False
    among: int = 0
    inherited: bool = False
    feeds: tuple[str, ...] = ()

    @property
    def node_id(self) -> str:
        """The node's id."""
        return self.ref.node_id


@dataclass(frozen=True, slots=True)
class EvidenceFinder:
    """The nodes with evidence of a verification, and what each of them looks up."""

    feeds: Mapping[str, Mapping[str, None]] = field(default_factory=dict)
    introduced: frozenset[str] = frozenset()
    inherited: frozenset[str] = frozenset()

    @classmethod
    def of(cls, verification: Verification) -> EvidenceFinder:
        """Return the finder of a verification."""
        feeds: dict[str, dict[str, None]] = {}
        for path in verification.paths:
            feeds.setdefault(path.source, {})[path.target] = None
        return cls(
            feeds,
            frozenset(node.node_id for node in verification.error_nodes),
            frozenset(node.node_id for node in verification.propagated_nodes),
        )

    def nodes(self, iteration: Iteration) -> Iterable[EvidenceNode]:
        """The nodes from which an iteration selected."""
        refs = {ref.node_id: ref for ref in iteration.checked}
        summaries: dict[str, Evidence] = {}
        for evidence in iteration.summaries:
            if evidence.text:
                for name in evidence.node_ids:
                    summaries.setdefault(name, evidence)
        cited_of: dict[str, list[CitedSentence]] = {}
        for cited in iteration.evidence:
            cited_of.setdefault(cited.node_id, []).append(cited)
        for name, each in cited_of.items():
            if name in refs:
                yield EvidenceNode(
                    ref=refs[name],
                    iteration=iteration.number,
                    cited=tuple(each),
                    summary=summaries.get(name),
                    introduced=name in self.introduced,
                    among=len(self.introduced),
                    inherited=name in self.inherited,
                    feeds=tuple(self.feeds.get(name, ())),
                )


def evidence_nodes(verification: Verification) -> tuple[EvidenceNode, ...]:
    """Return the nodes with evidence, each once, from the answer to the sources.

    Of a verification that was read from JSON no stages are known, and none is returned.
    """
    finder = EvidenceFinder.of(verification)
    found: dict[str, EvidenceNode] = {}
    for iteration in verification.iterations:
        for node in finder.nodes(iteration):
            found.setdefault(node.node_id, node)
    known = [node for node in found.values() if node.ref.stage is not None]
    known.sort(key=lambda node: frontier_order(node.ref))
    known.sort(key=lambda node: -node.ref.known_stage)
    return tuple(known)
