"""Where a node comes from and what was made of it: its surroundings, level by level.

Every level is one statement, and what it follows is bounded: nodes, edges, levels and time. What
is not shown is counted.

Source: VeriTrail 2 (src), VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.errors import NotFound, QueryTimeout, shown
from veritrail_graph.graph.model.walk import Direction
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.looking import look
from veritrail_graph.graph.store.processes import ProcessStore

EDGES = 250_000
"""Edges that one level follows."""

SECONDS = 10.0
"""No further level is begun after so long."""

_STATEMENTS = {
    Direction.UPSTREAM: "lineage/sources",
    Direction.DOWNSTREAM: "lineage/dependants",
}


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A node of a lineage.

    Attributes:
        node_id: The node.
        stage: Its stage.
        upstream: How many source nodes it has.
        downstream: How many nodes it was an input to.
        hidden_upstream: How many of its source nodes the lineage does not show.
        hidden_downstream: How many of the nodes that it was an input to are not shown.
    """

    node_id: str
    stage: int
    upstream: int
    downstream: int
    hidden_upstream: int
    hidden_downstream: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """A part of a process around one node.

    Attributes:
        root: The node.
        nodes: The node and those around it, by stage and place in the input.
        edges: All edges between them, as (source, target).
        truncated_by: Why there is more that way: `time`, `limit` or `depth`; None: there is not.
    """

    root: str
    nodes: tuple[LineageNode, ...]
    edges: tuple[tuple[str, str], ...]
    truncated_by: str | None


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
    """Reads lineages.

    Attributes:
        database: Runs statements.
        seconds: No further level is begun after so long.
        edges: Edges that one level follows.
    """

    database: Database
    seconds: float = SECONDS
    edges: int = EDGES

    async def read(
        self, process_id: str, node_id: str, direction: Direction, depth: int, limit: int
    ) -> Lineage:
        """The lineage of a node.

        Args:
            process_id: The process.
            node_id: The node.
            direction: Which way to walk.
            depth: How many steps of the process away; 1: direct neighbours.
            limit: At most so many nodes, the node itself among them; the nearest come first.

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
        return Lineage(node_id, nodes, edges, _truncated(walks, nodes))

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
            if followed >= self.edges:
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
        ((nodes, followed),) = await look(
            self.database,
            _STATEMENTS[direction],
            1,
            process_id=process_id,
            node_ids=list(of),
            known=dict(known),
            edges=self.edges,
            limit=limit,
        )
        return nodes, followed or 0

    async def _links(
        self, process_id: str, names: Sequence[str]
    ) -> tuple[tuple[LineageNode, ...], tuple[tuple[str, str], ...]]:
        """Nodes with the counts of their neighbours, and the edges between them."""
        rows = await look(
            self.database,
            "lineage/links",
            len(names),
            process_id=process_id,
            node_ids=list(names),
            known=dict.fromkeys(names, True),
        )
        if not rows:
            await ProcessStore(self.database).get(process_id)
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


def _nearest(walks: Sequence[_Walk], limit: int) -> list[str]:
    """Nodes of all walks, the nearest first, level by level; each once."""
    names: dict[str, None] = {}
    for distance in range(max(len(walk.levels) for walk in walks)):
        for walk in walks:
            if distance < len(walk.levels):
                names |= dict.fromkeys(walk.levels[distance])
    return list(names)[:limit]


def _truncated(walks: Sequence[_Walk], nodes: Sequence[LineageNode]) -> str | None:
    """What kept the walks from showing all there is that way; None when nothing did."""
    hidden = {node.node_id: (node.hidden_upstream, node.hidden_downstream) for node in nodes}
    reasons = set()
    for walk in walks:
        side = 0 if walk.direction is Direction.UPSTREAM else 1
        if any(name not in hidden for name in walk.found):  # both together were too many
            reasons.add("limit")
        elif any(hidden[name][side] for name in walk.found):
            reasons.add(walk.cut or "limit")
    return next((why for why in ("time", "limit", "depth") if why in reasons), None)
