"""Nodes: by the page, by id, found by a text, and one with its text and citations.

Every answer is bounded: a number of nodes, the beginning of a text or a piece of it, and counts of
what is not shown.

Source: VeriTrail 2 (nodes, stages, source nodes), VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict

from veritrail_graph.graph.errors import InputError, NotFound, shown
from veritrail_graph.graph.model import Role, Verdict
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.listed import (
    ANY_NODE,
    EXCERPT,
    CitedSentenceHere,
    IntroducedError,
    ListedNode,
    Neighbour,
    NodeFilter,
    NodeQuery,
    NodeText,
)
from veritrail_graph.graph.model.nodes import CONTENT, Node
from veritrail_graph.graph.store.database import Database, Row
from veritrail_graph.graph.store.versions import read_ready

EVERY_NODE = NodeFilter()

MOST_CONTENT = 20_000_000
"""UTF-16 units of texts, prompts and metadata in one answer; a single node may have more."""

PIECE = 20_000
"""Characters of a text that are read at a time."""

LONGEST_NOTE = 20_000
"""Characters of a prompt, and of metadata."""

_FURTHEST = 2**31 - 1  # where engines still know a place in a text
_NEIGHBOURS = {
    Direction.UPSTREAM: "nodes/sources_page",
    Direction.DOWNSTREAM: "nodes/dependants_page",
}


class NodeStore:
    """Nodes of the processes of one graph.

    Args:
        database: Runs statements, within the time of a query.
        piece: Characters of a text that are read at a time.
    """

    def __init__(self, database: Database, *, piece: int = PIECE) -> None:
        self._database = database
        self._piece = piece

    async def page(
        self,
        process_id: str,
        wanted: NodeFilter = EVERY_NODE,
        after: tuple[int, int] = (-1, -1),
        limit: int = 100,
        *,
        most: int | None = None,
    ) -> tuple[list[Node], bool]:
        """Nodes by stage and place in the input, and whether there are more.

        Args:
            process_id: The process.
            wanted: Which nodes.
            after: Stage and position of the last node of the page before.
            limit: At most this many.
            most: A page ends before its texts, prompts and metadata are longer; it has one node.

        Raises:
            NotFound: There is no such process.
            QueryTimeout: It took longer than a query may.
        """
        rows = await read_ready(
            self._database,
            process_id,
            lambda: self._database.query(
                "nodes/page",
                limit + 1,
                process_id=process_id,
                after_stage=after[0],
                after_position=after[1],
                stage=wanted.stage,
                role=wanted.role,
                text=wanted.text,
            ),
        )
        nodes = [_node(row) for row in rows[:limit]]
        fitting = nodes if most is None else _fitting(nodes, most)
        return fitting, len(rows) > len(fitting)

    async def get(self, process_id: str, node_ids: Sequence[str]) -> list[Node]:
        """Nodes by their ids, in the order asked for, each once; unknown ones are left out.

        Raises:
            NotFound: There is no such process.
        """
        asked = list(dict.fromkeys(node_ids))
        rows = await read_ready(
            self._database,
            process_id,
            lambda: self._database.query(
                "nodes/get", len(asked), process_id=process_id, node_ids=asked
            ),
        )
        found = {node.node_id: node for node in map(_node, rows)}
        return [found[node_id] for node_id in asked if node_id in found]

    async def with_metadata(self, process_id: str, node_ids: Sequence[str]) -> list[Node]:
        """Return nodes by their ids with their metadata, however much that is together.

        Raises:
            NotFound: There is no such process.
        """
        nodes = await self.get(process_id, node_ids)
        found: list[Node] = []
        some: list[Node] = []
        size = 0
        for place, node in enumerate(nodes, start=1):
            some.append(node)
            size += node.length
            if place == len(nodes) or size + nodes[place].length > MOST_CONTENT:
                read = await self.contents(process_id, some, ("metadata",))
                found += [read.get(one.node_id, one) for one in some]
                some, size = [], 0
        return found

    async def contents(
        self, process_id: str, nodes: Collection[Node], fields: Sequence[str] = CONTENT
    ) -> dict[str, Node]:
        """Return nodes with their texts, prompts and metadata, by node_id.

        Args:
            process_id: The process.
            nodes: The nodes; those that were removed meanwhile are left out.
            fields: Which of these.

        Raises:
            InputError: It is too much for one answer.
        """
        total = sum(node.length for node in nodes)
        if len(nodes) > 1 and total > MOST_CONTENT:
            raise InputError(
                f"The texts of these {len(nodes):,} nodes come to {total:,} characters; at most "
                f"{MOST_CONTENT:,} are given at a time. Ask for fewer nodes."
            )
        names = [node.node_id for node in nodes]
        rows = await self._database.query(
            "nodes/contents", len(names), process_id=process_id, node_ids=names
        )
        by_id = {node.node_id: node for node in nodes}
        found = {}
        for node_id, *content in rows:
            read = dict(zip(CONTENT, content, strict=True))
            if "metadata" in fields and read["metadata"]:
                read["metadata"] = json.loads(read["metadata"])
            found[node_id] = by_id[node_id].replace(**{name: read[name] for name in fields})
        return found

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
        rows = await self._database.query(
            name,
            limit + 1,
            process_id=process_id,
            after_stage=after[0],
            after_position=after[1],
            **filters,
            excerpt=EXCERPT,
        )
        return [_listed(row) for row in rows[:limit]], len(rows) > limit

    async def among(
        self, process_id: str, node_ids: Sequence[str], wanted: NodeQuery = ANY_NODE
    ) -> list[ListedNode]:
        """Those of some nodes that are wanted, each once, by stage and place in the input."""
        rows = await self._database.query(
            "nodes/among",
            len(node_ids),
            process_id=process_id,
            node_ids=list(dict.fromkeys(node_ids)),
            **asdict(wanted),
            excerpt=EXCERPT,
        )
        return [_listed(row) for row in rows]

    async def steps_of_stages(self, process_id: str) -> dict[int, str]:
        """Return the step that produced all nodes of a stage, by stage, where it is one."""
        rows = await self._database.read("nodes/steps_of_stages", process_id=process_id)
        return {int(stage): str(step) for stage, step in rows}

    async def one(self, process_id: str, node_id: str) -> ListedNode:
        """One node.

        Raises:
            NotFound: There is no such process or node.
        """
        found = await read_ready(
            self._database, process_id, lambda: self.among(process_id, [node_id])
        )
        if not found:
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
        rows = await self._database.query(
            _NEIGHBOURS[way],
            limit + 1,
            process_id=process_id,
            node_id=node_id,
            after_stage=after[0],
            after_position=after[1],
            excerpt=EXCERPT,
        )
        return [_neighbour(row) for row in rows[:limit]], len(rows) > limit

    async def text(self, process_id: str, node_id: str, number: int = 1) -> NodeText:
        """A piece of a node's text; one behind the last is the last.

        Raises:
            NotFound: There is no such process or node.
        """
        number = min(number, _FURTHEST // self._piece)
        rows = await read_ready(
            self._database,
            process_id,
            lambda: self._database.query(
                "nodes/piece",
                1,
                process_id=process_id,
                node_id=node_id,
                start=(number - 1) * self._piece,
                length=self._piece,
                longest=LONGEST_NOTE,
            ),
        )
        if not rows:
            raise _unknown(process_id, node_id)
        piece, length, *others = rows[0]
        pieces = max(1, -(-length // self._piece))
        if number > pieces:
            return await self.text(process_id, node_id, pieces)
        return NodeText(piece, number, pieces, length, *others)

    async def errors_here(
        self, process_id: str, node_id: str, limit: int = 25
    ) -> tuple[list[IntroducedError], bool]:
        """Claims into which unsupported content came at a node, and whether there are more.

        Source: VeriTrail 3.2 (error localization).
        """
        rows = await self._database.query(
            "nodes/errors_here", limit + 1, process_id=process_id, node_id=node_id
        )
        return [IntroducedError(*row) for row in rows[:limit]], len(rows) > limit

    async def errors_of(self, process_id: str, node_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of claims whose error came in at each node; nodes without are left out.

        Source: VeriTrail 3.2 (error localization).
        """
        rows = await self._database.read(
            "nodes/errors_of", process_id=process_id, node_ids=list(node_ids)
        )
        return dict(rows)

    async def cited_here(
        self, process_id: str, node_id: str, limit: int = 500
    ) -> tuple[list[CitedSentenceHere], bool]:
        """Sentences of a node with the claims that they were cited for, and whether there are more.

        Source: VeriTrail 3.2 (evidence trail).
        """
        rows = await self._database.query(
            "nodes/cited_here", limit + 1, process_id=process_id, node_id=node_id
        )
        return [_citation(row) for row in rows[:limit]], len(rows) > limit


def _node(row: Row) -> Node:
    node_id, stage, position, role, kind, step, model, origin, question, length = row
    return Node(
        node_id=node_id,
        stage=stage,
        position=position,
        role=role,
        kind=kind,
        step=step,
        model=model,
        origin=origin,
        question=question,
        length=length,
    )


def _listed(row: Row) -> ListedNode:
    """A node from a row of a list."""
    node_id, stage, position, role, *others = row
    return ListedNode(node_id, stage, position, Role(role), *others)


def _neighbour(row: Row) -> Neighbour:
    """A neighbour from a row of a list."""
    node_id, stage, position, role, kind, excerpt = row
    return Neighbour(node_id, stage, position, Role(role), kind, excerpt)


def _citation(row: Row) -> CitedSentenceHere:
    """A cited sentence from a row."""
    index, text, claim_id, claim, verification_id, verdict, indicative, is_evidence = row
    verdict = Verdict(verdict) if verdict else None
    return CitedSentenceHere(
        index, text, claim_id, claim, verification_id, verdict, bool(indicative), is_evidence
    )


def _fitting(nodes: Iterable[Node], most: int) -> list[Node]:
    fitting: list[Node] = []
    total = 0
    for node in nodes:
        total += node.length
        if fitting and total > most:
            break
        fitting.append(node)
    return fitting


def _unknown(process_id: str, node_id: str) -> NotFound:
    return NotFound(f"Process {process_id!r} has no node {shown(node_id)}")
