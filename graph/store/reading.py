"""Reading nodes: what the walk needs, in as few calls as there are iterations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from graph.errors import NotFound
from graph.model import NodeRef, Role, SourcesRead, frontier_order
from graph.rules import shown
from graph.store.database import Database

ASK_FOR = 5_000
"""node_ids in one call."""

# A look-up, because there may be a hundred thousand of them; `Role(…)` is a call of its own.
_ROLES = {role.value: role for role in Role}

WINDOW = 300_000
"""Nodes of the input that one call looks at; the embedded engine groups half a million at most."""


class NodeReader:
    """Reads the nodes of processes."""

    def __init__(self, database: Database, *, window: int = WINDOW) -> None:
        self._database = database
        self._window = window

    async def node(self, process_id: str, node_id: str) -> tuple[NodeRef, str]:
        """A node of a process that is ready, with its text.

        Raises:
            NotFound: There is none.
        """
        rows = await self._database.read("walk/node", process_id=process_id, node_id=node_id)
        for stage, position, role, text in rows:
            return NodeRef(node_id, stage, position, _ROLES[role]), text
        raise NotFound(f"Process {process_id!r} has no node {shown(node_id)}")

    async def source_nodes(
        self, process_id: str, of: Collection[str], *, with_texts: bool, nodes: int = 0
    ) -> SourcesRead:
        """src() of these nodes.

        Args:
            process_id: The process.
            of: node_ids.
            with_texts: Whether texts come along; of a huge process they never do.
            nodes: How many nodes the process has, where that is known.

        Source: VeriTrail 2 (src).
        """
        refs: dict[str, NodeRef] = {}
        sources: dict[str, list[str]] = {name: [] for name in of}
        texts: dict[str, str] = {}
        asked = list(of)
        for start in range(0, len(asked), ASK_FOR):
            parameters = {"process_id": process_id, "node_ids": asked[start : start + ASK_FOR]}
            for packed in await self._packed(parameters, nodes, with_texts=with_texts):
                for node_id, stage, position, role, text, targets in packed:
                    if node_id not in refs:
                        refs[node_id] = NodeRef(node_id, stage, position, _ROLES[role])
                    for target in targets:
                        sources[target].append(node_id)
                    if text is not None:
                        texts[node_id] = text
        ordered = tuple(sorted(refs.values(), key=frontier_order))
        return SourcesRead(ordered, {name: tuple(ids) for name, ids in sources.items()}, texts)

    async def _packed(
        self, parameters: Mapping[str, Any], nodes: int, *, with_texts: bool
    ) -> list[list[Any]]:
        """One call; or, for a process too large for one, a call a window of the input."""
        read = self._database.read
        if nodes <= self._window:
            rows = await read("walk/source_nodes", with_texts=with_texts, **parameters)
            return [packed for (packed,) in rows]
        found: list[list[Any]] = []
        for first in range(0, nodes, self._window):
            window = {"first": first, "end": first + self._window}
            found += [
                packed for (packed,) in await read("walk/source_window", **window, **parameters)
            ]
        return found

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
