"""Nodes for the walk, read from the store once and shared between the claims of a run.

The sources of a node are read once a run, those of a frontier in one call. What could have
been saved by knowing all ids and edges is counted: as soon as it exceeds what they cost, or would
with a question about very many nodes, they are read, once, and nothing more is asked. Whatever a
run turns out to be, it pays at most about twice what it would have paid had it been known
beforehand (docs/adr/0013-walking-at-scale.md).
Texts are read once a run, too: they stay split into sentences while they fit into memory, and the
rest stays in a file.

Source: VeriTrail 2 (src); 3.1.2 (sentences of a frontier); C.1, Algorithm 1 lines 6, 20, 23, 25.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Generic, Protocol, TypeVar

from veritrail_graph.graph.adjacency import Adjacency, Unfit
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import NodeRef, Sentence, SourcesLeft, SourcesRead, in_order
from veritrail_graph.verifier.filed_texts import FiledNode, TextFile
from veritrail_graph.verifier.ports import LateNode, ReadNode, SourceNodes, SplitNode

T = TypeVar("T")


CACHED_CHARACTERS = 8_000_000
"""Characters of texts that a run holds in memory; it keeps the rest in a file."""
HELD_IN_SENTENCES = 1_000_000
"""Characters that are read at once of which the sentences are held; of more, only their places."""
READ_AT_ONCE = 5_000
"""Texts that are read from an engine and split before the next ones are. Where the source nodes of
more nodes are asked for, no texts come along: they would all be in memory before they are split."""
PASSED_AT_ONCE = 10 * READ_AT_ONCE
"""Nodes that are looked up together: of a frontier of all nodes, dicts by id take much memory."""
SPLIT_IN_THREAD = 50_000
"""Characters to split from which on it is done in a thread, so that others can go on."""

CALL_COSTS, TARGET_COSTS, EDGE_COSTS = 3_000, 50, 10
"""Microseconds of processor time, ours and an engine's, for a call, a node that is asked about,
and an edge that comes back; both engines are alike (measured on paper-size processes)."""

WHOLE_COSTS = 4.5
"""The same for a node or an edge of the topology."""

MOST_FOLLOWED = 250_000
"""Edges to a frontier from which on what was checked is left out here: one answer is bounded."""

LARGEST_TOPOLOGY = 8_000_000
"""Nodes and edges that are held in memory at most, some hundred megabytes."""


class ProcessChanged(VeriTrailError):
    """The process was removed or replaced while its claims were being verified."""

    code = "process_changed"

    def __init__(self, process_id: str, node_id: str) -> None:
        super().__init__(
            f"Process {process_id!r} was removed or replaced meanwhile: node {node_id!r} is not "
            "there any more.",
            process_id=process_id,
            node_id=node_id,
        )


def expect_sources(
    process_id: str, of: Iterable[str], sources: Mapping[str, tuple[str, ...]]
) -> None:
    """See that nodes have source nodes: none of them may be a root.

    Raises:
        ProcessChanged: One of them has none any more.
    """
    if not all(map(sources.get, of)):
        removed = next(name for name in of if not sources.get(name))
        raise ProcessChanged(process_id, removed)


class Splitter(Protocol):
    """Splits a text into sentences."""

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        """The sentences of a node's text."""
        ...


class Reader(Protocol):
    """Reads nodes of processes; `graph.store.NodeReader` is one."""

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts by node_id."""
        ...

    async def copies(self, process_id: str, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        ...

    async def source_nodes(
        self,
        process_id: str,
        of: Collection[str],
        *,
        with_texts: bool,
        checked: Collection[str] = (),
    ) -> SourcesRead:
        """src() of these nodes, with texts if asked for, and which of them were checked."""
        ...

    async def next_frontier(
        self,
        process_id: str,
        verdicts: Sequence[str],
        q: int,
        frontier: Collection[str],
        evidence: Collection[str],
        checked: Collection[str],
    ) -> SourcesRead:
        """The next frontier after an iteration, and the count that may stop the walk."""
        ...

    async def left(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> SourcesLeft:
        """Return whether src() of these nodes has unchecked ones, and what was checked in it."""
        ...

    async def candidates(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> set[str]:
        """node_ids of src() of these nodes, without those checked."""
        ...

    async def topology(self, process_id: str, nodes: int, edges: int) -> Adjacency:
        """Ids and edges of a whole process.

        Raises:
            Unfit: It is no whole process of that size.
        """
        ...


@dataclass(slots=True, eq=False)
class _Request(Generic[T]):
    """A claim's request for nodes, filled as they are read."""

    found: dict[str, T]
    missing: list[str]
    fault: VeriTrailError | None = None

    def take(self, values: Mapping[str, T]) -> None:
        """Take those of some values that are missing."""
        if not self.found and len(values) == len(self.missing):  # all of them, and no others
            self.found.update(values)
            self.missing = []
            return
        self.found.update((name, values[name]) for name in self.missing if name in values)
        self.missing = [name for name in self.missing if name not in self.found]


class SharedReads(Generic[T]):
    """Values by name; what several claims wait for at the same time is read once, for all.

    Args:
        known: The values of these names that are known already.
        read: Reads values; a name that it does not give has no value.
    """

    def __init__(
        self,
        known: Callable[[Collection[str]], Mapping[str, T]],
        read: Callable[[list[str]], Awaitable[Mapping[str, T]]],
    ) -> None:
        self._known = known
        self._read = read
        self._reading = asyncio.Lock()
        self._waiting: list[_Request[T]] = []

    async def get(self, names: Collection[str]) -> dict[str, T]:
        """Values of these names, as far as they have any.

        Raises:
            VeriTrailError: They could not be read; every claim that waited for them gets it.
        """
        found = dict(self._known(names))
        request = _Request(found, [name for name in names if name not in found])
        if not request.missing:
            return found
        is_alone = not self._waiting and not self._reading.locked()
        self._waiting.append(request)
        try:
            async with self._reading:
                if request in self._waiting:  # another claim has not read it meanwhile
                    await self._read_for_all(is_alone)
        finally:
            if request in self._waiting:
                self._waiting.remove(request)
        if request.fault is not None:
            raise request.fault
        return request.found

    async def _read_for_all(self, is_alone: bool) -> None:
        requests = list(self._waiting)
        fault = None
        if not is_alone:  # something was read since they were asked what they know
            for request in requests:
                request.take(self._known(request.missing))
        names = list(dict.fromkeys(chain(*(request.missing for request in requests))))
        values: Mapping[str, T] = {}
        try:
            values = await self._read(names) if names else {}
        except VeriTrailError as error:
            fault = error
        for request in requests:
            request.take(values)
            request.fault = fault if request.missing else None
            if request in self._waiting:  # its claim may have been cancelled meanwhile
                self._waiting.remove(request)


class SharedTexts:
    """Texts over one process, for all claims of a run.

    Args:
        reader: Where texts are read from.
        process_id: The process.
        splitter: Splits texts into sentences.
        cached_characters: How many characters of text are held in memory.
    """

    def __init__(
        self, reader: Reader, process_id: str, splitter: Splitter, cached_characters: int
    ) -> None:
        self._reader = reader
        self._process_id = process_id
        self._splitter = splitter
        self._limit = self._room = cached_characters
        self._refs: dict[str, NodeRef] = {}  # of what is asked for and not among the nodes
        self._unsplit: dict[str, str] = {}  # read with edges, not yet asked for
        self._unsplit_characters = 0
        self._nodes: dict[str, ReadNode] = {}
        self._held: deque[ReadNode] = deque()  # those of them in memory, the oldest first
        self._file: TextFile | None = None
        self._all = SharedReads(self._known, self._read)

    def take(self, texts: Mapping[str, str]) -> int:
        """Keep texts that were read with edges until they are asked for; too many are dropped.

        Returns:
            How many of them were not known.
        """
        new = texts
        if not (self._nodes.keys().isdisjoint(texts) and self._unsplit.keys().isdisjoint(texts)):
            new = {
                name: text
                for name, text in texts.items()
                if name not in self._nodes and name not in self._unsplit
            }
        if self._unsplit_characters > self._limit:
            self._unsplit.clear()
            self._unsplit_characters = 0
        self._unsplit.update(new)
        self._unsplit_characters += sum(map(len, new.values()))
        return len(new)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in this order, split into sentences.

        Raises:
            ProcessChanged: One of them does not exist any more.
        """
        read: list[ReadNode] = []
        known = self._nodes
        for start in range(0, len(nodes), PASSED_AT_ONCE):
            part = nodes[start : start + PASSED_AT_ONCE]
            refs = _by_id(part)
            self._refs.update((name, ref) for name, ref in refs.items() if name not in known)
            found = await self._all.get(refs.keys())
            for name in refs:
                if name not in found:
                    raise ProcessChanged(self._process_id, name)
            read += [found[ref.node_id] for ref in part]
        return tuple(read)

    def _known(self, names: Collection[str]) -> dict[str, ReadNode]:
        return {name: self._nodes[name] for name in names if name in self._nodes}

    async def _read(self, names: list[str]) -> Mapping[str, ReadNode]:
        found: dict[str, ReadNode] = {}
        for start in range(0, len(names), READ_AT_ONCE):
            texts = await self._texts_of(names[start : start + READ_AT_ONCE])
            found.update(await self._split(texts, are_many=len(names) > READ_AT_ONCE))
        return found

    async def _texts_of(self, names: list[str]) -> dict[str, str]:
        texts = {name: self._unsplit.pop(name) for name in names if name in self._unsplit}
        self._unsplit_characters -= sum(map(len, texts.values()))
        unread = [name for name in names if name not in texts]
        if unread:
            texts.update(await self._reader.texts(self._process_id, unread))
        return texts

    async def _split(self, texts: Mapping[str, str], *, are_many: bool) -> dict[str, ReadNode]:
        characters = sum(map(len, texts.values()))
        is_late = are_many or characters > min(self._limit, HELD_IN_SENTENCES)
        if characters < SPLIT_IN_THREAD:
            made = self._made(texts, characters, is_late=is_late)
        else:
            made = await asyncio.to_thread(self._made, texts, characters, is_late=is_late)
        found: dict[str, ReadNode] = dict(zip(texts, made, strict=True))
        self._nodes.update(found)
        for name in found:
            del self._refs[name]
        if not all(isinstance(one, FiledNode) for one in made):
            self._hold(made, characters)
        return found

    def _made(
        self, texts: Mapping[str, str], characters: int, *, is_late: bool
    ) -> Sequence[ReadNode]:
        """Nodes with their texts in memory, or in the file where there is no room for them."""
        refs = [self._refs[name] for name in texts]
        said = map(self._splitter.split, texts, texts.values())
        if characters > self._room:
            try:
                self._file = self._file or TextFile()
                return self._file.nodes(refs, texts.values(), said)
            except OSError:  # nowhere to write: the oldest are let go, and read again
                said = map(self._splitter.split, texts, texts.values())
        if is_late:
            return list(map(LateNode.of, refs, texts.values(), said))
        return SplitNode.of_columns(refs, list(texts.values()), said)

    def _hold(self, nodes: Sequence[ReadNode], characters: int) -> None:
        self._held.extend(nodes)
        self._room -= characters
        while self._room < 0 and self._held:
            oldest = self._held.popleft()
            name = oldest.ref.node_id
            del self._nodes[name]
            self._refs[name] = oldest.ref  # a claim may be about to read it again
            self._room += len(oldest.text)


_node_id = attrgetter("node_id")


def _by_id(nodes: Collection[NodeRef]) -> dict[str, NodeRef]:
    return dict(zip(map(_node_id, nodes), nodes, strict=True))


def _without(nodes: tuple[NodeRef, ...], checked: Collection[NodeRef]) -> tuple[NodeRef, ...]:
    if not checked:
        return nodes
    return _not_among(nodes, {ref.node_id for ref in checked})


def _not_among(nodes: tuple[NodeRef, ...], passed: Collection[str]) -> tuple[NodeRef, ...]:
    return tuple([ref for ref in nodes if ref.node_id not in passed])


class SharedNodes:
    """A `NodeSource` over one process that remembers what it has read.

    Args:
        reader: Where nodes are read from.
        process_id: The process.
        splitter: Splits texts into sentences.
        size: How many nodes the process has, where that is known.
        edges: How many edges it has.
        cached_characters: How many characters of text are held in memory.
    """

    def __init__(
        self,
        reader: Reader,
        process_id: str,
        splitter: Splitter,
        *,
        size: int = 0,
        edges: int = 0,
        cached_characters: int = CACHED_CHARACTERS,
    ) -> None:
        self._reader = reader
        self._process_id = process_id
        self._texts = SharedTexts(reader, process_id, splitter, cached_characters)
        self._size = size, edges
        # What the topology costs, in microseconds; None where it is out of reach.
        is_in_reach = size and size + edges <= LARGEST_TOPOLOGY
        self._price = WHOLE_COSTS * (size + edges) if is_in_reach else None
        self._spent = 0.0
        self._whole: Adjacency | None = None
        self._sources: dict[str, tuple[str, ...]] = {}
        self._refs: dict[str, NodeRef] = {}
        self._last: SourcesRead | None = None
        self._asking: list[Collection[NodeRef]] = []  # what each claim that asks has checked
        self._told: Collection[NodeRef] = ()  # of which of them the last answer says it
        self._leaving = asyncio.Lock()
        self._last_left: tuple[tuple[set[str], Collection[str]], SourcesLeft] | None = None
        self._all = SharedReads(self._known, self._read)

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in this order, split into sentences.

        Raises:
            ProcessChanged: One of them does not exist any more.
        """
        return await self._texts.read(nodes)

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        return await self._reader.copies(self._process_id, node_ids)

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of these nodes without those checked; none of them may be a root.

        A statement says what was checked, as long as the topology is not known: that which reads
        them, if no other claim waits; else one of its own, because other claims, which share what
        is read, have checked other nodes.

        Raises:
            ProcessChanged: One of them has no source nodes any more.
        """
        if self._whole is None:
            self._asking.append(checked)
            try:
                sources = await self._all.get(of)
            finally:
                self._asking.pop(next(n for n, one in enumerate(self._asking) if one is checked))
        if self._whole is not None:
            removed = self._whole.without_sources(of)
            if removed is not None:
                raise ProcessChanged(self._process_id, removed)
            read = self._whole.source_nodes(of, checked)
            return SourceNodes(read.nodes, read.sources)
        expect_sources(self._process_id, of, sources)
        last = self._last
        is_just_read = last is not None and last.sources.keys() == sources.keys()
        nodes = last.nodes if last is not None and is_just_read else self._ordered(sources)
        if last is not None and is_just_read and checked and self._told is checked:
            if not last.passed:
                return SourceNodes(nodes, sources)
            return SourceNodes(_not_among(nodes, last.passed), sources)
        edges = sum(map(len, sources.values()))
        if not checked or edges > MOST_FOLLOWED:
            return SourceNodes(_without(nodes, checked), sources)
        self._spent += CALL_COSTS + TARGET_COSTS * len(sources) + EDGE_COSTS * edges
        passed = [ref.node_id for ref in checked]
        names = await self._reader.candidates(self._process_id, of, passed)
        return SourceNodes(tuple([ref for ref in nodes if ref.node_id in names]), sources)

    def _ordered(self, sources: Mapping[str, tuple[str, ...]]) -> tuple[NodeRef, ...]:
        names = {source for ids in sources.values() for source in ids}
        return in_order([self._refs[name] for name in names])

    def _known(self, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        return {name: self._sources[name] for name in names if name in self._sources}

    async def _read(self, names: list[str]) -> Mapping[str, tuple[str, ...]]:
        if self._is_due(names):
            await self._read_whole()
        if self._whole is not None:  # which is asked for them
            return {}
        checked = self._asking[0] if len(self._asking) == 1 else ()
        passed = [ref.node_id for ref in checked]
        read = await self._reader.source_nodes(
            self._process_id, names, with_texts=len(names) <= READ_AT_ONCE, checked=passed
        )
        self._refs.update(_by_id(read.nodes))
        self._sources.update((name, ids) for name, ids in read.sources.items() if ids)
        # Texts that come along with edges cost no more than texts alone: only the rest is dear.
        new = self._texts.take(read.texts) / max(1, len(read.nodes))
        self._spend(read.sources, 1 - new)
        self._last, self._told = read, checked
        return read.sources

    def _spend(self, sources: Mapping[str, tuple[str, ...]], share: float = 1.0) -> None:
        edges = sum(map(len, sources.values()))
        costs = CALL_COSTS + TARGET_COSTS * len(sources) + EDGE_COSTS * edges
        self._spent += share * costs

    def _is_due(self, of: Collection[str]) -> bool:
        """Return whether the topology has paid for itself, or would with what is asked now.

        Args:
            of: The nodes that are asked about; few bring texts along, which costs nothing.
        """
        if self._price is None:
            return False
        now, (size, edges) = 0.0, self._size
        if len(of) > READ_AT_ONCE:
            asked = sum(name not in self._sources for name in of)
            now = asked * (TARGET_COSTS + EDGE_COSTS * edges / size)
        return self._spent + now >= self._price

    async def _read_whole(self) -> None:
        self._price = None  # once, whatever comes of it
        try:
            self._whole = await self._reader.topology(self._process_id, *self._size)
        except Unfit:  # it has changed, which is noticed where it matters
            return
        self._whole.keep(self._refs)
        self._sources, self._refs, self._last, self._last_left = {}, {}, None, None

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """Return whether any source node of these nodes is not checked, and which ones are.

        One that is not is as good as all, so most walks end without reading a frontier that no
        prompt will show.

        Returns:
            The source nodes that are checked, in any order, and at least one that is not, if
            there is any; of that one, only the id is known.

        Raises:
            ProcessChanged: One of them has no source nodes any more.
        """
        async with self._leaving:
            if self._is_due(of):
                await self._read_whole()
            if self._whole is not None:
                read = self._whole.left(of, checked)
                return SourceNodes(read.nodes, read.sources)
            passed = _by_id(checked)
            found = await self._left(of, passed)
        if found.node_id is None and not found.sources:
            raise ProcessChanged(self._process_id, next(iter(of)))
        known = set(chain.from_iterable(found.sources.values()))
        nodes = [passed[name] for name in known]
        if found.node_id is not None:
            nodes.append(NodeRef.named(found.node_id))
        return SourceNodes(tuple(nodes), found.sources)

    async def _left(self, of: Collection[str], checked: Mapping[str, NodeRef]) -> SourcesLeft:
        """Return the unchecked sources; the last answer is kept, as claims often ask the same."""
        asked = (set(of), checked.keys())
        if self._last_left is not None and self._last_left[0] == asked:
            return self._last_left[1]
        sources = self._known(of)
        if len(sources) == len(of):
            every = set(chain.from_iterable(sources.values()))
            other = next((name for name in every if name not in checked), None)
            kept = {name: tuple(filter(checked.__contains__, ids)) for name, ids in sources.items()}
            return SourcesLeft(other, kept, 0)
        found = await self._reader.left(self._process_id, of, checked)
        self._spent += CALL_COSTS + TARGET_COSTS * len(of) + EDGE_COSTS * found.edges
        self._last_left = asked, found
        return found
