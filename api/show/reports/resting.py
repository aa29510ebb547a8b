"""List what each sentence of attributed nodes rests on, as a section of a report.

Nodes with most unfaithful sentences come first. A report shows some of them, and says how many
are left out.

Source: Error-tolerant attribution 3, C (what a reader sees of a sentence).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.show.attribution import node_shown
from veritrail_graph.api.show.document import Document
from veritrail_graph.graph.errors import NotFound

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.graph.model.attribution import AttributedNode, StoredSentence

MOST_NODES = 5
"""Nodes that a report shows."""
MOST_SENTENCES = 100
"""Sentences that it shows of each."""
MOST_SOURCES = 6
"""Source sentences that it shows of each of these, and wordings."""
LOOKED_AT = 1_000
"""Attributed nodes among which those that are shown are chosen."""


@dataclass(frozen=True, slots=True)
class RestingNode:
    """An attributed node.

    Attributes:
        node: The node, with how many of its sentences are attributed.
        sentences: Those that are shown.
    """

    node: AttributedNode
    sentences: tuple[StoredSentence, ...]

    @property
    def document(self) -> Document:
        """Its sentences with what they rest on."""
        return node_shown(self.node.node_id, self.sentences, self.node)


@dataclass(frozen=True, slots=True)
class Resting:
    """The section; without nodes, nothing is attributed.

    Attributes:
        nodes: The nodes that are shown.
        more: How many attributed nodes are not shown, as far as they were looked at.
    """

    nodes: tuple[RestingNode, ...] = ()
    more: int = 0


async def read_resting(
    app: Application, process_id: str, only: Collection[str] | None = None
) -> Resting:
    """Read what attributed nodes rest on.

    Args:
        app: The application.
        process_id: The process.
        only: Only these nodes; None: all.

    Raises:
        NotFound: There is no such process.
    """
    known, _ = await app.attributions.nodes(process_id, limit=LOOKED_AT)
    wanted = [one for one in known if only is None or one.node_id in only]
    wanted.sort(key=lambda one: -one.unfaithful)  # stable: of equal ones the process's order
    nodes = []
    for one in wanted[:MOST_NODES]:
        try:
            nodes.append(await _node(app, process_id, one))
        except NotFound:  # it was removed meanwhile
            continue
    return Resting(tuple(nodes), max(len(wanted) - MOST_NODES, 0))


async def _node(app: Application, process_id: str, node: AttributedNode) -> RestingNode:
    found = await app.attributions.of_node(process_id, node.node_id, limit=MOST_SENTENCES)
    return RestingNode(node, tuple(found.sentences))
