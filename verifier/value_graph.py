"""The texts that a value is followed through: the verified node and all that it was made from.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

from veritrail_graph.graph.model import NodeRef, Sentence
from veritrail_graph.verifier.ports import ReadNode


@dataclass
class ReadGraph:
    """The verified node and what it was made from, as far as it was read.

    Attributes:
        refs: The nodes that were read, by node_id.
        sources: node_ids of the source nodes, by node.
        texts: The nodes with their texts, by node_id.
        is_whole: Whether all was read, and none left out because there was too much.
    """

    refs: dict[str, NodeRef] = field(default_factory=dict)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: dict[str, ReadNode] = field(default_factory=dict)
    is_whole: bool = True

    def sentences(self, name: str) -> tuple[Sentence, ...]:
        """The sentences of a node; none where it was not read."""
        read = self.texts.get(name)
        return () if read is None else read.sentences

    def upstream(self, name: str, stops: Collection[str] = ()) -> list[str]:
        """The nodes that a node was made from, and what these were made from.

        Args:
            name: The node.
            stops: Nodes behind which no way goes on; if there are any, only they are given.
        """
        found: list[str] = []
        seen = {name}
        queue = deque([name])
        while queue:
            for source in self.sources.get(queue.popleft(), ()):
                if source in seen or source not in self.refs:
                    continue
                seen.add(source)
                if source in stops:
                    found.append(source)
                else:
                    queue.append(source)
        return found if stops else [one for one in seen if one != name]

    @cached_property
    def _targets(self) -> dict[str, list[str]]:
        targets: dict[str, list[str]] = {}
        for target, sources in self.sources.items():
            for source in sources:
                targets.setdefault(source, []).append(target)
        return targets

    def next_behind(self, name: str, stops: Collection[str]) -> set[str]:
        """The first nodes of some behind a node, whatever lies between."""
        found: set[str] = set()
        seen: set[str] = set()
        queue = [name]
        while queue:
            for target in self._targets.get(queue.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    if target in stops:
                        found.add(target)
                    else:
                        queue.append(target)
        return found

    def downstream(self, names: Collection[str]) -> set[str]:
        """All nodes that some were inputs to, themselves left aside."""
        found: set[str] = set()
        queue = list(names)
        while queue:
            for target in self._targets.get(queue.pop(), ()):
                if target not in found:
                    found.add(target)
                    queue.append(target)
        return found.difference(names)
