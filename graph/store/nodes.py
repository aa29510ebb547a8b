"""Nodes as people look at them: by the page, filtered, with or without what is long of them.

Source: VeriTrail 2 (nodes, stages, roots and terminal nodes).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Role
from veritrail_graph.graph.model.listed import StoredNode
from veritrail_graph.graph.store.database import Database, Row
from veritrail_graph.graph.store.looking import look
from veritrail_graph.graph.store.processes import ProcessStore

MOST_CONTENT = 20_000_000
"""UTF-16 units of texts, prompts and metadata in one answer; one node may have more by itself."""


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Which nodes are wanted; None: any.

    Attributes:
        stage: Of this stage.
        role: Of this role.
        text: With a text that holds this, in capitals or not.
    """

    stage: int | None = None
    role: Role | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class NodeContent:
    """What is long of a node; `metadata` is JSON as text."""

    text: str
    prompt: str | None
    metadata: str | None


class NodeStore:
    """Nodes of the processes of one graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self,
        process_id: str,
        wanted: NodeFilter = NodeFilter(),  # frozen
        after: tuple[int, int] = (-1, -1),
        limit: int = 100,
        *,
        most: int | None = None,
    ) -> tuple[list[StoredNode], bool]:
        """Nodes by stage and place in the input, and whether there are more.

        Args:
            process_id: The process.
            wanted: Which nodes.
            after: Stage and position of the last node of the page before.
            limit: At most this many.
            most: A page ends where what is long of its nodes comes to more, behind the first.

        Raises:
            NotFound: There is no such process.
            QueryTimeout: It took longer than a query may.
        """
        rows = await look(
            self._database,
            "nodes/page",
            limit + 1,
            process_id=process_id,
            after_stage=after[0],
            after_position=after[1],
            stage=wanted.stage,
            role=wanted.role,
            text=wanted.text,
        )
        if not rows:
            await ProcessStore(self._database).get(process_id)
        nodes = [_node(row) for row in rows[:limit]]
        fitting = nodes if most is None else _fitting(nodes, most)
        return fitting, len(rows) > len(fitting)

    async def get(self, process_id: str, node_ids: Sequence[str]) -> list[StoredNode]:
        """Nodes by their ids, in the order asked for, each once; unknown ones are left out.

        Raises:
            NotFound: There is no such process.
        """
        asked = list(dict.fromkeys(node_ids))
        rows = await look(
            self._database, "nodes/get", len(asked), process_id=process_id, node_ids=asked
        )
        if not rows:
            await ProcessStore(self._database).get(process_id)
        found = {node.node_id: node for node in map(_node, rows)}
        return [found[node_id] for node_id in asked if node_id in found]

    async def contents(
        self, process_id: str, nodes: Collection[StoredNode]
    ) -> Mapping[str, NodeContent]:
        """What is long of these nodes, by node_id; one that is gone meanwhile is left out.

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
        rows = await look(
            self._database, "nodes/contents", len(names), process_id=process_id, node_ids=names
        )
        return {node_id: NodeContent(*content) for node_id, *content in rows}


def _node(row: Row) -> StoredNode:
    node_id, stage, position, role, *others = row
    return StoredNode(node_id, stage, position, Role(role), *others)


def _fitting(nodes: Iterable[StoredNode], most: int) -> list[StoredNode]:
    fitting: list[StoredNode] = []
    total = 0
    for node in nodes:
        total += node.length
        if fitting and total > most:
            break
        fitting.append(node)
    return fitting
