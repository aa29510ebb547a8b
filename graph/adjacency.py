"""The edges of a stored process for walking: everything but its texts, in integer arrays.

Nodes are numbered in the order of a frontier, so that sorting numbers puts nodes into the
order of prompts, and a process of a million nodes takes some hundred megabytes.

Source: VeriTrail 2 (processes as directed acyclic graphs; src).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, pairwise

from veritrail_graph.graph.model import NodeRef, Role, SourcesRead

ROLES = tuple(Role)
"""Roles by their codes in `Adjacency.roles`."""
_CODES = {role.value: code for code, role in enumerate(ROLES)}
SPARSE = 4
"""Positions may be this many times the number of nodes; larger ones are not ours."""
LATE_FROM = 50_000
"""Answers with this many edges and more make their ids at each use: as many tuples for each claim
take more memory than all else of it."""


class Unfit(ValueError):
    """The fault of an inconsistent reading: an edge from nowhere, or two nodes at one place."""


@dataclass(slots=True)
class Adjacency:
    """Nodes by number in the order of a frontier, and the numbers of their source nodes.

    Attributes:
        ids: node_id by number.
        numbers: Number by node_id.
        stages: Stage by number.
        positions: Place in the input by number.
        roles: Place of the role in `Role`, by number.
        starts: Where the sources of a node begin in `sources`; one entry more than nodes.
        sources: Numbers of source nodes, in order, node by node.
    """

    ids: list[str]
    numbers: dict[str, int]
    stages: array[int]
    positions: array[int]
    roles: bytearray
    starts: array[int]
    sources: array[int]
    _refs: list[NodeRef | None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._refs = [None] * len(self.ids)

    def keep(self, refs: Mapping[str, NodeRef]) -> None:
        """Keep nodes that are known already, by id, in the place of those that are equal."""
        self.numbers = {}
        for number, name in enumerate(self.ids):
            ref = refs.get(name)
            if ref is not None and (ref.stage, ref.position, ref.role) == self._facts(number):
                self._refs[number], self.ids[number] = ref, ref.node_id
            self.numbers[self.ids[number]] = number

    def source_nodes(self, of: Iterable[str], without: Iterable[NodeRef] = ()) -> SourcesRead:
        """src() of these nodes, but for some; one that is not there has none."""
        names, passed = list(of), self._mask(without)
        every, sources = self._every_and_by_name(names)
        found = (number for number in every if not passed[number])
        return SourcesRead(tuple(self.refs(found)), sources, {})

    def left(self, of: Iterable[str], checked: Iterable[NodeRef]) -> SourcesRead:
        """Of src() of these nodes, what is in `checked`, and one node that is not, if any is."""
        names, passed = list(of), self._mask(checked)
        every, sources = self._every_and_by_name(names, passed)
        found = array("I", (number for number in every if passed[number]))
        other = next((number for number in every if not passed[number]), None)
        if other is not None:
            insort(found, other)
        return SourcesRead(tuple(self.refs(found)), sources, {})

    def without_sources(self, of: Iterable[str]) -> str | None:
        """Return the first of these nodes that has no source nodes; None: there is none."""
        for name in of:
            first, behind = self.span(name)
            if first == behind:
                return name
        return None

    def span(self, name: str) -> tuple[int, int]:
        """Two offsets: where the sources of a node begin, and that behind them."""
        number = self.numbers.get(name)
        return (0, 0) if number is None else (self.starts[number], self.starts[number + 1])

    def ids_of(self, span: tuple[int, int], passed: bytearray | None) -> tuple[str, ...]:
        """The ids of source nodes by their offsets: all, or those that a mask by number has."""
        ids, numbers = self.ids, self.sources[span[0] : span[1]]
        if passed is None:
            return tuple([ids[number] for number in numbers])
        return tuple([ids[number] for number in numbers if passed[number]])

    def _mask(self, refs: Iterable[NodeRef]) -> bytearray:
        """By number, whether a node is among these."""
        mask = bytearray(len(self.ids))
        for ref in refs:
            number = self.numbers.get(ref.node_id)
            if number is not None:
                mask[number] = True
        return mask

    def _every_and_by_name(
        self, names: Sequence[str], passed: bytearray | None = None
    ) -> tuple[Sequence[int], Mapping[str, tuple[str, ...]]]:
        """All source nodes, each once and in order, and the ids of those of each node.

        Args:
            names: The nodes that are asked about.
            passed: By number, whether a source node counts for the latter; None: all do.
        """
        spans = self._spans(names)
        if spans is None:
            return self._every_of_many(names), LateSources(self, names, passed)
        parts = [self.sources[first:behind] for first, behind in spans]
        every = sorted(set(chain.from_iterable(parts)))
        ids = (self.ids_of(span, passed) for span in spans)
        return every, dict(zip(names, ids, strict=True))

    def _spans(self, names: Sequence[str]) -> list[tuple[int, int]] | None:
        """The `span` of each node; None: very many edges lead to them."""
        spans: list[tuple[int, int]] = []
        edges = 0
        for name in names:
            spans.append(self.span(name))
            edges += spans[-1][1] - spans[-1][0]
            if edges >= LATE_FROM:
                return None
        return spans if edges < LATE_FROM else None

    def _every_of_many(self, names: Sequence[str]) -> Sequence[int]:
        there = bytearray(len(self.ids))
        for first, behind in map(self.span, names):
            for number in self.sources[first:behind]:
                there[number] = True
        return array("I", compress(range(len(there)), there))

    def refs(self, numbers: Iterable[int]) -> list[NodeRef]:
        """Nodes by their numbers."""
        return [self._refs[number] or self._made(number) for number in numbers]

    def _made(self, number: int) -> NodeRef:
        ref = NodeRef(self.ids[number], *self._facts(number))
        self._refs[number] = ref
        return ref

    def _facts(self, number: int) -> tuple[int, int, Role]:
        """Its stage, its place in the input, and its role."""
        return self.stages[number], self.positions[number], ROLES[self.roles[number]]


class LateSources(Mapping[str, tuple[str, ...]]):
    """The ids of source nodes by the node that they were inputs to, made at each use.

    Args:
        of: The edges.
        asked: The nodes that were asked about.
        passed: By number, whether a source node counts; None: all do.
    """

    __slots__ = ("_adjacency", "_asked", "_missing", "_passed")

    def __init__(self, of: Adjacency, asked: Sequence[str], passed: bytearray | None) -> None:
        self._adjacency = of
        known = (of.numbers.get(name) for name in asked)
        self._asked = array("I", sorted(number for number in known if number is not None))
        self._missing = tuple([name for name in asked if name not in of.numbers])
        self._passed = passed

    def __getitem__(self, name: str) -> tuple[str, ...]:
        number = self._adjacency.numbers.get(name)
        if number is None and name in self._missing:
            return ()
        if number is None or not self._has(number):
            raise KeyError(name)
        return self._adjacency.ids_of(self._adjacency.span(name), self._passed)

    def _has(self, number: int) -> bool:
        place = bisect_left(self._asked, number)
        return place < len(self._asked) and self._asked[place] == number

    def __iter__(self) -> Iterator[str]:
        return chain((self._adjacency.ids[number] for number in self._asked), self._missing)

    def __len__(self) -> int:
        return len(self._asked) + len(self._missing)


class JoinedSources(Mapping[str, tuple[str, ...]]):
    """Source nodes in several parts, of which no two have the same node."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: Mapping[str, tuple[str, ...]]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> tuple[str, ...]:
        for part in self._parts:
            found = part.get(name)
            if found is not None:
                return found
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return chain(*self._parts)

    def __len__(self) -> int:
        return sum(map(len, self._parts))


@dataclass(slots=True)
class AdjacencyBuilder:
    """Takes nodes in any order, each with the positions of its source nodes."""

    _ids: list[str] = field(default_factory=list)
    _stages: array[int] = field(default_factory=lambda: array("q"))
    _positions: array[int] = field(default_factory=lambda: array("q"))
    _roles: bytearray = field(default_factory=bytearray)
    _ends: array[int] = field(default_factory=lambda: array("q"))
    _sources: array[int] = field(default_factory=lambda: array("q"))

    @property
    def nodes(self) -> int:
        """Return how many nodes there are by now."""
        return len(self._ids)

    @property
    def edges(self) -> int:
        """Return how many edges there are by now."""
        return len(self._sources)

    def add(
        self, node_id: str, stage: int, position: int, role: str, sources: Iterable[int]
    ) -> None:
        """Add a node."""
        self._ids.append(node_id)
        self._stages.append(stage)
        self._positions.append(position)
        self._roles.append(_CODES[role])
        self._sources.extend(sources)
        self._ends.append(len(self._sources))

    def build(self) -> Adjacency:
        """Number the nodes anew, in the order of a frontier.

        Raises:
            Unfit: The nodes and edges are not those of one process.
        """
        beyond = max(self._positions, default=0) + 1
        if beyond > SPARSE * len(self._ids) + 1:
            raise Unfit(f"{len(self._ids)} nodes, but a place of {beyond - 1}")
        if max(self._sources, default=0) >= beyond:
            raise Unfit(f"a source node at place {max(self._sources)} is not among the nodes")
        order = self._order()
        number_at = self._numbers_by_position(order, beyond)
        starts, sources = array("I", [0]), array("I")
        for row in order:
            first = self._ends[row - 1] if row else 0
            inputs = sorted([number_at[place] for place in self._sources[first : self._ends[row]]])
            if inputs and inputs[0] < 0:
                raise Unfit(f"a source node of {self._ids[row]!r} is not among the nodes")
            sources.extend(inputs)
            starts.append(len(sources))
        ids = list(map(self._ids.__getitem__, order))
        return Adjacency(
            ids,
            {name: number for number, name in enumerate(ids)},
            array("q", map(self._stages.__getitem__, order)),
            array("I", map(self._positions.__getitem__, order)),
            bytearray(map(self._roles.__getitem__, order)),
            starts,
            sources,
        )

    def _order(self) -> Sequence[int]:
        """The rows in the order of a frontier, in which they come mostly."""
        keys = zip(self._stages, self._positions, strict=True)
        if all(one < another for one, another in pairwise(keys)):
            return range(len(self._ids))
        rows = sorted(range(len(self._ids)), key=self._positions.__getitem__)
        return array("I", sorted(rows, key=self._stages.__getitem__))

    def _numbers_by_position(self, order: Sequence[int], beyond: int) -> array[int]:
        number_at = array("q", [-1]) * beyond
        for number, row in enumerate(order):
            if number_at[self._positions[row]] >= 0:
                raise Unfit(f"two nodes have the place {self._positions[row]}")
            number_at[self._positions[row]] = number
        return number_at
