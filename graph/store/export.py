"""A whole process as it is stored, read in pages.

What is held is one id, one length and one count a node. Texts are read in pages bounded by their
size, edges in pages bounded by their number, trails in small groups. A process that is
removed, replaced or changed meanwhile is noticed at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import EngineError, ProcessConflict
from veritrail_graph.graph.model import EdgeFacts
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.processes import process_from, ready_process
from veritrail_graph.graph.store.rows import Properties, claim_pages, extraction_pages, pages

_INDEX_WINDOW = 200_000
_BEHIND_ALL = 2**53
_MOST_NODES = 1_000
_MOST_CHARACTERS = 4_000_000
_MOST_EDGES = 50_000
_WINDOW = 300_000
_TRAILS = 20
_ATTRIBUTIONS = 5_000


@dataclass(frozen=True, slots=True)
class TrailParts:
    """Some verifications as they are stored, with everything that hangs on them.

    Attributes:
        verifications: Properties of each.
        iterations: Properties of each, and the node_ids that it checked.
        evidence: Its verification, the number of its iteration, its properties, and what it
            cites as [node_id, index, start, end, role, position].
        steps: Properties of each.
        trail: Nodes of the evidence trail: properties of each, and the places that it cites as
            [node_id, index, start, end].
        links: Its links: the verification, the node_ids of both ends or None for the
            verification itself, and properties.
        errors: Its verification, its type, the node_id that it leads to, and properties.
        in_force: claim_id and verification_id of those that count.
    """

    verifications: list[Properties]
    iterations: list[tuple[Properties, list[str]]]
    evidence: list[tuple[str, int, Properties, list[list[Any]]]]
    steps: list[Properties]
    trail: list[tuple[Properties, list[list[Any]]]]
    links: list[tuple[str, str, str | None, Properties]]
    errors: list[tuple[str, str, str, Properties]]
    in_force: list[tuple[str, str]]


class StoredProcess:
    """Reads one process from its beginning to its end.

    Attributes:
        process_id: The process.
        properties: What is stored of it as a whole.
        ids: node_ids in the order of the input.
        progress: Called with what is being read, how much of it was, and how much there is.
    """

    def __init__(self, database: Database, process_id: str, properties: Properties) -> None:
        self._database = database
        self.process_id = process_id
        self.properties = properties
        self.ids: list[str] = []
        self.progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None
        self._positions = array("q")
        self._lengths = array("q")
        self._degrees = array("q")
        self._numbers: dict[int, int] | None = None  # by position, where it is another

    @classmethod
    async def open(cls, database: Database, process_id: str) -> StoredProcess:
        """Look up a process that is ready, and which nodes it has.

        Raises:
            NotFound: There is none.
            EngineError: Its nodes are not those that it says it has.
        """
        rows = await database.read("export/process", process_id=process_id)
        if not rows:
            await ready_process(database, process_id)
            return await cls.open(database, process_id)
        process_from(rows[0][0], 0)  # tells of one that is damaged
        stored = cls(database, process_id, rows[0][0])
        await stored._index()
        return stored

    async def _index(self) -> None:
        total = self.properties["nodes"]
        for first in range(0, total, _INDEX_WINDOW):
            await self._read_window(first, min(first + _INDEX_WINDOW, total))
        if len(self.ids) < total:  # places have gaps: the rest lies behind them
            await self._read_window(total, _BEHIND_ALL)
        if len(self.ids) != total:
            await self.check_unchanged()
            raise EngineError(
                f"Process {self.process_id!r} has {len(self.ids):,} nodes in the graph and should "
                f"have {total:,}; the graph is damaged.",
                code="graph_damaged",
            )
        if any(position != number for number, position in enumerate(self._positions)):
            self._numbers = {place: number for number, place in enumerate(self._positions)}

    async def _read_window(self, first: int, end: int) -> None:
        rows = await self._database.read(
            "export/nodes", process_id=self.process_id, first=first, end=end
        )
        found = [node for (packed,) in rows for node in packed]
        found.sort(key=lambda node: (node[1], node[0]))
        for node_id, position, length, degree in found:
            self.ids.append(node_id)
            self._positions.append(position)
            self._lengths.append(length or 0)
            self._degrees.append(degree)

    async def spans(self) -> AsyncIterator[list[Properties]]:
        """All nodes with their texts, in the order of the input."""
        for first, end in self._pages(self._lengths, _MOST_CHARACTERS):
            names = self.ids[first:end]
            rows = await self._database.read(
                "export/spans", process_id=self.process_id, node_ids=names
            )
            by_id = {node["node_id"]: node for (packed,) in rows for node in packed}
            if len(by_id) != len(names):
                raise self._changed()
            self.progress("nodes", end, len(self.ids))
            yield [by_id[name] for name in names]

    async def edges(self) -> AsyncIterator[list[tuple[int, int, EdgeFacts]]]:
        """All edges as numbers of source and target in `ids`, ordered by target and source."""
        count = 0
        for first, end in self._pages(self._degrees, _MOST_EDGES):
            total = sum(self._degrees[first:end])
            if not total:
                continue
            found = sorted(
                [edge async for edge in self._edges_into(self.ids[first:end], total)],
                key=lambda edge: (edge[1], edge[0]),
            )
            count += len(found)
            self.progress("edges", count, self.properties["edges"])
            yield found
        if count != self.properties["edges"]:
            await self.check_unchanged()
            raise EngineError(
                f"Process {self.process_id!r} has {count:,} edges in the graph and should have "
                f"{self.properties['edges']:,}; the graph is damaged.",
                code="graph_damaged",
            )

    async def _edges_into(
        self, names: Sequence[str], total: int
    ) -> AsyncIterator[tuple[int, int, EdgeFacts]]:
        """Edges into some nodes; into a node with too many of them, by windows of the input."""
        numbers = self._numbers
        behind = max(numbers, default=0) + 1 if numbers else len(self.ids)
        step = _WINDOW if total > _WINDOW else behind
        for first in range(0, behind, step):
            rows = await self._database.read(
                "export/edges",
                process_id=self.process_id,
                node_ids=list(names),
                first=first,
                end=first + step,
            )
            for (packed,) in rows:
                for source, target, *known in packed:
                    facts = EdgeFacts(*known)
                    if numbers is not None:
                        yield numbers[source], numbers[target], facts
                    else:
                        yield source, target, facts

    @staticmethod
    def _pages(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
        first = size = 0
        for number, each in enumerate(sizes):
            if number > first and (size + each > most or number - first >= _MOST_NODES):
                yield first, number
                first, size = number, 0
            size += each
        if first < len(sizes):
            yield first, len(sizes)

    def claims(self) -> AsyncIterator[list[Properties]]:
        """All claims, in the order of the input."""
        return claim_pages(self._database, self.process_id, asked=True)

    def extractions(self) -> AsyncIterator[list[Properties]]:
        """Yield what claim extraction left of sentences."""
        return extraction_pages(self._database, self.process_id)

    def sentences(self) -> AsyncIterator[list[Properties]]:
        """The sentences that became evidence or were attributed."""
        cursor = {
            "after": ("node_id", ""),
            "after_index": ("index", -1),
            "after_start": ("start", -1),
            "after_end": ("end", -1),
        }
        return pages(self._database, "export/sentences", cursor, self.process_id)

    async def attributions(
        self,
    ) -> AsyncIterator[list[tuple[tuple[Any, ...], tuple[Any, ...], Properties]]]:
        """Yield what sentences are attributed to: the places of both, and the properties."""
        skip = 0
        while rows := await self._database.read(
            "export/attributions", process_id=self.process_id, skip=skip, limit=_ATTRIBUTIONS
        ):
            yield [(tuple(source), tuple(target), one) for source, target, one in rows]
            skip += len(rows)

    def revisions(self) -> AsyncIterator[list[Properties]]:
        """The wordings that were proposed for sentences."""
        return pages(
            self._database, "export/revisions", {"after": ("revision_id", "")}, self.process_id
        )

    async def turns(
        self,
    ) -> AsyncIterator[tuple[list[Properties], list[tuple[Properties, list[tuple[int, str]]]]]]:
        """Yield what was found of turns, and the verifications of their claims.

        Each verification comes with the claims that it was compared with, as place and claim_id.
        """
        cursor = {"after": ("node_id", ""), "after_run": ("run_id", "")}
        async for page in pages(
            self._database, "export/turn_verifications", cursor, self.process_id
        ):
            for start in range(0, len(page), _TRAILS):
                turns = page[start : start + _TRAILS]
                rows = await self._database.read(
                    "export/turn_claims",
                    process_id=self.process_id,
                    rows=[[one["node_id"], one["run_id"]] for one in turns],
                )
                yield (
                    turns,
                    [
                        (one, sorted((place, name) for place, name in compared))
                        for one, compared in rows
                    ],
                )

    async def contradictions(self) -> AsyncIterator[list[tuple[str, str, Properties]]]:
        """Claims that contradict each other: the claim_ids of both, and the properties."""
        skip = 0
        while rows := await self._database.read(
            "export/contradictions", process_id=self.process_id, skip=skip, limit=_ATTRIBUTIONS
        ):
            yield [(source, target, one) for source, target, one in rows]
            skip += len(rows)

    def reviews(self) -> AsyncIterator[list[Properties]]:
        """Yield what people said of verdicts, the oldest first."""
        cursor = {"after": ("created_at", ""), "after_id": ("review_id", "")}
        return pages(self._database, "export/reviews", cursor, self.process_id)

    async def trails(self, verification_ids: Sequence[str]) -> AsyncIterator[TrailParts]:
        """Verifications with everything that hangs on them, some at a time."""
        read = self._database.read
        for start in range(0, len(verification_ids), _TRAILS):
            ids = list(verification_ids[start : start + _TRAILS])
            self.progress("verifications", start, len(verification_ids))
            found = await read("export/verifications", verification_ids=ids)
            iterations = await read("export/iterations", verification_ids=ids)
            evidence = await read("export/evidence", verification_ids=ids)
            steps = await read("trail/read_steps", verification_ids=ids)
            trail = await read("export/trail", verification_ids=ids)
            links = await read("export/links", verification_ids=ids)
            errors = await read("export/errors", verification_ids=ids)
            in_force = await read("export/in_force", verification_ids=ids)
            yield TrailParts(
                [properties for (properties,) in found],
                [(properties, checked) for properties, checked in iterations],
                [(name, number, one, cited) for name, number, one, cited in evidence],
                [properties for (properties,) in steps],
                [(one, cited) for one, cited in trail],
                [(name, source, target, one) for name, source, target, one in links],
                [(name, kind, node, one) for name, kind, node, one in errors],
                [(claim_id, name) for claim_id, name in in_force],
            )

    async def check_unchanged(self) -> None:
        """Make sure that what was read is one process and not parts of two.

        Raises:
            ProcessConflict: It was removed, replaced or changed while it was being read.
        """
        rows = await self._database.read("export/process", process_id=self.process_id)
        same = ("content_hash", "created_at")
        if not rows or any(rows[0][0].get(key) != self.properties.get(key) for key in same):
            raise self._changed()

    def _changed(self) -> ProcessConflict:
        return ProcessConflict(
            f"Process {self.process_id!r} was removed, replaced or changed while it was being "
            "read. Run the command again."
        )
