"""Reading nodes: what the walk needs, in at most two calls an iteration.

Every answer is bounded: a frontier with very many edges is asked for in parts, a node with
very many source nodes by windows of the input, and long texts by themselves
(docs/adr/0013-walking-at-scale.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import compress
from typing import Any

from veritrail_graph.graph.adjacency import SPARSE, Adjacency, AdjacencyBuilder, Unfit
from veritrail_graph.graph.errors import NotFound, shown
from veritrail_graph.graph.model import NodeRef, Role, SourcesLeft, SourcesRead, in_order
from veritrail_graph.graph.store.database import Database, Row
from veritrail_graph.graph.store.rows import batches

ASK_FOR = 5_000
"""node_ids in one call."""

EDGES = 250_000
"""Edges that one call follows; the embedded engine groups half a million at most."""

TEXTS = ((ASK_FOR, 20_000), (100, 1_000_000), (1, 2**31 - 1))
"""Texts in one call, and their length in UTF-16 units: long ones are read with fewer others."""

COPIES = 1_000
"""Nodes whose metadata one call reads."""

WINDOW_NODES, WINDOW_EDGES = 20_000, 100_000
"""What a call for the topology reads: this many nodes, or as many as have this many edges. Few at a
time: as they come they take more memory than what is kept of them."""

# A look-up, because there may be a hundred thousand of them; `Role(…)` is a call of its own.
_ROLES = {role.value: role for role in Role}


class _Gathered:
    """The parts of an answer, put together."""

    def __init__(self, of: Iterable[str]) -> None:
        self.nodes: list[NodeRef] = []
        self.sources: dict[str, list[str]] = {name: [] for name in of}
        self.texts: dict[str, str] = {}
        self.passed: set[str] = set()
        self._ids: dict[str, str] = {}  # by id, the one object that is kept of equal ones

    def add(self, rows: Iterable[Row], names: Sequence[str]) -> None:
        """Take columns of source nodes, their texts, and the numbers of their targets."""
        inputs = [self.sources[name] for name in names]
        for *columns, texts, targets, passed in rows:
            self.passed.update(passed)
            node_ids = self.add_nodes(columns)
            self.add_texts(node_ids, texts)
            for node_id, of in zip(node_ids, targets, strict=True):
                if isinstance(of, int):
                    inputs[of].append(node_id)
                else:
                    for number in of:
                        inputs[number].append(node_id)

    def add_frontier(self, columns: Sequence[Any], names: Sequence[str]) -> None:
        """Take columns of a next frontier, and the edges from what was checked."""
        *of_nodes, texts, targets, passed = columns
        node_ids = self.add_nodes(of_nodes)
        self.add_texts(node_ids, texts)
        for node_id, numbers in (*zip(node_ids, targets, strict=True), *passed):
            for number in numbers:
                self.sources[names[number]].append(node_id)

    def add_nodes(self, columns: Sequence[Sequence[Any]]) -> list[str]:
        """Take columns of node_ids, stages, positions and roles; gives the ids that are kept."""
        sent = columns[0]
        if not self._ids.keys().isdisjoint(sent):  # some came in an earlier part, too
            new = [name not in self._ids for name in sent]
            columns = [list(compress(column, new)) for column in columns]
        node_ids = list(map(self._ids.setdefault, sent, sent))
        ids, stages, positions, roles = columns
        self.nodes += NodeRef.of_columns(ids, stages, positions, map(_ROLES.__getitem__, roles))
        return node_ids

    def add_texts(self, node_ids: Sequence[str], texts: Sequence[str] | None) -> None:
        """Take texts, if any came along, but those that were cut."""
        if not texts:
            return
        along = zip(node_ids, texts, strict=True)
        if 2 * max(map(len, texts)) < TEXTS[0][1]:  # none can have been cut
            self.texts.update(along)
        else:
            self.texts.update((name, text) for name, text in along if not _is_cut(text))

    def whole(self) -> SourcesRead:
        """Everything, in the order of a frontier."""
        return SourcesRead(in_order(self.nodes), self.edges(), self.texts, frozenset(self.passed))

    def edges(self) -> dict[str, tuple[str, ...]]:
        """node_ids of source nodes, by the node that they were inputs to."""
        return dict(zip(self.sources, map(tuple, self.sources.values()), strict=True))


class NodeReader:
    """Reads the nodes of processes.

    Args:
        database: Runs statements.
        edges: How many edges one call follows.
    """

    def __init__(self, database: Database, *, edges: int = EDGES) -> None:
        self._database = database
        self._edges = edges

    async def node(self, process_id: str, node_id: str) -> tuple[NodeRef, str]:
        """A node of a process that is ready, with its text.

        Raises:
            NotFound: There is none.
        """
        ref, text, _ = await self.node_with_question(process_id, node_id)
        return ref, text

    async def node_with_question(
        self, process_id: str, node_id: str
    ) -> tuple[NodeRef, str, str | None]:
        """Return the same, and the question that it answers by itself.

        Raises:
            NotFound: There is none.
        """
        rows = await self._database.read("walk/node", process_id=process_id, node_id=node_id)
        for stage, position, role, text, question in rows:
            return NodeRef(node_id, stage, position, _ROLES[role]), text, question
        raise NotFound(f"Process {process_id!r} has no node {shown(node_id)}")

    async def source_nodes(
        self,
        process_id: str,
        of: Collection[str],
        *,
        with_texts: bool,
        checked: Collection[str] = (),
    ) -> SourcesRead:
        """src() of these nodes.

        Args:
            process_id: The process.
            of: node_ids.
            with_texts: Whether texts come along; long ones, and those of very many, do not.
            checked: Nodes that were checked; which of them are among the source nodes is said.

        Source: VeriTrail 2 (src).
        """
        found, passed = _Gathered(of), dict.fromkeys(checked, True)
        parts = list(batches(list(found.sources), ASK_FOR))
        while parts:
            part = parts.pop()
            rows = await self._database.read(
                "walk/source_nodes",
                process_id=process_id,
                rows=_numbered(part),
                checked=passed,
                edges=self._edges,
                with_texts=with_texts,
                longest=TEXTS[0][1],
            )
            if sum([_edges_to(row[-2]) for row in rows]) < self._edges:
                found.add(rows, part)
                continue
            with_texts = False  # what came is kept; nothing of it is sent a second time
            for row in rows:
                found.add_texts(row[0], row[-3])
            before = len(found.nodes)
            parts += await self._parts_of(process_id, part, found)
            windows = found.nodes[before:]  # which do not know what was checked
            found.passed.update(ref.node_id for ref in windows if ref.node_id in passed)
        return found.whole()

    async def next_frontier(
        self,
        process_id: str,
        verdicts: Sequence[str],
        q: int,
        frontier: Collection[str],
        evidence: Collection[str],
        checked: Collection[str],
    ) -> SourcesRead:
        """The next frontier after an iteration, and the count that may stop the walk.

        Where the count stops it, one node of the frontier stands for all, and no text is read.

        Args:
            process_id: The process.
            verdicts: All verdicts so far, the latest last; UNDECIDED where there is none.
            q: How many consecutive Not Fully Supported verdicts stop the walk.
            frontier: The nodes of the iteration.
            evidence: Those of them with evidence.
            checked: All nodes that were checked.

        Source: VeriTrail C.1, Algorithm 1 lines 18 to 25, 33.
        """
        found, passed = _Gathered(frontier), dict.fromkeys(checked, True)
        consecutive: int | None = None
        parts = list(batches(list(found.sources), ASK_FOR))
        while parts:
            part = parts.pop()
            rows = await self._database.read(
                "walk/next_frontier",
                process_id=process_id,
                verdicts=list(verdicts),
                q=q,
                frontier=_numbered(part),
                evidence=dict.fromkeys(evidence, True),
                checked=passed,
                edges=self._edges,
                longest=TEXTS[0][1],
            )
            for row in rows:
                consecutive, followed, *columns = row
                if followed < self._edges:
                    found.add_frontier(columns, part)
                else:
                    found.add_texts(columns[0], columns[4])
            if rows and rows[0][1] >= self._edges:
                parts += await self._parts_of(process_id, part, found)
        read = found.whole()
        nodes = tuple([ref for ref in read.nodes if ref.node_id not in passed])  # of windows
        sources = {name: ids for name, ids in read.sources.items() if ids}
        return SourcesRead(nodes, sources, read.texts, consecutive=consecutive)

    async def left(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> SourcesLeft:
        """Return whether src() of these nodes has unchecked ones, and what was checked in it.

        Source: VeriTrail C.1, Algorithm 1 lines 25, 26, 29.
        """
        found, passed = _Gathered(of), dict.fromkeys(checked, True)
        parts = list(batches(list(found.sources), ASK_FOR))
        left, count = None, 0
        while parts:
            part = parts.pop()
            ((followed, other, edges),) = await self._database.read(
                "walk/left",
                process_id=process_id,
                rows=_numbered(part),
                checked=passed,
                edges=self._edges,
            )
            left, count = left or other, count + followed
            if followed < self._edges:
                for number, node_id in edges:
                    found.sources[part[number]].append(node_id)
            else:
                parts += await self._parts_of(process_id, part, found)
        whole = found.edges()
        if found.nodes:  # read by windows, which do not know what was checked
            left = left or next((r.node_id for r in found.nodes if r.node_id not in passed), None)
            whole = {name: tuple(filter(passed.get, ids)) for name, ids in whole.items()}
        return SourcesLeft(left, {name: ids for name, ids in whole.items() if ids}, count)

    async def _parts_of(
        self, process_id: str, part: list[str], found: _Gathered
    ) -> list[list[str]]:
        """Return both halves of a question whose answer was cut; a single node is read here."""
        if len(part) > 1:
            return [part[: len(part) // 2], part[len(part) // 2 :]]
        await self._read_by_windows(process_id, part[0], found)
        return []

    async def candidates(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> set[str]:
        """node_ids of src() of these nodes, without those checked.

        Source: VeriTrail C.1, Algorithm 1 line 25.
        """
        passed = dict.fromkeys(checked, True)
        found: set[str] = set()
        for names in batches(list(of), ASK_FOR):
            rows = await self._database.read(
                "walk/candidates", process_id=process_id, node_ids=names, checked=passed
            )
            found.update(*[some for (some,) in rows])
        return found

    async def _read_by_windows(self, process_id: str, node_id: str, found: _Gathered) -> None:
        """The source nodes of a node that has too many of them for one answer."""
        node = {"process_id": process_id, "node_id": node_id}
        ((last,),) = await self._database.read("walk/last_source", **node)
        for first in range(0, (-1 if last is None else last) + 1, self._edges):
            window = {"first": first, "end": first + self._edges}
            for columns in await self._database.read("walk/source_window", **node, **window):
                found.sources[node_id] += found.add_nodes(columns)

    async def topology(self, process_id: str, nodes: int, edges: int) -> Adjacency:
        """Ids and edges of a whole process, by windows of the input.

        Args:
            process_id: The process.
            nodes: How many nodes it has.
            edges: How many edges it has.

        Raises:
            Unfit: What was read is no whole process: it was changed meanwhile.
        """
        window = min(WINDOW_NODES, max(1, WINDOW_EDGES * nodes // max(1, edges)))
        building = AdjacencyBuilder()
        first = 0
        while building.nodes < nodes and first < SPARSE * nodes:  # places may be left free
            bounds = {"first": first, "end": first + window}
            rows = await self._database.read("walk/topology", process_id=process_id, **bounds)
            for (packed,) in rows:
                for row in packed:
                    building.add(*row)
            first += window
        if (building.nodes, building.edges) != (nodes, edges):
            raise Unfit(f"{building.nodes} nodes and {building.edges} edges were read")
        return building.build()

    async def copies(self, process_id: str, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        found: set[str] = set()
        asked = list(node_ids)
        for start in range(0, len(asked), COPIES):
            rows = await self._database.read(
                "walk/metadata", process_id=process_id, node_ids=asked[start : start + COPIES]
            )
            found.update(name for name, text in rows if json.loads(text).get("generative") is False)
        return frozenset(found)

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts by node_id; one that is not there is left out."""
        found: dict[str, str] = {}
        wanted = list(node_ids)
        for page, longest in TEXTS:
            asked, wanted = wanted, []
            for start in range(0, len(asked), page):
                rows = await self._database.read(
                    "walk/texts",
                    process_id=process_id,
                    node_ids=asked[start : start + page],
                    longest=longest,
                )
                for node_id, text in (pair for (packed,) in rows for pair in packed):
                    if _is_cut(text, longest):
                        wanted.append(node_id)
                    else:
                        found[node_id] = text
        return found


def _numbered(names: Sequence[str]) -> list[list[Any]]:
    return list(map(list, enumerate(names)))


def _edges_to(targets: Sequence[int | list[int]]) -> int:
    """Return how many edges there are to these targets, each one number or several."""
    return sum([1 if isinstance(of, int) else len(of) for of in targets])


def _is_cut(text: str, longest: int = TEXTS[0][1]) -> bool:
    """Return whether an engine may have cut a text; beyond the BMP a character counts twice."""
    if len(text) * 2 < longest or len(text) >= longest:
        return len(text) >= longest
    return len(text.encode("utf-16-le")) // 2 >= longest
