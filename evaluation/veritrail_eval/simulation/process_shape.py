"""The shape of a process in arrays, without texts: a million nodes take some tens of megabytes.

Source: VeriTrail 2 (processes as directed acyclic graphs; src).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from veritrail_graph.graph.adjacency import ROLES, Adjacency
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import NodeRef, Role

Numbers = NDArray[np.int64]

ROOT, INTERMEDIATE, TERMINAL, UNSOURCED = (
    ROLES.index(role) for role in (Role.ROOT, Role.INTERMEDIATE, Role.TERMINAL, Role.UNSOURCED)
)


@dataclass(frozen=True)
class ProcessShape:
    """Nodes by number in the order of a frontier, and the numbers of their source nodes.

    Attributes:
        name: What it is called in a table.
        stages: Stage by number; ascending.
        roles: Place of the role in `ROLES`, by number.
        starts: Where the sources of a node begin in `sources`; one entry more than nodes.
        sources: Numbers of source nodes, ascending, node by node.
        node: Number of the verified node.
        sentences: How many sentences a node has, by number; at least one.
    """

    name: str
    stages: NDArray[np.int32]
    roles: NDArray[np.uint8]
    starts: Numbers
    sources: NDArray[np.int32]
    node: int
    sentences: NDArray[np.int32]

    @classmethod
    def of_edges(
        cls,
        name: str,
        stages: Sequence[int],
        edges: Sequence[tuple[Numbers, Numbers]],
        sentences: Sequence[int],
    ) -> ProcessShape:
        """A process from the sizes of its stages; the last node is the verified one.

        Args:
            name: What it is called.
            stages: How many nodes each stage has; stage 1 comes first.
            edges: Numbers of sources and of targets; an edge that is given twice is one.
            sentences: Sentences of a node, by stage.
        """
        nodes = sum(stages)
        pairs = np.concatenate([targets * nodes + sources for sources, targets in edges])
        targets, sources = np.divmod(np.unique(pairs), nodes)
        counts = np.bincount(targets, minlength=nodes)
        has_targets = np.bincount(sources, minlength=nodes) > 0
        roles = np.where(counts == 0, ROOT, np.where(has_targets, INTERMEDIATE, TERMINAL))
        return cls(
            name,
            np.repeat(np.arange(1, len(stages) + 1, dtype=np.int32), stages),
            roles.astype(np.uint8),
            np.concatenate([[0], np.cumsum(counts)]),
            sources.astype(np.int32),
            nodes - 1,
            np.repeat(np.asarray(sentences, dtype=np.int32), stages),
        )

    @classmethod
    def of_adjacency(
        cls, name: str, adjacency: Adjacency, node_id: str, sentences: tuple[int, int]
    ) -> ProcessShape:
        """The shape of a real process.

        Args:
            name: What it is called.
            adjacency: Its nodes and edges.
            node_id: The verified node.
            sentences: Sentences of a root, and of any other node.

        Raises:
            InputError: The node is not there.
        """
        if node_id not in adjacency.numbers:
            raise InputError(f"{name}: it has no node {node_id!r}.")
        roles = np.frombuffer(bytes(adjacency.roles), dtype=np.uint8)
        return cls(
            name,
            np.array(adjacency.stages, dtype=np.int32),
            roles,
            np.array(adjacency.starts, dtype=np.int64),
            np.array(adjacency.sources, dtype=np.int32),
            adjacency.numbers[node_id],
            np.where(roles == ROOT, *sentences).astype(np.int32),
        )

    def with_sentences(self, of_stages: Sequence[int]) -> ProcessShape:
        """Return the same with other sizes of its nodes: one number, or one for each stage.

        Raises:
            InputError: There are more or fewer numbers than stages, or one is below 1.
        """
        known = np.unique(self.stages)
        if len(of_stages) not in (1, len(known)):
            raise InputError(
                f"sentences: {len(of_stages)} numbers are given, and {self.name} has {len(known)} "
                "stages. Give one number, or one for each stage."
            )
        if min(of_stages) < 1:
            raise InputError(f"sentences: {min(of_stages)} is too few; a node has at least one.")
        sizes = np.asarray(of_stages, dtype=np.int32)
        places = (
            np.searchsorted(known, self.stages) if len(sizes) > 1 else np.zeros_like(self.stages)
        )
        return replace(self, sentences=sizes[places])

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.stages)

    @property
    def edges(self) -> int:
        """Number of edges."""
        return len(self.sources)

    def stage_counts(self) -> list[tuple[int, int]]:
        """Return how many nodes each stage has, the lowest stage first."""
        stages, counts = np.unique(self.stages, return_counts=True)
        return list(zip(stages.tolist(), counts.tolist(), strict=True))

    def source_numbers(self, of: Numbers) -> Numbers:
        """src() of these nodes: numbers, each once, ascending."""
        found = self.sources[self._places(of)]
        if len(found) < self.nodes // 64:
            return np.unique(found).astype(np.int64)
        is_source = np.zeros(self.nodes, dtype=bool)
        is_source[found] = True
        return np.flatnonzero(is_source)

    def ref(self, number: int) -> NodeRef:
        """A node as a walk sees it; its id is its number."""
        role = ROLES[self.roles[number]]
        return NodeRef(str(number), int(self.stages[number]), number, role)

    @cached_property
    def distances(self) -> NDArray[np.int32]:
        """Fewest edges from a node to the verified one; -1: it did not go into it."""
        found = np.full(self.nodes, -1, dtype=np.int32)
        frontier, distance = np.array([self.node], dtype=np.int64), 0
        while len(frontier):
            found[frontier] = distance
            frontier = self.source_numbers(frontier)
            frontier, distance = frontier[found[frontier] < 0], distance + 1
        return found

    @cached_property
    def nearer(self) -> tuple[Numbers, NDArray[np.int32]]:
        """The nodes by which each came nearest to the verified one: starts by number, and them."""
        targets = np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.starts))
        distances = self.distances
        is_next = (distances[targets] >= 0) & (distances[self.sources] == distances[targets] + 1)
        sources, targets = self.sources[is_next], targets[is_next]
        counts = np.bincount(sources, minlength=self.nodes)
        order = np.argsort(sources, kind="stable")
        return np.concatenate([[0], np.cumsum(counts)]), targets[order]

    def _places(self, of: Numbers) -> Numbers:
        """Places in `sources` of what these nodes were made from."""
        first, counts = self.starts[of], self.starts[of + 1] - self.starts[of]
        before = np.cumsum(counts) - counts
        return np.repeat(first - before, counts) + np.arange(counts.sum())
