"""A process that is held in memory, for walks that need no engine.

The rules of a process, its stages and its roles are those of an ingest; walks read it as they
read a stored one.

Source: VeriTrail 2 (the conceptual framework).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from veritrail_graph.graph.adjacency import Adjacency, AdjacencyBuilder
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import NodeRecord, ProcessInput
from veritrail_graph.graph.ingest.check import MAX_NODE_TEXT, Survey, survey
from veritrail_graph.graph.model import Claim, NodeRef, Role
from veritrail_graph.verifier.copying import is_copy
from veritrail_graph.verifier.nodes import HELD_IN_SENTENCES, SPLIT_IN_THREAD, Splitter
from veritrail_graph.verifier.ports import LateNode, ReadNode, SourceNodes, SplitNode


@dataclass(frozen=True)
class HeldProcess:
    """A process with its texts.

    Attributes:
        survey: What the check of an ingest found: id, hash, terminals, claims, warnings.
        nodes: Every node, in the order of a frontier.
        texts: Text by node_id.
        metadata: What the input says of a node besides, by node_id, where it says anything.
        questions: What a node answers, by node_id, where the node itself says so.
        steps: What wrote a node, such as an agent, by node_id, where the input says so.
    """

    survey: Survey
    nodes: tuple[NodeRef, ...]
    texts: Mapping[str, str]
    metadata: Mapping[str, Mapping[str, Any]]
    adjacency: Adjacency
    questions: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, source: ProcessInput, *, max_node_text: int = MAX_NODE_TEXT) -> HeldProcess:
        """Read a process whole.

        Raises:
            InvalidProcess: It breaks rules; all violations are listed.
        """
        found = survey(source, max_node_text=max_node_text)
        records = found.kept
        if records is None:
            records = [one for one in source.records() if isinstance(one, NodeRecord)]
        first: dict[str, NodeRecord] = {}
        for record in records:
            first.setdefault(record.node_id, record)
        adjacency = adjacency_of(found)
        nodes = tuple(adjacency.refs(range(len(adjacency.ids))))
        return cls(
            found,
            nodes,
            {name: one.text for name, one in first.items()},
            {name: one.metadata for name, one in first.items() if one.metadata},
            adjacency,
            {name: one.question for name, one in first.items() if one.question},
            {name: one.step for name, one in first.items() if one.step},
        )

    def repeated_steps(self) -> dict[int, tuple[str, ...]]:
        """Return which steps wrote the texts of each stage, where one wrote at several stages.

        So it is with agents that take turns. Empty: a stage says as much as its steps do.
        """
        found: dict[int, dict[str, None]] = {}
        stages: dict[str, set[int]] = {}
        for ref in self.nodes:
            step = self.steps.get(ref.node_id)
            if step is not None and not ref.is_root:
                found.setdefault(ref.known_stage, {})[step] = None
                stages.setdefault(step, set()).add(ref.known_stage)
        if not any(len(one) > 1 for one in stages.values()):
            return {}
        return {stage: tuple(steps) for stage, steps in sorted(found.items())}

    @property
    def process_id(self) -> str:
        """Its id: its own, or one derived from its content."""
        return self.survey.process_id

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Its claims, with ids and nodes filled in."""
        return self.survey.claims

    @cached_property
    def by_id(self) -> dict[str, NodeRef]:
        """Nodes by node_id."""
        return {ref.node_id: ref for ref in self.nodes}

    @cached_property
    def roots(self) -> tuple[NodeRef, ...]:
        """The source text, in the order of a frontier."""
        return tuple(ref for ref in self.nodes if ref.is_root)

    def node(self, node_id: str) -> NodeRef:
        """A node by its id.

        Raises:
            InputError: There is none.
        """
        found = self.by_id.get(node_id)
        if found is None:
            raise InputError(f"process {self.process_id!r} has no node {node_id!r}")
        return found

    def node_of(self, node_id: str | None) -> NodeRef:
        """The node that a claim is about: the one that it names, else the only terminal.

        Raises:
            InputError: There is no such node; or none is named, and there are several terminals.
        """
        if node_id is not None:
            return self.node(node_id)
        terminals = self.survey.terminals
        if len(terminals) != 1:
            raise InputError(
                f"process {self.process_id!r} has {len(terminals)} terminals: a claim about it "
                "must name its node"
            )
        return self.node(terminals[0])

    def roots_below(self, node_id: str) -> tuple[NodeRef, ...]:
        """The source text that a node was made from, directly or over other nodes."""
        seen, waiting = {node_id}, [node_id]
        while waiting:
            sources = self.adjacency.source_nodes(waiting).nodes
            waiting = [ref.node_id for ref in sources if ref.node_id not in seen]
            seen.update(waiting)
        return tuple(ref for ref in self.roots if ref.node_id in seen)


def adjacency_of(found: Survey) -> Adjacency:
    """The edges of a process that was read, for walking."""
    topology = found.topology
    builder = AdjacencyBuilder()
    inputs: list[list[int]] = [[] for _ in topology.ids]
    for source, target in topology.edges:
        inputs[target].append(source)
    for number, node_id in enumerate(topology.ids):
        role: Role = found.roles[number]
        builder.add(node_id, topology.stages[number], number, role, inputs[number])
    return builder.build()


class HeldNodes:
    """A `NodeSource` over a held process.

    Args:
        process: The process.
        splitter: Splits texts into sentences; each text is split once.
    """

    def __init__(self, process: HeldProcess, splitter: Splitter) -> None:
        self._process = process
        self._splitter = splitter
        self._split: dict[str, ReadNode] = {}

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        metadata = self._process.metadata
        return frozenset(name for name in node_ids if is_copy(metadata.get(name, {})))

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of these nodes without those checked."""
        read = self._process.adjacency.source_nodes(of, checked)
        return SourceNodes(read.nodes, read.sources)

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """Return whether any source node of these nodes is not checked, and which ones are."""
        read = self._process.adjacency.left(of, checked)
        return SourceNodes(read.nodes, read.sources)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in this order, split into sentences."""
        new = [ref for ref in nodes if ref.node_id not in self._split]
        characters = sum(len(self._process.texts[ref.node_id]) for ref in new)
        if characters < SPLIT_IN_THREAD:
            self._keep(new)
        else:
            await asyncio.to_thread(self._keep, new, is_late=characters > HELD_IN_SENTENCES)
        return tuple([self._split[ref.node_id] for ref in nodes])

    def _keep(self, nodes: Iterable[NodeRef], *, is_late: bool = False) -> None:
        make = LateNode.of if is_late else SplitNode
        for ref in nodes:
            text = self._process.texts[ref.node_id]
            sentences = self._splitter.split(ref.node_id, text)
            self._split[ref.node_id] = make(ref, text, sentences)


class SharedHeldNodes:
    """The nodes of several held processes, for all claims: each text is split once.

    Args:
        splitter: Splits texts into sentences.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._splitter = splitter
        self._made: dict[int, HeldNodes] = {}  # by identity: the nodes keep their process

    def of(self, process: HeldProcess) -> HeldNodes:
        """The nodes of a process; always the same ones."""
        if id(process) not in self._made:
            self._made[id(process)] = HeldNodes(process, self._splitter)
        return self._made[id(process)]
