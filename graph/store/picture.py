"""What a picture of a process is drawn from: stages, nodes step by step, and one evidence trail.

Nothing here grows with the process but the count of edges from stage to stage, which is made by
windows of the input and is worth keeping.

Source: VeriTrail 2 (processes, stages), VeriTrail 3.2 (provenance).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.adjacency import SPARSE
from veritrail_graph.graph.model import EvidencePath, Process
from veritrail_graph.graph.model.listed import Degrees, StageEdges
from veritrail_graph.graph.model.walk import Direction
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.looking import look
from veritrail_graph.graph.store.reading import WINDOW_EDGES, WINDOW_NODES

EDGES = 250_000
"""Edges of one node that are followed."""

MANY = 1_000
"""A node with more neighbours on one side is not asked for all of them."""

_NEXT = {
    Direction.UPSTREAM: "lineage/next_sources",
    Direction.DOWNSTREAM: "lineage/next_dependants",
}


@dataclass(frozen=True, slots=True)
class PictureReader:
    """Reads what pictures are drawn from.

    Attributes:
        database: Runs statements, within the time of a query.
        many: A node with more neighbours on one side is not asked for all of them.
        window: Nodes that one statement looks at, at most, to count edges between stages.
    """

    database: Database
    many: int = MANY
    window: int = WINDOW_NODES

    async def stage_edges(self, process: Process) -> StageEdges:
        """How many edges lead from stage to stage.

        Raises:
            QueryTimeout: A window took longer than a query may.
        """
        window = min(self.window, max(1, WINDOW_EDGES * process.nodes // max(1, process.edges)))
        found: Counter[tuple[int, int]] = Counter()
        first = 0
        # Places may be left free, and the process may have grown since it was read.
        while found.total() < process.edges and first < SPARSE * process.nodes:
            rows = await look(
                self.database,
                "lineage/stage_edges",
                1_000_000,
                process_id=process.process_id,
                first=first,
                end=first + window,
            )
            for source, target, edges in rows:
                found[source, target] += edges
            first += window
        return dict(found)

    async def next_nodes(
        self,
        process_id: str,
        way: Direction,
        of: Sequence[str],
        known: Iterable[str],
        limit: int,
    ) -> dict[str, list[str]]:
        """The first neighbours of each of some nodes, by stage and place in the input.

        Args:
            process_id: The process.
            way: Upstream or downstream.
            of: The nodes.
            known: Nodes that are left out.
            limit: At most this many of each node.
        """
        if not of:
            return {}
        rows = await look(
            self.database,
            _NEXT[way],
            len(of),
            process_id=process_id,
            node_ids=list(of),
            known=dict.fromkeys(known, True),
            edges=EDGES,
            limit=limit,
        )
        return dict(rows)

    async def edges(self, process_id: str, nodes: Sequence[Degrees]) -> list[tuple[str, str]]:
        """Every edge between two of the nodes, as (source, target).

        The edges into a node with very many source nodes are looked for from their other end.
        """
        into = [one.node_id for one in nodes if 0 < one.upstream <= self.many]
        crowded = [one.node_id for one in nodes if one.upstream > self.many]
        outward = [one.node_id for one in nodes if 0 < one.downstream <= self.many]
        # Only where both ends have very many neighbours is one of them asked for all.
        between = crowded if any(one.downstream > self.many for one in nodes) else []
        hubs = [one.node_id for one in nodes if one.downstream > self.many]
        everyone = [one.node_id for one in nodes]
        direct, backward, rest = await asyncio.gather(
            self._others("lineage/edges_into", process_id, into, everyone),
            self._others("lineage/edges_from", process_id, outward if crowded else [], crowded),
            self._others("lineage/edges_into", process_id, between, hubs),
        )
        found = {(other, node) for node, others in direct + rest for other in others}
        found |= {(node, other) for node, others in backward for other in others}
        places = {one.node_id: place for place, one in enumerate(nodes)}
        return sorted(found, key=lambda edge: (places[edge[0]], places[edge[1]]))

    async def paths(self, verification_id: str) -> list[EvidencePath]:
        """The evidence trail of a verification, as links between nodes."""
        rows = await self.database.read("trail/read_paths", verification_ids=[verification_id])
        return [
            EvidencePath(source=source, target=target, iteration=iteration, via=tuple(via or ()))
            for _, source, target, iteration, via in rows
        ]

    async def cited(self, verification_id: str) -> dict[str, int]:
        """How many sentences of each node a verification cites."""
        rows = await self.database.read("trail/cited_nodes", verification_id=verification_id)
        return dict(rows)

    async def _others(
        self, name: str, process_id: str, of: Sequence[str], known: Iterable[str]
    ) -> list[tuple[str, list[str]]]:
        if not of:
            return []
        rows = await look(
            self.database,
            name,
            len(of),
            process_id=process_id,
            node_ids=list(of),
            known=dict.fromkeys(known, True),
        )
        return [(node_id, others) for node_id, others in rows]
