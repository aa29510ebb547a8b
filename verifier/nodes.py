"""Nodes for the walk, read from the store and shared between the claims of a run.

What one claim has read, the next need not read again: the sources of a node are asked for
once a run, and texts stay split into sentences while they fit.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from graph.errors import VeriTrailError
from graph.model import NodeRef, Sentence, SourcesRead, frontier_order
from verifier.ports import ReadNode, SourceNodes

CACHED_CHARACTERS = 64_000_000
SPLIT_IN_THREAD = 50_000
"""Characters to split from which on it is done in a thread, so that others can go on."""


class ProcessChanged(VeriTrailError):
    """The process was removed or replaced while its claims were being verified."""

    def __init__(self, process_id: str, node_id: str) -> None:
        super().__init__(
            f"Process {process_id!r} was removed or replaced meanwhile: node {node_id!r} is not "
            "there any more."
        )


class Splitter(Protocol):
    """Splits a text into sentences."""

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        """The sentences of a node's text."""
        ...


class Reader(Protocol):
    """Reads nodes of processes; `graph.store.NodeReader` is one."""

    async def source_nodes(
        self, process_id: str, of: Collection[str], *, with_texts: bool, nodes: int = 0
    ) -> SourcesRead:
        """src() of these nodes, with their texts if asked for; `nodes`: how many there are."""
        ...

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts by node_id."""
        ...


class SharedNodes:
    """A `NodeSource` over one process that remembers what it has read.

    Args:
        reader: Where nodes are read from.
        process_id: The process.
        splitter: Splits texts into sentences.
        size: How many nodes the process has, where that is known.
        cached_characters: How many characters of text are kept, split into sentences.
    """

    def __init__(
        self,
        reader: Reader,
        process_id: str,
        splitter: Splitter,
        *,
        size: int = 0,
        cached_characters: int = CACHED_CHARACTERS,
    ) -> None:
        self._reader = reader
        self._process_id = process_id
        self._splitter = splitter
        self._size = size
        self._limit = self._room = cached_characters
        self._sources: dict[str, tuple[str, ...]] = {}
        self._refs: dict[str, NodeRef] = {}
        self._texts: dict[str, str] = {}  # fetched along with the sources, not yet split
        self._nodes: OrderedDict[str, ReadNode] = OrderedDict()
        # Claims over the same node ask for the same at the same time: one asks, all get it.
        self._asking = asyncio.Lock()

    async def source_nodes(self, of: Collection[str], *, will_read: bool) -> SourceNodes:
        """The source nodes of the nodes with these ids; each is asked for once a run."""
        async with self._asking:
            unknown = [name for name in of if name not in self._sources]
            if unknown:
                read = await self._reader.source_nodes(
                    self._process_id, unknown, with_texts=will_read, nodes=self._size
                )
                gone = next((name for name in unknown if not read.sources.get(name)), None)
                if gone is not None:  # only nodes that have sources are asked about
                    raise ProcessChanged(self._process_id, gone)
                self._refs.update((ref.node_id, ref) for ref in read.nodes)
                self._sources.update(read.sources)
                self._wait_for_reading(read.texts)
        sources = {name: self._sources[name] for name in of}
        if unknown and len(unknown) == len(sources):  # read just now, each once and in order
            return SourceNodes(read.nodes, sources)
        nodes = {source for ids in sources.values() for source in ids}
        ordered = sorted((self._refs[name] for name in nodes), key=frontier_order)
        return SourceNodes(tuple(ordered), sources)

    def _wait_for_reading(self, texts: Mapping[str, str]) -> None:
        """Hold texts that came along until they are read; those that are not wanted go again."""
        if sum(map(len, self._texts.values())) > self._limit:
            self._texts.clear()
        self._texts.update((name, text) for name, text in texts.items() if name not in self._nodes)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in the order given, split into sentences."""
        async with self._asking:
            known = {
                ref.node_id: self._nodes[ref.node_id] for ref in nodes if ref.node_id in self._nodes
            }
            for name in known:
                self._nodes.move_to_end(name)
            missing = [ref for ref in nodes if ref.node_id not in known]
            texts: dict[str, str | None] = {
                ref.node_id: self._texts.pop(ref.node_id, None) for ref in missing
            }
            unread = [name for name, text in texts.items() if text is None]
            if unread:
                texts.update(await self._reader.texts(self._process_id, unread))
            split = await self._split([(ref, self._text(ref, texts)) for ref in missing])
            self._keep(split)
        known.update((node.ref.node_id, node) for node in split)
        return tuple(known[ref.node_id] for ref in nodes)

    def _text(self, ref: NodeRef, texts: Mapping[str, str | None]) -> str:
        text = texts.get(ref.node_id)
        if text is None:
            raise ProcessChanged(self._process_id, ref.node_id)
        return text

    async def _split(self, texts: Sequence[tuple[NodeRef, str]]) -> list[ReadNode]:
        def split_all() -> list[ReadNode]:
            split = self._splitter.split
            return [ReadNode(ref, text, split(ref.node_id, text)) for ref, text in texts]

        if sum(len(text) for _, text in texts) < SPLIT_IN_THREAD:
            return split_all()
        return await asyncio.to_thread(split_all)

    def _keep(self, nodes: Sequence[ReadNode]) -> None:
        for node in nodes:
            self._nodes[node.ref.node_id] = node
            self._room -= len(node.text)
        while self._room < 0 and self._nodes:
            _, oldest = self._nodes.popitem(last=False)
            self._room += len(oldest.text)
