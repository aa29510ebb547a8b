"""The texts of nodes that two versions of a process have, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.store.rows import parts

if TYPE_CHECKING:
    from veritrail_graph.graph.model.nodes import Node
    from veritrail_graph.graph.store import Store

MOST_TEXTS = 50
"""Changed nodes of which a comparison holds the texts."""
MOST_CHARACTERS = 20_000
"""Characters of a text in a comparison."""
BEFORE_CHANGE = 1_000
"""Characters of a long text that are given before what differs."""
MOST_READ = 2_000_000
"""UTF-16 units of texts, prompts and metadata that are read at a time; one node may have more."""


class NodeTexts(Answer):
    """The text of a node in both versions."""

    node_id: str
    stage_before: int
    stage: int
    before: str
    after: str
    start: int = Field(
        description=f"Where `before` and `after` begin in their texts: 0, unless a text has more "
        f"than {MOST_CHARACTERS:,} characters; then shortly before the first difference."
    )
    length_before: int = Field(description="Characters of the whole text before.")
    length: int

    @classmethod
    def of(cls, nodes: tuple[Node, Node], before: str, after: str) -> NodeTexts:
        """A node with both texts, the old one first."""
        start = 0
        if max(len(before), len(after)) > MOST_CHARACTERS:
            start = max(0, same_beginning(before, after) - BEFORE_CHANGE)
        return cls(
            node_id=nodes[1].node_id,
            stage_before=nodes[0].stage,
            stage=nodes[1].stage,
            before=before[start : start + MOST_CHARACTERS],
            after=after[start : start + MOST_CHARACTERS],
            start=start,
            length_before=len(before),
            length=len(after),
        )


def same_beginning(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # by halves: what is compared are slices, not single characters
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


async def read_texts(
    store: Store, names: tuple[str, str], node_ids: Sequence[str]
) -> list[NodeTexts]:
    """The texts of nodes that both processes have; at most `MOST_TEXTS` of them.

    Args:
        store: The graph.
        names: The process_ids, the old one first.
        node_ids: The nodes. One that was removed meanwhile is left out.
    """
    wanted = node_ids[:MOST_TEXTS]
    before, now = [
        {one.node_id: one for one in await store.nodes.get(name, wanted)} for name in names
    ]
    both = [(before[one], now[one]) for one in wanted if one in before and one in now]
    found = []
    for group in parts(both, _length, MOST_READ):
        old = await store.nodes.contents(names[0], [one for one, _ in group], ["text"])
        new = await store.nodes.contents(names[1], [one for _, one in group], ["text"])
        found += [
            NodeTexts.of(pair, old[pair[0].node_id].text or "", new[pair[1].node_id].text or "")
            for pair in group
            if pair[0].node_id in old and pair[1].node_id in new
        ]
    return found


def _length(pair: tuple[Node, Node]) -> int:
    return sum(one.length for one in pair)
