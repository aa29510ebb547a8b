"""The edges of a stored process for walking: everything but its texts, in integer arrays.

Nodes are numbered in the order of a frontier, so that sorting numbers puts nodes into the
order of prompts, and a process of a million nodes takes some hundred megabytes.

Source: VeriTrail 2 (processes as directed acyclic graphs; src).
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.model import NodeRef, Role, SourcesRead

ROLES = tuple(Role)
"""Roles by their codes in `Adjacency.roles`."""
_CODES = {role.value: code for code, role in enumerate(ROLES)}
SPARSE = 4
"""Positions may be this many times the number of nodes; larger ones are not ours."""


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
    _refs: dict[int, NodeRef] = field(default_factory=dict)

    def source_nodes(self, of: Iterable[str]) -> SourcesRead:
        """src() of these nodes; one that is not there has none."""
        found: set[int] = set()
        sources: dict[str, tuple[str, ...]] = {}
        for name in of:
            numbers = self._sources_of(name)
            found.update(numbers)
            sources[name] = tuple([self.ids[number] for number in numbers])
        return SourcesRead(tuple([self._ref(number) for number in sorted(found)]), sources, {})

    def left(self, of: Iterable[str], checked: Collection[NodeRef]) -> SourcesRead:
        """Of src() of these nodes, what is in `checked`, and one node that is not, if any is."""
        passed = {self.numbers[ref.node_id] for ref in checked}
        found: set[int] = set()
        sources: dict[str, tuple[str, ...]] = {}
        is_left = False
        for name in of:
            kept = []
            for number in self._sources_of(name):
                if number in passed:
                    kept.append(number)
                elif not is_left:
                    is_left = True
                    found.add(number)
            found.update(kept)
            sources[name] = tuple([self.ids[number] for number in kept])
        return SourcesRead(tuple([self._ref(number) for number in sorted(found)]), sources, {})

    def _sources_of(self, name: str) -> Sequence[int]:
        number = self.numbers.get(name)
        return () if number is None else self.sources[self.starts[number] : self.starts[number + 1]]

    def refs(self, numbers: Iterable[int]) -> list[NodeRef]:
        """Nodes by their numbers."""
        return [self._ref(number) for number in numbers]

    def _ref(self, number: int) -> NodeRef:
        ref = self._refs.get(number)
        if ref is None:
            role = ROLES[self.roles[number]]
            ref = NodeRef(self.ids[number], self.stages[number], self.positions[number], role)
            self._refs[number] = ref
        return ref


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
        keys = [
            stage * beyond + place
            for stage, place in zip(self._stages, self._positions, strict=True)
        ]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        number_at = self._numbers_by_position(order, beyond)
        starts, sources = array("q", [0]), array("L")
        for row in order:
            first = self._ends[row - 1] if row else 0
            inputs = sorted([number_at[place] for place in self._sources[first : self._ends[row]]])
            if inputs and inputs[0] < 0:
                raise Unfit(f"a source node of {self._ids[row]!r} is not among the nodes")
            sources.extend(inputs)
            starts.append(len(sources))
        ids = [self._ids[row] for row in order]
        return Adjacency(
            ids,
            {name: number for number, name in enumerate(ids)},
            array("q", [self._stages[row] for row in order]),
            array("q", [self._positions[row] for row in order]),
            bytearray([self._roles[row] for row in order]),
            starts,
            sources,
        )

    def _numbers_by_position(self, order: Sequence[int], beyond: int) -> array[int]:
        number_at = array("q", [-1]) * beyond
        for number, row in enumerate(order):
            if number_at[self._positions[row]] >= 0:
                raise Unfit(f"two nodes have the place {self._positions[row]}")
            number_at[self._positions[row]] = number
        return number_at
