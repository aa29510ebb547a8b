"""Sentences that speak to their reader or judge instead of about a matter.

A text may try to dictate a verdict. What it says is marked for people: orders to the reader, keys
of a judge's answer, words of verdicts, markup of chats, and text that is hidden. Few and certain
marks are wanted; a text that speaks about such sentences is marked as well. A mark changes no
verdict.

Source: ours (docs/adr/0059-what-nobody-sees.md).
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from veritrail_graph.graph.model import Appeal, AppealKind, Iteration, NodeRef
from veritrail_graph.graph.unseen import Unseen, counts, places, without_unseen
from veritrail_graph.verifier.appeal_signs import SIGNS, least_words
from veritrail_graph.verifier.filed_texts import UNKNOWN, NumbersOfNodes
from veritrail_graph.verifier.ports import NodeSource, ReadNode, SourceNodes, are_longer

READ_IN_THREAD = 50_000
"""Characters of texts from which on a thread looks at them, so that others can go on."""

HIDDEN_AT_ONCE = 8
"""Zero-width characters or selectors that follow each other and hide a message."""

_SOUGHT_AT_ONCE = 1_000_000
"""Characters of texts that are searched together."""

_WORDS = least_words()
_CAPITALS = re.compile(r"\bFULLY[ -]SUPPORTED\b(?! BY\b)")
_RUN = re.compile(
    f"[\u200b-\u200d\u2060-\u2064\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef]{{{HIDDEN_AT_ONCE}}}"
)


def appeal_kinds(text: str) -> tuple[AppealKind, ...]:
    """Return how a text speaks to its reader, each way once; nothing where it does not."""
    found = {AppealKind.HIDDEN_TEXT} if _hides(text) else set()
    read = _as_read(text)
    if _CAPITALS.search(read):
        found.add(AppealKind.VERDICT_WORD)
    small = read.lower()
    found.update(signs.kind for signs in SIGNS if signs.kind not in found and signs.are_in(small))
    return tuple(kind for kind in AppealKind if kind in found)


def _as_read(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", without_unseen(text))


def _hides(text: str) -> bool:
    """Return whether tags, or many characters without width, hide a message."""
    if text.isascii():
        return False
    return _RUN.search(text) is not None or (
        Unseen.TAG in counts(text) and any(len(place[0]) > 1 for place in places(text))
    )


def may_appeal(texts: Sequence[str]) -> list[int]:
    """The numbers of those of many texts that may speak to their reader: few, and all that do.

    One search through all texts takes a fifth of the time of one through each.
    """
    found = {number for number, text in enumerate(texts) if _hides(text)}
    small = [_as_read(text).lower() for text in texts]
    firsts = [0, *accumulate(len(text) + 1 for text in small)]
    whole = "\n".join(small)
    for word in _WORDS:
        at = whole.find(word)
        while at >= 0:
            number = bisect_right(firsts, at) - 1
            found.add(number)
            at = whole.find(word, firsts[number + 1])
    return sorted(found)


def cited_appeals(iterations: Sequence[Iteration]) -> tuple[Appeal, ...]:
    """The cited sentences that speak to their reader, each once, in their order."""
    found: dict[tuple[str, int], Appeal] = {}
    for iteration in iterations:
        for one in iteration.evidence:
            key = one.node_id, one.sentence
            if key not in found and (kinds := appeal_kinds(one.text)):
                found[key] = Appeal(node_id=one.node_id, sentence=one.sentence, why=kinds)
    return tuple(found.values())


class WatchedNodes:
    """A `NodeSource` that counts the sentences in what it reads that speak to their reader.

    Args:
        nodes: Where nodes are read from; each is looked at once.
    """

    def __init__(self, nodes: NodeSource) -> None:
        self.watched = nodes
        self._seen = NumbersOfNodes(lambda node: node.ref.node_id)
        self._counts: dict[str, int] = {}  # of those nodes that have any
        self._looking = asyncio.Lock()

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of these nodes without those checked."""
        return await self.watched.source_nodes(of, checked)

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """Return whether any source node of these nodes is not among those checked."""
        return await self.watched.left(of, checked)

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        return await self.watched.copies(node_ids)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in this order, split into sentences."""
        found = await self.watched.read(nodes)
        async with self._looking:  # claims that begin together read the same nodes
            seen = self._seen.numbers(found)
            new = [node for node, sign in zip(found, seen, strict=True) if sign == UNKNOWN]
            if are_longer(new, READ_IN_THREAD):
                await asyncio.to_thread(self._look_at, new)
            else:
                self._look_at(new)
        return found

    def _look_at(self, nodes: Sequence[ReadNode]) -> None:
        part: list[ReadNode] = []
        texts: list[str] = []
        characters = 0
        for node in nodes:
            self._seen.put(node, 0)
            part.append(node)
            texts.append(node.text)
            characters += len(texts[-1])
            if characters >= _SOUGHT_AT_ONCE or node is nodes[-1]:
                for number in may_appeal(texts):
                    self._counts[part[number].ref.node_id] = _count(part[number])
                part, texts, characters = [], [], 0

    def appeals_in(self, iterations: Iterable[Iteration]) -> int:
        """Return how many sentences of the nodes of these iterations speak to their reader."""
        names = {ref.node_id for iteration in iterations for ref in iteration.checked}
        return sum(self._counts.get(name, 0) for name in names)


def _count(node: ReadNode) -> int:
    """The sentences of a node that speak to their reader; what spans several is one."""
    if not appeal_kinds(node.text):
        return 0
    return max(1, sum(1 for one in node.sentences if appeal_kinds(one.text)))
