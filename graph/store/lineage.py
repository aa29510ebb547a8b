"""Parts of a process around its nodes: what a node comes from, and what a drawing needs.

Every level is one statement, and what it follows is bounded: nodes, edges, levels and time. What
is not shown is counted.

Source: VeriTrail 2 (src, stages), VeriTrail 3.2 (traceability, provenance).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.adjacency import SPARSE
from veritrail_graph.graph.errors import NotFound, QueryTimeout, shown
from veritrail_graph.graph.model import EdgeFacts, Inference, Process
from veritrail_graph.graph.model.lineage import Degrees, Direction, Lineage, LineageNode, StageEdges
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.versions import read_ready

EDGES = 250_000
"""Edges that one level follows."""

WINDOW_NODES, WINDOW_EDGES = 100_000, 500_000
"""What a call counts edges of: this many nodes, or as many as have this many edges."""

SECONDS = 10.0
"""No further level is begun after so long."""

_STATEMENTS = {
    Direction.UPSTREAM: "lineage/sources",
    Direction.DOWNSTREAM: "lineage/dependants",
}

MANY = 1_000
"""A node with more neighbours on one side is not asked for all of them."""

_NEXT = {
    Direction.UPSTREAM: "lineage/next_sources",
    Direction.DOWNSTREAM: "lineage/next_dependants",
}


@dataclass(slots=True)
class _Walk:
    """A walk one way.

    Attributes:
        direction: Upstream or downstream.
        levels: Nodes by their distance, the first level being the node itself.
        cut: Why it ended before nothing was left to find: `time`, `limit` or `depth`.
    """

    direction: Direction
    levels: list[list[str]]
    cut: str | None = None

    @property
    def found(self) -> list[str]:
        return [node_id for level in self.levels for node_id in level]


@dataclass(frozen=True, slots=True)
class LineageReader:
    """Reads lineages, and what drawings of a process are made from.

    Attributes:
        database: Runs statements, within the time of a query.
        seconds: No further level of a lineage is begun after so long.
        edge_limit: Edges that one level follows.
        many: A node with more neighbours on one side is not asked for all of them.
        window: Nodes that one statement looks at, at most, to count edges between stages.
    """

    database: Database
    seconds: float = SECONDS
    edge_limit: int = EDGES
    many: int = MANY
    window: int = WINDOW_NODES

    async def read(
        self, process_id: str, node_id: str, direction: Direction, depth: int, limit: int
    ) -> Lineage:
        """The lineage of a node.

        Args:
            process_id: The process.
            node_id: The node.
            direction: Which way to walk.
            depth: How many steps of the process away; 1: direct neighbours.
            limit: The most nodes, the node itself among them; the nearest are first.

        Raises:
            NotFound: There is no such process or node.
            QueryTimeout: The edges between the nodes took too long.
        """
        ways = [one for one in _STATEMENTS if direction in (one, Direction.BOTH)]
        until = time.monotonic() + self.seconds
        walks = await asyncio.gather(
            *(self._walk(process_id, node_id, way, depth, limit - 1, until) for way in ways)
        )
        names = _nearest(walks, limit)
        nodes, edges = await self._links(process_id, names)
        degrees = [Degrees(one.node_id, one.upstream, one.downstream) for one in nodes]
        inferred = await self.inferred(process_id, degrees)
        return Lineage(node_id, nodes, edges, _truncated(walks, nodes), inferred)

    async def _walk(
        self,
        process_id: str,
        node_id: str,
        direction: Direction,
        depth: int,
        limit: int,
        until: float,
    ) -> _Walk:
        walk = _Walk(direction, [[node_id]])
        known = {node_id: True}
        for _ in range(depth):
            left = limit - len(known) + 1
            if left <= 0 or time.monotonic() > until:
                walk.cut = "limit" if left <= 0 else "time"
                return walk
            try:
                level, followed = await self._level(
                    process_id, direction, walk.levels[-1], known, left
                )
            except QueryTimeout:
                walk.cut = "time"
                return walk
            known |= dict.fromkeys(level, True)
            if level:
                walk.levels.append(level)
            if followed >= self.edge_limit:
                walk.cut = "limit"
                return walk
            if not level:
                return walk
        walk.cut = "depth"
        return walk

    async def _level(
        self,
        process_id: str,
        direction: Direction,
        of: Sequence[str],
        known: Mapping[str, bool],
        limit: int,
    ) -> tuple[list[str], int]:
        ((nodes, followed),) = await self.database.query(
            _STATEMENTS[direction],
            1,
            process_id=process_id,
            node_ids=list(of),
            known=dict(known),
            edges=self.edge_limit,
            limit=limit,
        )
        return nodes, followed or 0

    async def _links(
        self, process_id: str, names: Sequence[str]
    ) -> tuple[tuple[LineageNode, ...], tuple[tuple[str, str], ...]]:
        """Nodes with the counts of their neighbours, and the edges between them."""
        rows = await read_ready(
            self.database,
            process_id,
            lambda: self.database.query(
                "lineage/links",
                len(names),
                process_id=process_id,
                node_ids=list(names),
                known=dict.fromkeys(names, True),
            ),
        )
        if not rows:
            raise NotFound(f"Process {process_id!r} has no node {shown(names[0])}")
        there = {row[0] for row in rows}
        edges = tuple((source, row[0]) for row in rows for source in row[4] if source in there)
        shown_up: dict[str, int] = {}
        shown_down: dict[str, int] = {}
        for source, target in edges:
            shown_down[source] = shown_down.get(source, 0) + 1
            shown_up[target] = shown_up.get(target, 0) + 1
        nodes = tuple(
            LineageNode(
                node_id,
                stage,
                up,
                down,
                up - shown_up.get(node_id, 0),
                down - shown_down.get(node_id, 0),
            )
            for node_id, stage, up, down, _ in rows
        )
        return nodes, edges

    async def stage_edges(self, process: Process) -> StageEdges:
        """Return how many edges lead from stage to stage.

        Raises:
            QueryTimeout: A window took longer than a query may.
        """
        window = min(self.window, max(1, WINDOW_EDGES * process.nodes // max(1, process.edges)))
        found: Counter[tuple[int, int]] = Counter()
        first = 0
        # Places may be left free, and the process may have grown since it was read.
        while found.total() < process.edges and first < SPARSE * process.nodes:
            rows = await self.database.query(
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
        rows = await self.database.query(
            _NEXT[way],
            len(of),
            process_id=process_id,
            node_ids=list(of),
            known=dict.fromkeys(known, True),
            edges=self.edge_limit,
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

    async def inferred(
        self, process_id: str, nodes: Sequence[Degrees]
    ) -> dict[tuple[str, str], EdgeFacts]:
        """Return what is known of those edges between the nodes that the input does not name.

        A node with very many source nodes is left out.
        """
        into = [one.node_id for one in nodes if 0 < one.upstream <= self.many]
        if not into:
            return {}
        rows = await self.database.query(
            "lineage/inferred",
            len(nodes) * len(nodes),
            process_id=process_id,
            node_ids=into,
            known=dict.fromkeys((one.node_id for one in nodes), True),
        )
        return {
            (source, target): EdgeFacts(None, Inference(how), score)
            for source, target, how, score in rows
        }

    async def _others(
        self, name: str, process_id: str, of: Sequence[str], known: Iterable[str]
    ) -> list[tuple[str, list[str]]]:
        if not of:
            return []
        rows = await self.database.query(
            name,
            len(of),
            process_id=process_id,
            node_ids=list(of),
            known=dict.fromkeys(known, True),
        )
        return [(node_id, others) for node_id, others in rows]


def _nearest(walks: Sequence[_Walk], limit: int) -> list[str]:
    """Nodes of all walks, the nearest first, level by level; each once."""
    names: dict[str, None] = {}
    for distance in range(max(len(walk.levels) for walk in walks)):
        for walk in walks:
            if distance < len(walk.levels):
                names |= dict.fromkeys(walk.levels[distance])
    return list(names)[:limit]


def _truncated(walks: Sequence[_Walk], nodes: Sequence[LineageNode]) -> str | None:
    """Return what kept the walks from showing all there is that way; None when nothing did."""
    hidden = {node.node_id: (node.hidden_upstream, node.hidden_downstream) for node in nodes}
    reasons = set()
    for walk in walks:
        side = 0 if walk.direction is Direction.UPSTREAM else 1
        if any(name not in hidden for name in walk.found):  # both together were too many
            reasons.add("limit")
        elif any(hidden[name][side] for name in walk.found):
            reasons.add(walk.cut or "limit")
    return next((why for why in ("time", "limit", "depth") if why in reasons), None)
