"""Reading nodes: what the walk needs, in as few calls as there are iterations."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graph.errors import NotFound
from graph.model import NodeRef, Role, SourcesRead
from graph.rules import shown
from graph.store.database import Database

ASK_FOR = 5_000
"""node_ids in one call."""


class NodeReader:
    """Reads the nodes of processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def node(self, process_id: str, node_id: str) -> tuple[NodeRef, str]:
        """A node of a process that is ready, with its text.

        Raises:
            NotFound: There is none.
        """
        rows = await self._database.read("walk/node", process_id=process_id, node_id=node_id)
        for stage, position, role, text in rows:
            return NodeRef(node_id, stage, position, Role(role)), text
        raise NotFound(f"Process {process_id!r} has no node {shown(node_id)}")

    async def source_nodes(
        self, process_id: str, of: Collection[str], *, with_texts: bool
    ) -> SourcesRead:
        """src() of these nodes.

        Source: VeriTrail 2 (src).
        """
        nodes: dict[str, NodeRef] = {}
        sources: dict[str, list[str]] = {name: [] for name in of}
        texts: dict[str, str] = {}
        asked = list(of)
        for start in range(0, len(asked), ASK_FOR):
            rows = await self._database.read(
                "walk/source_nodes",
                process_id=process_id,
                node_ids=asked[start : start + ASK_FOR],
                with_texts=with_texts,
            )
            for (packed,) in rows:
                for node_id, stage, position, role, text, targets in packed:
                    nodes[node_id] = NodeRef(node_id, stage, position, Role(role))
                    for target in targets:
                        sources[target].append(node_id)
                    if text is not None:
                        texts[node_id] = text
        ordered = tuple(sorted(nodes.values(), key=lambda ref: ref.order))
        return SourcesRead(ordered, {name: tuple(ids) for name, ids in sources.items()}, texts)

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts by node_id."""
        found: dict[str, str] = {}
        for start in range(0, len(node_ids), ASK_FOR):
            rows = await self._database.read(
                "walk/texts",
                process_id=process_id,
                node_ids=list(node_ids[start : start + ASK_FOR]),
            )
            for (packed,) in rows:
                found.update((node_id, text) for node_id, text in packed)
        return found
