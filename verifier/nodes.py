"""Nodes for the walk, read from the store and shared between the claims of a run.

What one claim has read, the next need not read again: the sources of a node are asked for
once a run, and texts stay split into sentences while they fit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from veritrail_graph.graph.model import NodeRef
from veritrail_graph.verifier.ports import ReadNode, SourceNodes
from veritrail_graph.verifier.sources import ProcessChanged, SharedSources, Size, SourceReader
from veritrail_graph.verifier.texts import CACHED_CHARACTERS, SharedTexts, Splitter, TextReader

__all__ = ["ProcessChanged", "Reader", "SharedNodes", "Splitter"]


class Reader(SourceReader, TextReader, Protocol):
    """Reads nodes of processes; `graph.store.NodeReader` is one."""


class SharedNodes:
    """A `NodeSource` over one process that remembers what it has read.

    Args:
        reader: Where nodes are read from.
        process_id: The process.
        splitter: Splits texts into sentences.
        size: How many nodes the process has, where that is known.
        edges: How many edges it has.
        cached_characters: How many characters of text are kept, split into sentences.
    """

    def __init__(
        self,
        reader: Reader,
        process_id: str,
        splitter: Splitter,
        *,
        size: int = 0,
        edges: int = 0,
        cached_characters: int = CACHED_CHARACTERS,
    ) -> None:
        self._process_id = process_id
        self._texts = SharedTexts(reader, process_id, splitter, cached_characters)
        self._sources = SharedSources(reader, process_id, Size(size, edges), self._texts.take)

    async def source_nodes(self, of: Collection[str]) -> SourceNodes:
        """The source nodes of the nodes with these ids; each is asked for once a run."""
        return await self._sources.source_nodes(of)

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """The source nodes that are checked and, if there are others, at least one of them."""
        return await self._sources.left(of, checked)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in the order given, split into sentences."""
        found = await self._texts.read(nodes)
        gone = next((ref.node_id for ref in nodes if ref.node_id not in found), None)
        if gone is not None:
            raise ProcessChanged(self._process_id, gone)
        return tuple([found[ref.node_id] for ref in nodes])
