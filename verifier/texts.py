"""Texts of nodes, split into sentences, shared between the claims of a run while they fit.

Source: VeriTrail 3.1.2 (sentences of the nodes of a frontier).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from veritrail_graph.graph.model import NodeRef, Sentence
from veritrail_graph.verifier.ports import ReadNode
from veritrail_graph.verifier.together import Together

CACHED_CHARACTERS = 64_000_000
SPLIT_IN_THREAD = 50_000
"""Characters to split from which on it is done in a thread, so that others can go on."""


class Splitter(Protocol):
    """Splits a text into sentences."""

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        """The sentences of a node's text."""
        ...


class TextReader(Protocol):
    """Reads texts of processes."""

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts by node_id."""
        ...


class SharedTexts:
    """Texts over one process, for all claims of a run.

    Args:
        reader: Where texts are read from.
        process_id: The process.
        splitter: Splits texts into sentences.
        cached_characters: How many characters of text are kept, split into sentences.
    """

    def __init__(
        self, reader: TextReader, process_id: str, splitter: Splitter, cached_characters: int
    ) -> None:
        self._reader = reader
        self._process_id = process_id
        self._splitter = splitter
        self._limit = self._room = cached_characters
        self._refs: dict[str, NodeRef] = {}  # of what is asked for
        self._waiting: dict[str, str] = {}  # came along with edges, not yet split
        self._waiting_characters = 0
        self._nodes: OrderedDict[str, ReadNode] = OrderedDict()
        self._all = Together(self._known, self._read)

    def take(self, texts: Mapping[str, str]) -> int:
        """Hold texts that came along until they are read; those that are not wanted go again.

        Returns:
            How many of them were not known.
        """
        new = {
            name: text
            for name, text in texts.items()
            if name not in self._nodes and name not in self._waiting
        }
        if self._waiting_characters > self._limit:
            self._waiting.clear()
            self._waiting_characters = 0
        self._waiting.update(new)
        self._waiting_characters += sum(map(len, new.values()))
        return len(new)

    async def read(self, nodes: Sequence[NodeRef]) -> dict[str, ReadNode]:
        """The texts of these nodes, as far as they are there, split into sentences."""
        refs = {ref.node_id: ref for ref in nodes}
        self._refs.update(refs)
        return await self._all.get(refs.keys())

    def _known(self, names: Collection[str]) -> dict[str, ReadNode]:
        found = {name: self._nodes[name] for name in names if name in self._nodes}
        for name in found:
            self._nodes.move_to_end(name)
        return found

    async def _read(self, names: list[str]) -> Mapping[str, ReadNode]:
        texts = {name: self._waiting.pop(name) for name in names if name in self._waiting}
        self._waiting_characters -= sum(map(len, texts.values()))
        unread = [name for name in names if name not in texts]
        if unread:
            texts.update(await self._reader.texts(self._process_id, unread))
        split = await self._split([(self._refs[name], text) for name, text in texts.items()])
        self._keep(split)
        return {node.ref.node_id: node for node in split}

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
