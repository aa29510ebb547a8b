"""What drawings of a process and lists of its nodes are made from.

Source: VeriTrail 2 (processes), VeriTrail 3.2 (provenance).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from veritrail_graph.api.app.part import Part

if TYPE_CHECKING:
    from veritrail_graph.graph.model import EvidencePath, Process
    from veritrail_graph.graph.model.listed import Degrees, ListedNode, NodeQuery, StageEdges
    from veritrail_graph.graph.model.walk import Direction
    from veritrail_graph.graph.store.node_search import NodeSearch
    from veritrail_graph.graph.store.picture import PictureReader


class Drawings(Part):
    """Parts of processes as they are drawn and listed."""

    async def _reader(self) -> PictureReader:
        from veritrail_graph.graph.store.picture import PictureReader

        return PictureReader((await self._store()).database)

    async def _search(self) -> NodeSearch:
        from veritrail_graph.graph.store.node_search import NodeSearch

        return NodeSearch((await self._store()).database)

    async def stage_edges(self, process: Process) -> StageEdges:
        """How many edges lead from stage to stage; this looks at every edge."""
        return await (await self._reader()).stage_edges(process)

    async def trail(self, verification_id: str) -> tuple[list[EvidencePath], dict[str, int]]:
        """The paths of a trail, and how many sentences of each node it cites."""
        reader = await self._reader()
        paths, cited = await asyncio.gather(
            reader.paths(verification_id), reader.cited(verification_id)
        )
        return paths, cited

    async def next_nodes(
        self,
        process_id: str,
        way: Direction,
        of: Sequence[str],
        known: Collection[str],
        limit: int,
    ) -> dict[str, list[str]]:
        """Neighbours of each of these nodes that are not known yet."""
        return await (await self._reader()).next_nodes(process_id, way, of, known, limit)

    async def edges(self, process_id: str, nodes: Sequence[Degrees]) -> list[tuple[str, str]]:
        """Every edge between two of these nodes, as (source, target)."""
        return await (await self._reader()).edges(process_id, nodes)

    async def search(
        self, process_id: str, wanted: NodeQuery, after: tuple[int, int], limit: int
    ) -> tuple[list[ListedNode], bool]:
        """Nodes that are looked for, by stage and place, and whether there are more."""
        return await (await self._search()).search(process_id, wanted, after, limit)

    async def among(
        self, process_id: str, names: Sequence[str], wanted: NodeQuery | None = None
    ) -> list[ListedNode]:
        """Those of these nodes that are looked for; None: all."""
        search = await self._search()
        if wanted is None:
            return await search.among(process_id, names)
        return await search.among(process_id, names, wanted)
