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
"""Edges of an answer from which on ids are made at each use: as many tuples for each claim take
more memory than all else of it."""


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
        """Keep nodes that are known already, by id, in the place of equal ones."""
        self.numbers = {}
        for number, name in enumerate(self.ids):
            ref = refs.get(name)
            if ref is not None:
                self._refs[number], self.ids[number] = ref, ref.node_id
            self.numbers[self.ids[number]] = number

    def source_nodes(self, of: Iterable[str], without: Iterable[NodeRef] = ()) -> SourcesRead:
        """src() of these nodes, but for some; one that is not there has none."""
        asked = _Asked.of(of, self)
        passed = self._mask(without)
        found = array("I", (n for n in self._sources_of(asked) if not passed[n]))
        return SourcesRead(tuple(self.refs(found)), self._by_name(asked), {})

    def left(self, of: Iterable[str], checked: Iterable[NodeRef]) -> SourcesRead:
        """Of src() of these nodes, what is in `checked`, and one node that is not, if any is."""
        asked = _Asked.of(of, self)
        passed = self._mask(checked)
        every = self._sources_of(asked)
        found = array("I", (number for number in every if passed[number]))
        other = next((number for number in every if not passed[number]), None)
        if other is not None:
            insort(found, other)
        return SourcesRead(tuple(self.refs(found)), self._by_name(asked, passed), {})

    def _mask(self, refs: Iterable[NodeRef]) -> bytearray:
        """By number, whether a node is among these."""
        mask = bytearray(len(self.ids))
        for ref in refs:
            number = self.numbers.get(ref.node_id)
            if number is not None:
                mask[number] = True
        return mask

    def _by_name(
        self, asked: _Asked, passed: bytearray | None = None
    ) -> Mapping[str, tuple[str, ...]]:
        """The ids of source nodes, in order, by the node: made now, or of very many at each use."""
        late = LateSources(self, asked, passed)
        if self._edges_to(asked) >= LATE_FROM:
            return late
        return {name: late.of(n) for name, n in zip(asked.names, asked.numbers, strict=True)}

    def _sources_of(self, asked: _Asked) -> Sequence[int]:
        """The numbers of all source nodes, each once, in order."""
        spans = map(self.span, asked.numbers)
        if self._edges_to(asked) < LATE_FROM:
            parts = (self.sources[first:behind] for first, behind in spans)
            return sorted(set(chain.from_iterable(parts)))
        there = bytearray(len(self.ids))
        for first, behind in spans:
            for number in self.sources[first:behind]:
                there[number] = True
        return array("I", compress(range(len(there)), there))

    def _edges_to(self, asked: _Asked) -> int:
        return sum(behind - first for first, behind in map(self.span, asked.numbers))

    def span(self, number: int | None) -> tuple[int, int]:
        """Two offsets: where the sources of a node begin, and that behind them."""
        return (0, 0) if number is None else (self.starts[number], self.starts[number + 1])

    def refs(self, numbers: Iterable[int]) -> list[NodeRef]:
        """Nodes by their numbers."""
        return [self._refs[number] or self._made(number) for number in numbers]

    def _made(self, number: int) -> NodeRef:
        role = ROLES[self.roles[number]]
        ref = NodeRef(self.ids[number], self.stages[number], self.positions[number], role)
        self._refs[number] = ref
        return ref


@dataclass(frozen=True, slots=True)
class _Asked:
    """The ids of nodes that are asked about, and the number of each; None: it is not there."""

    names: Sequence[str]
    numbers: Sequence[int | None]

    @classmethod
    def of(cls, names: Iterable[str], there: Adjacency) -> _Asked:
        every = list(names)
        return cls(every, list(map(there.numbers.get, every)))


class LateSources(Mapping[str, tuple[str, ...]]):
    """The ids of source nodes by the node that they were inputs to, made at each use.

    Args:
        of: The edges.
        asked: The nodes that were asked about.
        passed: By number, whether a source node counts; None: all do.
    """

    __slots__ = ("_adjacency", "_asked", "_missing", "_passed")

    def __init__(self, of: Adjacency, asked: _Asked, passed: bytearray | None) -> None:
        self._adjacency = of
        self._asked = array("I", sorted(n for n in asked.numbers if n is not None))
        pairs = zip(asked.names, asked.numbers, strict=True)
        self._missing = tuple([name for name, number in pairs if number is None])
        self._passed = passed

    def of(self, number: int | None) -> tuple[str, ...]:
        """The ids of the source nodes of a node by its number."""
        first, behind = self._adjacency.span(number)
        ids, passed = self._adjacency.ids, self._passed
        numbers = self._adjacency.sources[first:behind]
        return tuple([ids[one] for one in numbers if passed is None or passed[one]])

    def __getitem__(self, name: str) -> tuple[str, ...]:
        number = self._adjacency.numbers.get(name)
        if number is None and name in self._missing:
            return ()
        if number is None or not self._has(number):
            raise KeyError(name)
        return self.of(number)

    def _has(self, number: int) -> bool:
        place = bisect_left(self._asked, number)
        return place < len(self._asked) and self._asked[place] == number

    def __iter__(self) -> Iterator[str]:
        return chain((self._adjacency.ids[number] for number in self._asked), self._missing)

    def __len__(self) -> int:
        return len(self._asked) + len(self._missing)


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
        """The rows in the order of a frontier, as which they mostly came."""
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
