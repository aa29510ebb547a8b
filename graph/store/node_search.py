"""Nodes as people look for them: found by text or id, with how they begin; and one by itself.

Every answer is bounded: so many nodes, the beginning of a text or a piece of it, and counts of
what is not shown.

Source: VeriTrail 2 (nodes, source nodes), VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from veritrail_graph.graph.errors import NotFound, shown
from veritrail_graph.graph.model.listed import (
    ANY_NODE,
    EXCERPT,
    CitedSentenceHere,
    IntroducedError,
    ListedNode,
    Neighbour,
    NodeQuery,
    NodeText,
)
from veritrail_graph.graph.model.walk import Direction
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.listed_nodes import citation_from, listed_from, neighbour_from
from veritrail_graph.graph.store.looking import look
from veritrail_graph.graph.store.processes import ProcessStore

PIECE = 20_000
"""Characters of a text that are read at a time."""

LONGEST_NOTE = 20_000
"""Characters of a prompt, and of metadata."""

_FURTHEST = 2**31 - 1  # where engines still know a place in a text
_NEIGHBOURS = {
    Direction.UPSTREAM: "nodes/sources_page",
    Direction.DOWNSTREAM: "nodes/dependants_page",
}


class NodeSearch:
    """Looks for nodes of the processes of one graph.

    Args:
        database: Runs statements, within the time of a query.
        piece: Characters of a text that are read at a time.
    """

    def __init__(self, database: Database, *, piece: int = PIECE) -> None:
        self._database = database
        self._piece = piece

    async def search(
        self,
        process_id: str,
        wanted: NodeQuery,
        after: tuple[int, int] = (-1, -1),
        limit: int = 50,
    ) -> tuple[list[ListedNode], bool]:
        """Nodes by stage and place in the input, and whether there are more.

        Args:
            process_id: The process.
            wanted: Which nodes.
            after: Stage and position of the last node of the page before.
            limit: At most this many.

        Raises:
            QueryTimeout: It took longer than a query may.
        """
        filters = asdict(wanted)
        name = "nodes/search_cited" if filters.pop("cited") else "nodes/search"
        rows = await look(
            self._database,
            name,
            limit + 1,
            process_id=process_id,
            after_stage=after[0],
            after_position=after[1],
            **filters,
            excerpt=EXCERPT,
        )
        return [listed_from(row) for row in rows[:limit]], len(rows) > limit

    async def among(
        self, process_id: str, node_ids: Sequence[str], wanted: NodeQuery = ANY_NODE
    ) -> list[ListedNode]:
        """Those of some nodes that are wanted, each once, by stage and place in the input."""
        rows = await look(
            self._database,
            "nodes/among",
            len(node_ids),
            process_id=process_id,
            node_ids=list(dict.fromkeys(node_ids)),
            **asdict(wanted),
            excerpt=EXCERPT,
        )
        return [listed_from(row) for row in rows]

    async def get(self, process_id: str, node_id: str) -> ListedNode:
        """One node.

        Raises:
            NotFound: There is no such process or node.
        """
        found = await self.among(process_id, [node_id])
        if not found:
            await ProcessStore(self._database).get(process_id)
            raise _unknown(process_id, node_id)
        return found[0]

    async def neighbours(
        self,
        process_id: str,
        node_id: str,
        way: Direction,
        after: tuple[int, int] = (-1, -1),
        limit: int = 25,
    ) -> tuple[list[Neighbour], bool]:
        """Source nodes of a node, or what it was an input to, and whether there are more."""
        rows = await look(
            self._database,
            _NEIGHBOURS[way],
            limit + 1,
            process_id=process_id,
            node_id=node_id,
            after_stage=after[0],
            after_position=after[1],
            excerpt=EXCERPT,
        )
        return [neighbour_from(row) for row in rows[:limit]], len(rows) > limit

    async def text(self, process_id: str, node_id: str, number: int = 1) -> NodeText:
        """A piece of a node's text; one behind the last is the last.

        Raises:
            NotFound: There is no such process or node.
        """
        number = min(number, _FURTHEST // self._piece)
        rows = await look(
            self._database,
            "nodes/piece",
            1,
            process_id=process_id,
            node_id=node_id,
            start=(number - 1) * self._piece,
            length=self._piece,
            longest=LONGEST_NOTE,
        )
        if not rows:
            await ProcessStore(self._database).get(process_id)
            raise _unknown(process_id, node_id)
        piece, length, prompt, metadata = rows[0]
        pieces = max(1, -(-length // self._piece))
        if number > pieces:
            return await self.text(process_id, node_id, pieces)
        return NodeText(piece, number, pieces, length, prompt, metadata)

    async def errors_here(
        self, process_id: str, node_id: str, limit: int = 25
    ) -> tuple[list[IntroducedError], bool]:
        """Claims into which unsupported content came at a node, and whether there are more.

        Source: VeriTrail 3.2 (error localization).
        """
        rows = await look(
            self._database, "nodes/errors_here", limit + 1, process_id=process_id, node_id=node_id
        )
        return [IntroducedError(*row) for row in rows[:limit]], len(rows) > limit

    async def cited_here(
        self, process_id: str, node_id: str, limit: int = 500
    ) -> tuple[list[CitedSentenceHere], bool]:
        """Sentences of a node with the claims that they were cited for, and whether there are more.

        Source: VeriTrail 3.2 (evidence trail).
        """
        rows = await look(
            self._database, "nodes/cited_here", limit + 1, process_id=process_id, node_id=node_id
        )
        return [citation_from(row) for row in rows[:limit]], len(rows) > limit


def _unknown(process_id: str, node_id: str) -> NotFound:
    return NotFound(f"Process {process_id!r} has no node {shown(node_id)}")
