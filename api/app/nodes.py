"""Nodes of a process, their texts, and what they were made of."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.app.part import Part
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.graph.model import EdgeFacts, EvidencePath, NodeRef, Process
    from veritrail_graph.graph.model.lineage import Degrees, Direction, Lineage, StageEdges
    from veritrail_graph.graph.model.listed import (
        CitedSentenceHere,
        IntroducedError,
        ListedNode,
        Neighbour,
        NodeFilter,
        NodeQuery,
        NodeText,
    )
    from veritrail_graph.graph.model.nodes import Node

DEEPEST, LARGEST = 100, 5_000
"""The greatest depth and limit of a lineage."""


MOST_TEXT = 20_000_000
"""UTF-16 units of texts that are read at once to show sentences in their context."""


@dataclass(frozen=True, slots=True)
class NodePage:
    """Nodes in the order of their stage and place in the input.

    Attributes:
        nodes: The nodes, with the contents that were asked for.
        more: Whether there are more behind them.
        missing: node_ids that were asked for and that no node has.
    """

    nodes: Sequence[Node]
    more: bool = False
    missing: Sequence[str] = ()


class Nodes(Part):
    """The nodes of processes."""

    async def page(
        self,
        process_id: str,
        wanted: NodeFilter,
        after: tuple[int, int] = (-1, -1),
        limit: int = 100,
        *,
        fields: Sequence[str] = (),
    ) -> NodePage:
        """Nodes by stage and place; with contents a page may end early.

        Raises:
            NotFound: There is no such process.
        """
        from veritrail_graph.graph.store.nodes import MOST_CONTENT

        store = await self._store()
        most = MOST_CONTENT if fields else None
        nodes, more = await store.nodes.page(process_id, wanted, after, limit, most=most)
        return NodePage(await self._with(process_id, nodes, fields), more)

    async def search(
        self,
        process_id: str,
        *,
        stage: int | None = None,
        role: str | None = None,
        text: str | None = None,
        after: tuple[int, int] = (-1, -1),
        limit: int = 100,
        fields: Sequence[str] = (),
    ) -> NodePage:
        """Nodes of a stage, of a role, or whose text holds something; see `page`.

        Raises:
            NotFound: There is no such process.
            InputError: There is no such role.
        """
        from veritrail_graph.graph.model import Role
        from veritrail_graph.graph.model.listed import NodeFilter

        if role is not None and role not in set(Role):
            raise InputError(f"{role!r} is no role; there are: {', '.join(Role)}")
        wanted = NodeFilter(stage, None if role is None else Role(role), text)
        return await self.page(process_id, wanted, after, limit, fields=fields)

    async def get(
        self, process_id: str, node_ids: Collection[str], fields: Sequence[str] = ()
    ) -> NodePage:
        """Nodes by their ids, in the order asked for.

        Raises:
            NotFound: There is no such process.
        """
        store = await self._store()
        nodes = await store.nodes.get(process_id, list(node_ids))
        known = {node.node_id for node in nodes}
        missing = [name for name in dict.fromkeys(node_ids) if name not in known]
        return NodePage(await self._with(process_id, nodes, fields), missing=missing)

    async def with_metadata(self, process_id: str, node_ids: Sequence[str]) -> list[Node]:
        """Return nodes by their ids with their metadata; unknown ones are left out.

        Raises:
            NotFound: There is no such process.
        """
        return await (await self._store()).nodes.with_metadata(process_id, node_ids)

    async def _with(
        self, process_id: str, nodes: Sequence[Node], fields: Sequence[str]
    ) -> Sequence[Node]:
        """Nodes with contents; one that was removed meanwhile has none."""
        if not fields:
            return nodes
        read = await (await self._store()).nodes.contents(process_id, nodes, fields)
        nothing = dict.fromkeys(fields)
        return [read.get(node.node_id) or node.replace(**nothing) for node in nodes]

    async def text(self, process_id: str, node_id: str) -> tuple[NodeRef, str]:
        """A node with its whole text.

        Raises:
            NotFound: There is no such process or node.
        """
        return await (await self._store()).reading.node(process_id, node_id)

    async def questions(self, process_id: str, node_ids: Collection[str]) -> dict[str, str]:
        """The questions that nodes answer, by node_id; of those that have one of their own."""
        found = await (await self._store()).nodes.get(process_id, list(node_ids))
        return {node.node_id: node.question for node in found if node.question}

    async def texts(
        self, process_id: str, node_ids: Sequence[str], most: int | None = MOST_TEXT
    ) -> dict[str, str]:
        """Texts by node_id; a node that is unknown, or for which there is no room, is left out.

        Args:
            process_id: The process.
            node_ids: The nodes.
            most: UTF-16 units that all texts may have together; None: no limit.
        """
        store = await self._store()
        if most is None:
            return await store.reading.texts(process_id, node_ids)
        fitting, left = [], most
        for node in await store.nodes.get(process_id, node_ids):
            if node.length <= left:
                fitting.append(node.node_id)
                left -= node.length
        return await store.reading.texts(process_id, fitting)

    async def listed(self, process_id: str, node_id: str) -> ListedNode:
        """A node with the number of its neighbours and the beginning of its text.

        Raises:
            NotFound: There is no such process or node.
        """
        return await (await self._store()).nodes.one(process_id, node_id)

    async def piece(self, process_id: str, node_id: str, number: int = 1) -> NodeText:
        """A piece of a node's text, counted from 1, with what else is stored of the node.

        Raises:
            NotFound: There is no such process or node.
        """
        return await (await self._store()).nodes.text(process_id, node_id, number)

    async def neighbours(
        self, process_id: str, node_id: str, way: Direction, after: tuple[int, int], limit: int
    ) -> tuple[list[Neighbour], bool]:
        """Sources of a node or nodes that it feeds, and whether there are more."""
        return await (await self._store()).nodes.neighbours(process_id, node_id, way, after, limit)

    async def cited_here(
        self, process_id: str, node_id: str
    ) -> tuple[list[CitedSentenceHere], bool]:
        """Sentences of a node that verifications cite, and whether there are more."""
        return await (await self._store()).nodes.cited_here(process_id, node_id)

    async def errors_here(
        self, process_id: str, node_id: str, limit: int
    ) -> tuple[list[IntroducedError], bool]:
        """Claims into which unsupported content came at a node, and whether there are more."""
        return await (await self._store()).nodes.errors_here(process_id, node_id, limit)

    async def lineage(
        self,
        process_id: str,
        node_id: str,
        direction: Direction | str = "upstream",
        depth: int = 1,
        limit: int = 500,
    ) -> Lineage:
        """The nodes around a node, nearest first, with every edge between them.

        Args:
            process_id: The process.
            node_id: Where to begin.
            direction: `upstream` (against the data flow), `downstream` or `both`.
            depth: Steps away; 1: direct neighbours.
            limit: The most nodes.

        Raises:
            NotFound: There is no such process or node.
            InputError: Direction, depth or limit is out of range.
        """
        from veritrail_graph.graph.model.lineage import Direction

        if direction not in set(Direction):
            raise InputError(f"{direction!r} is no direction; there are: {', '.join(Direction)}")
        for name, value, most in (("depth", depth, DEEPEST), ("limit", limit, LARGEST)):
            if not 1 <= value <= most:
                raise InputError(f"{name} must be from 1 to {most:,}, and is {value:,}.")
        store = await self._store()
        return await store.lineage.read(process_id, node_id, Direction(direction), depth, limit)


class Drawings(Part):
    """Parts of processes as they are drawn and listed."""

    async def stage_edges(self, process: Process) -> StageEdges:
        """Return how many edges lead from stage to stage; this looks at every edge."""
        return await (await self._store()).lineage.stage_edges(process)

    async def trail(self, verification_id: str) -> tuple[list[EvidencePath], dict[str, int]]:
        """The paths of a trail, and how many sentences of each node it cites."""
        trails = (await self._store()).trails
        paths, cited = await asyncio.gather(
            trails.paths(verification_id), trails.cited(verification_id)
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
        return await (await self._store()).lineage.next_nodes(process_id, way, of, known, limit)

    async def edges(self, process_id: str, nodes: Sequence[Degrees]) -> list[tuple[str, str]]:
        """Every edge between two of these nodes, as (source, target)."""
        return await (await self._store()).lineage.edges(process_id, nodes)

    async def inferred(
        self, process_id: str, nodes: Sequence[Degrees]
    ) -> dict[tuple[str, str], EdgeFacts]:
        """Return what is known of those edges between the nodes that the input does not name."""
        return await (await self._store()).lineage.inferred(process_id, nodes)

    async def search(
        self, process_id: str, wanted: NodeQuery, after: tuple[int, int], limit: int
    ) -> tuple[list[ListedNode], bool]:
        """Nodes that are looked for, by stage and place, and whether there are more."""
        return await (await self._store()).nodes.search(process_id, wanted, after, limit)

    async def errors(self, process_id: str, names: Sequence[str]) -> dict[str, int]:
        """Say how many claims unsupported content came into at each of these nodes, if at any."""
        return await (await self._store()).nodes.errors_of(process_id, names)

    async def among(
        self, process_id: str, names: Sequence[str], wanted: NodeQuery | None = None
    ) -> list[ListedNode]:
        """Those of these nodes that are looked for; None: all."""
        nodes = (await self._store()).nodes
        if wanted is None:
            return await nodes.among(process_id, names)
        return await nodes.among(process_id, names, wanted)
