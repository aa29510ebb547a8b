"""The walk in Cypher: lines 18 to 25 of Algorithm 1 as one statement after each iteration.

Which nodes come next, what of them was checked, and whether enough verdicts in a row stop the walk
is the answer of `cypher/walk/next_frontier.cypher`; nothing is followed in memory, and nothing is
kept but texts. Verdicts, evidence and trails are those of the default
(docs/adr/0075-walk-in-cypher.md).

Source: VeriTrail C.1, Algorithm 1 lines 6, 18 to 25.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from veritrail_graph.graph.model import NodeRef
from veritrail_graph.verifier.appeals import WatchedNodes
from veritrail_graph.verifier.nodes import (
    CACHED_CHARACTERS,
    Reader,
    SharedTexts,
    Splitter,
    expect_sources,
)
from veritrail_graph.verifier.ports import (
    FrontierSource,
    NodeSource,
    ReadNode,
    SourceNodes,
    WalkState,
)
from veritrail_graph.verifier.walk import NeedSources

UNDECIDED = "UNDECIDED"
"""Stands for a verdict that the judge did not have."""


class CypherNodes:
    """A `NodeSource` over one process that asks a statement for every frontier.

    Args:
        reader: Where nodes are read from.
        process_id: The process.
        splitter: Splits texts into sentences.
        cached_characters: How many characters of text are held in memory.
    """

    def __init__(
        self,
        reader: Reader,
        process_id: str,
        splitter: Splitter,
        *,
        cached_characters: int = CACHED_CHARACTERS,
    ) -> None:
        self._reader = reader
        self._process_id = process_id
        self._texts = SharedTexts(reader, process_id, splitter, cached_characters)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in this order, split into sentences.

        Raises:
            ProcessChanged: One of them does not exist any more.
        """
        return await self._texts.read(nodes)

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        return await self._reader.copies(self._process_id, node_ids)

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of these nodes without those checked; none of them may be a root.

        Raises:
            ProcessChanged: One of them has no source nodes any more.
        """
        names = [ref.node_id for ref in checked]
        read = await self._reader.source_nodes(
            self._process_id, list(of), with_texts=True, checked=names
        )
        expect_sources(self._process_id, of, read.sources)
        self._texts.take(read.texts)
        nodes = tuple([ref for ref in read.nodes if ref.node_id not in read.passed])
        return SourceNodes(nodes, read.sources)

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """Return whether any source node of these nodes is not checked, and which ones are."""
        return await self.source_nodes(of, checked)

    async def next_frontier(self, of: Collection[str], state: WalkState) -> SourceNodes:
        """The next frontier after an iteration, and the count of line 19, by a statement.

        Raises:
            ProcessChanged: One of the nodes that it leads on from has no source nodes any more.
        """
        read = await self._reader.next_frontier(
            self._process_id,
            [UNDECIDED if verdict is None else verdict.value for verdict in state.verdicts],
            state.q,
            [ref.node_id for ref in state.nodes],
            state.evidence,
            [ref.node_id for ref in state.checked],
        )
        if read.consecutive is None or read.consecutive < state.q:  # else a part of them is told
            expect_sources(self._process_id, of, read.sources)
        self._texts.take(read.texts)
        return SourceNodes(read.nodes, read.sources, read.consecutive)


async def answered_sources(nodes: NodeSource, need: NeedSources) -> SourceNodes:
    """Answer a walk that asks for source nodes.

    Args:
        nodes: Where nodes are read from; one that carries lines 18 to 25 out itself does so.
        need: What is asked for.
    """
    of = [ref.node_id for ref in need.of]
    own = nodes.watched if isinstance(nodes, WatchedNodes) else nodes
    if need.state is not None and isinstance(own, FrontierSource):
        return await own.next_frontier(of, need.state)
    ask = nodes.source_nodes if need.will_read else nodes.left
    return await ask(of, need.checked)
