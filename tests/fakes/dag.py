"""A process in memory: a dict of source nodes, with stages, roles and texts.

`Dag` answers what a `NodeSource` answers; `dags()` draws random ones for hypothesis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from veritrail_graph.graph.model import NodeRef, Role, Sentence, frontier_order
from veritrail_graph.verifier.ports import ReadNode, SourceNodes, SplitNode


def longest_distances(sources: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Longest distance from a root, by relaxing every edge until nothing changes."""
    distance = dict.fromkeys(sources, 0)
    changed = True
    while changed:
        changed = False
        for node, inputs in sources.items():
            for source in inputs:
                if distance[node] < distance[source] + 1:
                    distance[node] = distance[source] + 1
                    changed = True
    return distance


@dataclass(frozen=True)
class Dag:
    """Source nodes by node, and everything that a walk asks of them.

    `texts` may hold a list of sentences a node; a node without an entry has one sentence.
    """

    sources: Mapping[str, tuple[str, ...]]
    refs: Mapping[str, NodeRef]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        sources: Mapping[str, Iterable[str]],
        *,
        stages: Mapping[str, int] | None = None,
        positions: Mapping[str, int] | None = None,
        texts: Mapping[str, Sequence[str]] | None = None,
    ) -> Dag:
        """A process from its edges; nodes that are only named as sources are roots.

        Stages are 1 + the longest distance from a root when none are given, positions the
        order in which the nodes are named.
        """
        whole = {node: tuple(inputs) for node, inputs in sources.items()}
        for inputs in list(whole.values()):
            for source in inputs:
                whole.setdefault(source, ())
        if stages is None:
            stages = {node: 1 + far for node, far in longest_distances(whole).items()}
        feeds = {source for inputs in whole.values() for source in inputs}
        refs = {}
        for place, (node, inputs) in enumerate(whole.items()):
            role = Role.INTERMEDIATE if node in feeds else Role.TERMINAL
            position = place if positions is None else positions[node]
            refs[node] = NodeRef(node, stages[node], position, role if inputs else Role.ROOT)
        return cls(whole, refs, texts or {})

    @property
    def roots(self) -> set[str]:
        return {node for node, inputs in self.sources.items() if not inputs}

    @property
    def edges(self) -> set[tuple[str, str]]:
        return {(source, node) for node, inputs in self.sources.items() for source in inputs}

    def src(self, nodes: Iterable[str]) -> set[str]:
        """src() of the paper, of a set of nodes."""
        return {source for node in nodes for source in self.sources[node]}

    def source_nodes(self, of: Collection[str], checked: Collection[NodeRef] = ()) -> SourceNodes:
        """What a store answers: each source node once, in the order of a frontier."""
        refs = {self.refs[name] for name in self.src(of)}
        found = sorted(refs.difference(checked), key=frontier_order)
        return SourceNodes(tuple(found), {node: self.sources[node] for node in of})

    def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """The least that may be answered when no iteration follows: one node for all others."""
        passed = {ref.node_id for ref in checked}
        others = [name for name in sorted(self.src(of)) if name not in passed][:1]
        kept = passed.union(others)
        sources = {node: tuple(name for name in self.sources[node] if name in kept) for node in of}
        names = {name for ids in sources.values() for name in ids}
        found = sorted((self.refs[name] for name in names), key=frontier_order)
        return SourceNodes(tuple(found), sources)

    def sentences(self, node: str) -> tuple[Sentence, ...]:
        """The sentences of a node, joined by one space each in its text."""
        made, start = [], 0
        for index, text in enumerate(self.texts.get(node, [f"What {node} says."])):
            made.append(Sentence(node, index, start, start + len(text), text))
            start += len(text) + 1
        return tuple(made)

    def read(self, nodes: Iterable[NodeRef]) -> tuple[ReadNode, ...]:
        """The nodes with their texts."""
        split = [(ref, self.sentences(ref.node_id)) for ref in nodes]
        return tuple(SplitNode(ref, " ".join(s.text for s in said), said) for ref, said in split)


class DagSource:
    """A `NodeSource` over a `Dag`, which keeps what was asked of it."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.call: list[tuple[str, ...]] = []
        self.reads: list[tuple[str, ...]] = []

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        self.call.append(tuple(of))
        return self.dag.source_nodes(of, checked)

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        return self.dag.left(of, checked)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        self.reads.append(tuple(ref.node_id for ref in nodes))
        return self.dag.read(nodes)

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        del node_ids
        return frozenset()


@st.composite
def dags(draw: st.DrawFn, *, max_nodes: int = 12) -> tuple[Dag, str]:
    """A random process and a node of it that is no root.

    Stages keep the rules of the paper: derived, or derived and stretched; the places in
    the input are shuffled, so that no order of the walk follows from the names.
    """
    roots = draw(st.integers(1, 3))
    count = draw(st.integers(roots + 1, max_nodes))
    names = [f"n{number}" for number in range(count)]
    reach = draw(st.integers(1, 6))  # small: long chains; large: everything anywhere
    sources: dict[str, tuple[str, ...]] = dict.fromkeys(names[:roots], ())
    for number in range(roots, count):
        near = names[max(0, number - reach) : number]
        chosen = draw(st.sets(st.sampled_from(near), min_size=1, max_size=4))
        sources[names[number]] = tuple(sorted(chosen))
    distance = longest_distances(sources)
    stretch = draw(st.integers(1, 3))
    stages = {node: 1 + far * stretch for node, far in distance.items()}
    places = draw(st.permutations(range(count)))
    target = draw(st.sampled_from(names[: roots - 1 : -1]))  # the last one first
    dag = Dag.of(sources, stages=stages, positions=dict(zip(names, places, strict=True)))
    return dag, target
