"""Who was an input to whom, shared between the claims of a run.

The sources of a node are read once a run, those of a frontier in one call. What could have
been saved by knowing all ids and edges is counted: as soon as it comes to what they cost, they
are read, once, and nothing more is asked. Whatever a run turns out to be, it pays at most about
twice what it would have paid had it been known beforehand (docs/adr/0013-walking-at-scale.md).

Source: VeriTrail 2 (src); C.1, Algorithm 1 lines 6, 20, 23, 25.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from veritrail_graph.graph.adjacency import Adjacency, Unfit
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import NodeRef, SourcesRead, frontier_order
from veritrail_graph.verifier.ports import SourceNodes
from veritrail_graph.verifier.together import Together

CALL_COSTS, TARGET_COSTS, EDGE_COSTS = 3_000, 50, 10
"""Microseconds of processor time, ours and an engine's, for a call, a node that is asked about,
and an edge that comes back; both engines are alike (measured on paper-size processes)."""

WHOLE_COSTS = 4.5
"""The same for a node or an edge of the topology."""

LARGEST_TOPOLOGY = 8_000_000
"""Nodes and edges that are held in memory at most, some hundred megabytes."""


class ProcessChanged(VeriTrailError):
    """The process was removed or replaced while its claims were being verified."""

    def __init__(self, process_id: str, node_id: str) -> None:
        super().__init__(
            f"Process {process_id!r} was removed or replaced meanwhile: node {node_id!r} is not "
            "there any more."
        )


@dataclass(frozen=True, slots=True)
class Size:
    """How large a process is; 0 where that is not known."""

    nodes: int = 0
    edges: int = 0

    @property
    def price(self) -> float | None:
        """What the topology costs, in microseconds; None where it is out of reach."""
        whole = self.nodes + self.edges
        return WHOLE_COSTS * whole if self.nodes and whole <= LARGEST_TOPOLOGY else None


class SourceReader(Protocol):
    """Reads edges of processes."""

    async def source_nodes(
        self, process_id: str, of: Collection[str], *, with_texts: bool, lowest: int = 0
    ) -> SourcesRead:
        """src() of these nodes as far as they have at least this stage, with texts if asked for."""
        ...

    async def source_below(
        self, process_id: str, of: Collection[str], stage: int
    ) -> tuple[str, NodeRef] | None:
        """One source node before a stage, and which of these nodes it was an input to."""
        ...

    async def topology(self, process_id: str, nodes: int, edges: int) -> Adjacency:
        """Ids and edges of a whole process.

        Raises:
            Unfit: It is no whole process of that size.
        """
        ...


class SharedSources:
    """src() over one process, for all claims of a run.

    Args:
        reader: Where edges are read from.
        process_id: The process.
        size: How large it is.
        take_texts: Given the texts that come along; says how many of them are new.
    """

    def __init__(
        self,
        reader: SourceReader,
        process_id: str,
        size: Size,
        take_texts: Callable[[Mapping[str, str]], int],
    ) -> None:
        self._reader = reader
        self._process_id = process_id
        self._size = size
        self._price = size.price
        self._take_texts = take_texts
        self._spent = 0.0
        self._whole: Adjacency | None = None
        self._sources: dict[str, tuple[str, ...]] = {}
        self._refs: dict[str, NodeRef] = {}
        self._last: SourcesRead | None = None
        self._upper: dict[int, Together[tuple[str, ...]]] = {}
        self._below: dict[str, NodeRef] = {}
        self._all = Together(self._known, self._read)

    async def source_nodes(self, of: Collection[str]) -> SourceNodes:
        """The source nodes of these nodes; none of them may be a root.

        Raises:
            ProcessChanged: One of them has no source nodes any more.
        """
        if self._whole is None:
            sources = await self._all.get(of)
        if self._whole is not None:
            read = self._whole.source_nodes(of)
            self._check(of, read.sources)
            return SourceNodes(read.nodes, read.sources)
        self._check(of, sources)
        last = self._last
        if last is not None and last.sources.keys() == sources.keys():  # read just now, in order
            return SourceNodes(last.nodes, sources)
        return SourceNodes(self._ordered(sources), sources)

    def _check(self, of: Iterable[str], sources: Mapping[str, tuple[str, ...]]) -> None:
        gone = next((name for name in of if not sources.get(name)), None)
        if gone is not None:
            raise ProcessChanged(self._process_id, gone)

    def _ordered(self, sources: Mapping[str, tuple[str, ...]]) -> tuple[NodeRef, ...]:
        names = {source for ids in sources.values() for source in ids}
        return tuple(sorted([self._refs[name] for name in names], key=frontier_order))

    def _known(self, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        return {name: self._sources[name] for name in names if name in self._sources}

    async def _read(self, names: list[str]) -> Mapping[str, tuple[str, ...]]:
        if self._price is not None and self._spent >= self._price:
            await self._read_whole(self._size)
        if self._whole is not None:
            return self._whole.source_nodes(names).sources
        read = await self._reader.source_nodes(self._process_id, names, with_texts=True)
        self._refs.update((ref.node_id, ref) for ref in read.nodes)
        self._sources.update((name, ids) for name, ids in read.sources.items() if ids)
        # Texts that come along with edges cost no more than texts alone: only the rest is dear.
        new = self._take_texts(read.texts) / max(1, len(read.nodes))
        self._spend(read, 1 - new)
        self._last = read
        return read.sources

    def _spend(self, read: SourcesRead, share: float = 1.0) -> None:
        edges = sum(map(len, read.sources.values()))
        costs = CALL_COSTS + TARGET_COSTS * len(read.sources) + EDGE_COSTS * edges
        self._spent += share * costs

    async def _read_whole(self, size: Size) -> None:
        self._price = None  # once, whatever comes of it
        try:
            self._whole = await self._reader.topology(self._process_id, size.nodes, size.edges)
        except Unfit:  # it has changed, which is noticed where it matters
            return
        self._sources, self._refs, self._last = {}, {}, None
        self._upper, self._below = {}, {}

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """Whether any source node of these nodes is not checked, and which ones are.

        Nodes before the first stage of what was checked cannot have been checked. One of them
        is as good as all, so most walks end without reading a frontier that nobody will see.

        Returns:
            The source nodes that are checked, and at least one that is not, if there is any.

        Raises:
            ProcessChanged: One of them has no source nodes any more.
        """
        lowest = min(ref.stage for ref in checked)
        sources = self._known(of)
        if self._whole is None and len(sources) < len(of):
            upper = self._upper.get(lowest)
            if upper is None:
                upper = self._upper[lowest] = self._from_stage(lowest)
            sources = await upper.get(of)
        if self._whole is not None:
            read = self._whole.left(of, checked)
            return SourceNodes(read.nodes, read.sources)
        nodes = self._ordered(sources)
        passed = {ref.node_id for ref in checked}
        if any(ref.node_id not in passed for ref in nodes):
            return SourceNodes(nodes, sources)
        below = await self._one_below(of, lowest)
        if below is None:
            self._check(of, sources)
            return SourceNodes(nodes, sources)
        target, ref = below
        return SourceNodes((ref, *nodes), {**sources, target: (*sources[target], ref.node_id)})

    def _from_stage(self, lowest: int) -> Together[tuple[str, ...]]:
        """Sources of a stage or a later one, by node."""
        remembered: dict[str, tuple[str, ...]] = {}

        def known(names: Collection[str]) -> dict[str, tuple[str, ...]]:
            return {name: remembered[name] for name in names if name in remembered}

        async def read(names: list[str]) -> Mapping[str, tuple[str, ...]]:
            found = await self._reader.source_nodes(
                self._process_id, names, with_texts=False, lowest=lowest
            )
            self._spend(found)
            self._refs.update((ref.node_id, ref) for ref in found.nodes)
            remembered.update(found.sources)
            return found.sources

        return Together(known, read)

    async def _one_below(self, of: Collection[str], lowest: int) -> tuple[str, NodeRef] | None:
        for name in of:
            ref = self._below.get(name)
            if ref is not None and ref.stage < lowest:
                return name, ref
        found = await self._reader.source_below(self._process_id, of, lowest)
        self._spent += CALL_COSTS
        if found is not None:
            self._below[found[0]] = found[1]
        return found
