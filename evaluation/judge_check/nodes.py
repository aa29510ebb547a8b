"""Pairs as one process of two stages in memory: source nodes, and an answer node a claim.

The walk reads them through the same port as it reads a stored process.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from veritrail_graph.evaluation.judge_check.pairs import Pair
from veritrail_graph.graph.model import Claim, NodeRef, Role
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.ports import ReadNode, SourceNodes, Split, SplitNode, in_order

PROCESS = "judge-check"


class PairNodes:
    """A `NodeSource` over pairs; their claims are `tasks`, in the order of the pairs.

    Args:
        pairs: The pairs.
        split: Splits texts into sentences.
    """

    def __init__(self, pairs: Sequence[Pair], split: Split) -> None:
        self._split = split
        self._texts: dict[str, str] = {}
        self._known: dict[str, ReadNode] = {}
        self._sources: dict[str, tuple[NodeRef, ...]] = {}
        self.tasks: list[Task] = []
        for number, pair in enumerate(pairs, start=1):
            answer = NodeRef(f"p{number}/answer", 2, number, Role.TERMINAL)
            self._texts[answer.node_id] = pair.claim
            roots = []
            for place, text in enumerate(pair.source, start=1):
                root = NodeRef(f"p{number}/source/{place}", 1, place, Role.ROOT)
                self._texts[root.node_id] = text
                roots.append(root)
            self._sources[answer.node_id] = tuple(roots)
            claim = Claim(claim_id=f"p{number}", text=pair.claim, node_id=answer.node_id)
            self.tasks.append(Task(claim, answer, place=number))

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of these nodes, without those checked."""
        found = {ref for name in of for ref in self._sources.get(name, ())}
        return SourceNodes(in_order(found.difference(checked)), self._named(of))

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """All source nodes of these nodes."""
        del checked
        return await self.source_nodes(of)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in this order, split into sentences."""
        return tuple(self._known.get(ref.node_id) or self._read(ref) for ref in nodes)

    def _read(self, ref: NodeRef) -> ReadNode:
        text = self._texts[ref.node_id]
        node = self._known[ref.node_id] = SplitNode(ref, text, self._split(ref.node_id, text))
        return node

    def _named(self, of: Collection[str]) -> dict[str, tuple[str, ...]]:
        return {name: tuple(ref.node_id for ref in self._sources.get(name, ())) for name in of}
