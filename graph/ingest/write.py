"""Sending a checked process to the graph, or the part of it that is missing after a kill.

Which rows make a batch follows from the checked input alone, and every batch is one
transaction: it is stored whole or not at all, and one row tells which. Batches are sent in
their order, so after a kill those that may still be under way are the first ones that are
missing; they are sent one after the other, by statements that store nothing twice.

Source: VeriTrail 2 (nodes are text spans; an edge leads from an input to what was produced).
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from veritrail_graph.graph.content_hash import node_digest
from veritrail_graph.graph.errors import EngineError, InputError, ProcessConflict
from veritrail_graph.graph.importers.records import CopiedInput, NodeRecord, ProcessInput
from veritrail_graph.graph.ingest.check import Survey
from veritrail_graph.graph.model import NO_FACTS, Claim, EdgeFacts
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.claims_added import add_claims
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.rows import CAPTION, batches, claim_row, process_row, short
from veritrail_graph.graph.store.states import hold, taken_from_us
from veritrail_graph.graph.writers import this_writer

BEAT_SECONDS = 5.0
"""Seconds between two signs of life of a writer."""

BATCH_ROWS = 5_000
BATCH_CHARACTERS = 2_000_000
EDGE_BATCH = 5_000
LINKED_TOGETHER = 1_000
"""Copies that are joined to their originals at once."""
LANES = 4
"""Parts of the edges that are sent at the same time, each from its own start."""

T = TypeVar("T")
Rows = list[list[Any]]
Slice = tuple[int, int]
"""First number, and the number after the last."""


def plan_key(found: Survey) -> str:
    """A digest of the batches and properties that an ingest sends: equal for equal ingests."""
    topology = found.topology
    plan = hashlib.sha256(b"%d %d %d %d\n" % (BATCH_ROWS, BATCH_CHARACTERS, EDGE_BATCH, LANES))
    plan.update(found.digests.tobytes())  # in the order of the input
    for numbers in (topology.stages, topology.edge_sources, topology.edge_targets):
        plan.update(numbers.tobytes())
    claims = [claim_row(claim) for claim in found.claims]
    plan.update(canonical([process_row(found), claims, sorted(topology.facts.items())]))
    return plan.hexdigest()


def span_slices(found: Survey) -> list[Slice]:
    """The batches of nodes that are not stored yet, bounded by rows and by characters."""
    slices = []
    start, size = found.first_new, 0
    for number in range(start, len(found.lengths)):
        if number - start >= BATCH_ROWS or (number > start and size >= BATCH_CHARACTERS):
            slices.append((start, number))
            start, size = number, 0
        size += found.lengths[number] + 100
    if start < len(found.lengths):
        slices.append((start, len(found.lengths)))
    return slices


def edge_slices(found: Survey) -> list[Slice]:
    """The batches of edges, in the order in which they are sent.

    Edges are sorted by target, and neighbours share nodes: the locks of one transaction would
    delay the next. So the batches that are sent at the same time come from distant parts.
    """
    count = len(found.topology.edge_sources)
    slices = [(start, min(start + EDGE_BATCH, count)) for start in range(0, count, EDGE_BATCH)]
    stride = -(-len(slices) // LANES) or 1
    return [part for first in range(stride) for part in slices[first::stride]]


def span_batches(
    source: ProcessInput, found: Survey, slices: Sequence[Slice], stored: Collection[int] = ()
) -> Iterator[tuple[int, Rows]]:
    """Number and rows of the batches of nodes, without those that are stored.

    Raises:
        InputError: The input is not what it was when it was checked.
    """
    if len(stored) == len(slices):
        return
    if found.kept is not None:
        for batch, part in enumerate(slices):
            if batch not in stored:
                yield batch, span_rows(found, found.kept, part)
        return
    nodes = _read_again(source, found)
    for batch, (start, end) in enumerate(slices):
        rows = [_span_row(next(nodes), number, found) for number in range(start, end)]
        if batch not in stored:
            yield batch, rows


def span_rows(found: Survey, kept: Sequence[NodeRecord], part: Slice) -> Rows:
    """Rows of some nodes that were kept in memory."""
    first = found.first_new
    return [_span_row(kept[number - first], number, found) for number in range(*part)]


def edge_batches(
    found: Survey,
    slices: Sequence[Slice],
    stored: Collection[int] = (),
    names: Sequence[str] | None = None,
) -> Iterator[tuple[int, Rows]]:
    """Number and rows of the batches of edges, without those that are stored."""
    for batch, (start, end) in enumerate(slices):
        if batch not in stored:
            yield batch, edge_rows(found, range(start, end), names)


def edge_rows(found: Survey, edges: Iterable[int], names: Sequence[str] | None = None) -> Rows:
    """Rows of edges, by their numbers, grouped by target and by what is known of them.

    Args:
        found: The process.
        edges: Numbers of its edges.
        names: What a node is called in the rows, by its number; None: its node_id.
    """
    topology = found.topology
    called = topology.ids if names is None else names
    sources, targets, facts = topology.edge_sources, topology.edge_targets, topology.facts
    rows: Rows = []
    last: tuple[int, EdgeFacts] = (-1, NO_FACTS)
    for edge in edges:
        key = (targets[edge], facts.get(edge, NO_FACTS))
        if key != last:
            rows.append([called[key[0]], list(key[1]), []])
            last = key
        rows[-1][2].append(called[sources[edge]])
    return rows


def _read_again(source: ProcessInput, found: Survey) -> Iterator[NodeRecord]:
    """The nodes in the order of their numbers; reading stops after the last one."""
    numbers = found.topology.numbers
    due = found.first_new
    last = len(found.digests)
    for record in source.records():
        if not isinstance(record, NodeRecord):
            continue
        number = numbers.get(record.node_id)
        if number is None or number > due or node_digest(record) != found.digests[number]:
            raise InputError(f"{record.where}: the input changed while it was being read")
        if number == due:
            yield record
            due += 1
            if due == last:
                return
    raise InputError("the input changed while it was being read: nodes are missing")


def _span_row(record: NodeRecord, number: int, found: Survey) -> list[Any]:
    metadata = dict(record.metadata)
    own = {
        key: metadata.pop(key) for key in ("model", "prompt") if isinstance(metadata.get(key), str)
    }
    onto = found.onto
    position = number if onto is None else onto.next_position + number - found.first_new
    return [
        record.node_id,
        record.text,
        found.topology.stages[number],
        position,
        found.roles[number].value,
        record.kind,
        record.step,
        own.get("model"),
        own.get("prompt"),
        canonical(metadata).decode() if metadata else None,
        found.origins[number].value,
        record.question,
        short((record.text or record.node_id)[: 2 * CAPTION + 2]),
    ]


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: unknown)."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of an ingest.

    Attributes:
        survey: The process that was read.
        status: `created`, `unchanged`, `replaced` or `appended`.
        claims: Number of claims that the process has now.
        claims_added: Number of claims that were not stored before.
        removed_verifications: Number of verifications that a replacement removed.
        verifications_added: Number of verifications of the input that were not stored before.
        resumed: Whether it continued an earlier ingest that was killed.
        nodes_added: Number of nodes that an append added.
        edges_added: Number of edges that an append added.
        removed_reviews: Number of reviews that a replacement removed.
        reviews_added: Number of reviews of the input that were not stored before.
        kept_as: process_id under which what was replaced is kept; None: it is not.
        kept_verifications: Number of verifications that are kept there.
        kept_reviews: Number of reviews that are kept there.
    """

    survey: Survey
    status: str
    claims: int
    claims_added: int
    removed_verifications: int = 0
    verifications_added: int = 0
    resumed: bool = False
    nodes_added: int = 0
    edges_added: int = 0
    removed_reviews: int = 0
    reviews_added: int = 0
    kept_as: str | None = None
    kept_verifications: int = 0
    kept_reviews: int = 0


_PROBES = 1_000  # batches looked up by one statement
_CLAIMS = 5_000  # claims stored by one transaction


@dataclass(slots=True)
class Loading:
    """One process on its way into the graph.

    Attributes:
        store: The graph.
        stored_id: The id that it is loaded under.
        source: The input.
        found: The same, checked.
        progress: Called with what is done so far.
        resumed: Whether it continues an earlier ingest of the same input that was killed.
    """

    store: Store
    stored_id: str
    source: ProcessInput
    found: Survey
    progress: Progress
    resumed: bool = False
    _owner: str = field(default_factory=this_writer)
    _elements: dict[int, str] = field(default_factory=dict)

    async def run(self) -> None:
        """Send spans, edges and claims.

        After a failure of the engine or an interruption, what was stored is kept and no reader
        sees it: the next ingest continues it. It is removed when the input is wrong.
        """
        try:
            await self._send_spans()
            await self._send_edges()
            await self._send_final_outputs()
            await self._send_claims()
        except EngineError as error:
            await self._leave()
            raise type(error)(
                f"{error} What was stored of process {self.stored_id!r} is kept and is not "
                "visible. Sending the same again continues.",
                code="left_unfinished",
                process_id=self.stored_id,
            ) from error
        except InputError as error:
            await self._leave(remove=not isinstance(error, ProcessConflict))
            raise
        except BaseException:
            await self._leave()
            raise

    async def _leave(self, *, remove: bool = False) -> None:
        """Release the process, or remove it; a second fault must not hide the first."""
        processes = self.store.processes
        # A process that another writer took over belongs to that writer.
        with suppress(EngineError, ProcessConflict):
            await (processes.delete_own if remove else processes.release)(self.stored_id)

    async def _send_spans(self) -> None:
        found, ids = self.found, self.found.topology.ids
        slices = span_slices(found)
        rows = [[batch, ids[start]] for batch, (start, _) in enumerate(slices)]
        stored = await self._stored("ingest/stored_spans", rows)
        count = _counting(self.progress, "nodes", len(ids), _sizes(slices), stored)
        await self._pipeline(span_batches(self.source, found, slices, stored), self._spans, count)

    async def _send_edges(self) -> None:
        topology = self.found.topology
        ids, sources, targets = topology.ids, topology.edge_sources, topology.edge_targets
        slices = edge_slices(self.found)
        rows = [[n, ids[targets[edge]], ids[sources[edge]]] for n, (edge, _) in enumerate(slices)]
        stored = await self._stored("ingest/stored_edges", rows)
        count = _counting(self.progress, "edges", len(sources), _sizes(slices), stored)
        # Looking a node up by its element is much faster than by its key; of those that an earlier
        # command stored it is not known.
        by_element = len(self._elements) == len(ids) and not topology.facts
        names = [self._elements[number] for number in range(len(ids))] if by_element else None
        batches = edge_batches(self.found, slices, stored, names)
        await self._pipeline(batches, self._edges_by_element if names else self._edges, count)

    async def _send_final_outputs(self) -> None:
        """Lead from the process to what it produced, when all of it is there.

        It locks the node of the process, so it is not done with the spans, which several write.
        """
        for rows in batches(self.found.terminals):

            def work(tx: Transaction, rows: Sequence[str] = rows) -> None:
                to = {"process_id": self.stored_id, "owner": self._owner, "rows": rows}
                self._check(tx.run("ingest/final_outputs", **to), len(rows))

            await uninterrupted(self.store.database.write_with(work, repeatable=True))

    async def _send_claims(self) -> None:
        claims = self.found.claims
        for start in range(0, len(claims), _CLAIMS):
            part = claims[start : start + _CLAIMS]

            def work(tx: Transaction, part: Sequence[Claim] = part) -> None:
                hold(tx, self.stored_id)
                add_claims(tx, self.stored_id, part)

            await uninterrupted(self.store.database.write_with(work, repeatable=True))

    async def _stored(self, name: str, rows: Rows) -> Collection[int]:
        """The batches that are stored, by one row of each."""
        if not self.resumed:
            return ()
        found: set[int] = set()
        for start in range(0, len(rows), _PROBES):
            part = rows[start : start + _PROBES]
            read = await self.store.database.read(name, process_id=self.stored_id, rows=part)
            found.update(batch for (batch,) in read)
        return found

    def _spans(self, tx: Transaction, rows: Rows, in_doubt: bool) -> None:
        """Store a batch of spans; a constraint keeps any from being stored twice."""
        process = {"process_id": self.stored_id}
        if in_doubt and tx.run("ingest/stored_spans", rows=[[0, rows[0][0]]], **process):
            return
        stored = tx.run("ingest/spans", owner=self._owner, rows=rows, **process)
        self._check(stored, len(rows))
        self._elements.update(stored[0][1])

    def _edges_by_element(self, tx: Transaction, rows: Rows, in_doubt: bool) -> None:
        """Store a batch of edges whose nodes are named by their elements."""
        if in_doubt:
            ids = {element: self.found.topology.ids[n] for n, element in self._elements.items()}
            named = [
                [ids[target], facts, [ids[one] for one in ends]] for target, facts, ends in rows
            ]
            self._edges(tx, named, in_doubt)
            return
        self._store_edges(tx, "ingest/edges_by_element", rows)

    def _edges(self, tx: Transaction, rows: Rows, in_doubt: bool) -> None:
        """Store a batch of edges; one that may be stored, by a statement that looks for each."""
        name = "ingest/edges_again" if in_doubt else "ingest/edges"
        self._store_edges(tx, name, rows)

    def _store_edges(self, tx: Transaction, name: str, rows: Rows) -> None:
        stored = tx.run(name, process_id=self.stored_id, owner=self._owner, rows=rows)
        self._check(stored, sum(len(sources) for _, _, sources in rows))

    def _check(self, stored: list[tuple[Any, ...]], expected: int) -> None:
        if not stored or stored[0][0] == 0:
            raise taken_from_us(self.stored_id)
        check_stored(stored, expected)

    async def _pipeline(
        self,
        batches: Iterator[tuple[int, Rows]],
        write: Callable[[Transaction, Rows, bool], None],
        sent: Callable[[int], None],
    ) -> None:
        """Prepare the next batch while the engine stores earlier ones; leave signs of life."""
        writers = self.store.database.writers
        preparing, sending = asyncio.Lock(), asyncio.Semaphore(writers)
        last_beat = time.monotonic()
        if self.resumed:
            await self._send_doubtful(batches, write, sent)

        async def work() -> None:
            nonlocal last_beat
            while True:
                async with preparing:
                    ready = await asyncio.to_thread(next, batches, None)
                if ready is None:
                    return
                batch, rows = ready
                async with sending:
                    await uninterrupted(self._send(write, rows, in_doubt=False))
                sent(batch)
                if time.monotonic() - last_beat > BEAT_SECONDS:
                    last_beat = time.monotonic()
                    await self.store.processes.beat(self.stored_id)

        workers = [asyncio.ensure_future(work()) for _ in range(writers + 1)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.wait(workers)

    async def _send_doubtful(
        self,
        batches: Iterator[tuple[int, Rows]],
        write: Callable[[Transaction, Rows, bool], None],
        sent: Callable[[int], None],
    ) -> None:
        """Send the batches that a killed ingest may have been sending, one after the other.

        They share nodes, and looking for an edge locks both its ends: sent at the same time, they
        would deadlock.
        """
        for _ in range(self.store.database.writers + 1):
            doubtful = await asyncio.to_thread(next, batches, None)
            if doubtful is None:
                return
            await uninterrupted(self._send(write, doubtful[1], in_doubt=True))
            sent(doubtful[0])

    async def _send(
        self, write: Callable[[Transaction, Rows, bool], None], rows: Rows, *, in_doubt: bool
    ) -> None:
        """One batch in one transaction."""
        await self.store.database.write_with(
            lambda tx: write(tx, rows, in_doubt or tx.in_doubt), repeatable=True
        )
        rows.clear()  # objects of the driver that refer to each other hold it for a while


def check_stored(stored: list[tuple[Any, ...]], expected: int) -> None:
    """Make sure that a statement stored as many rows as it was given.

    An engine that does not find a node stores none of its edges and raises no error.

    Raises:
        EngineError: It stored fewer.
    """
    count = stored[0][0] if stored else 0
    if count != expected:
        raise EngineError(
            f"The graph engine stored {count:,} of {expected:,} nodes or edges of a batch; nothing "
            "of it is visible."
        )


def _sizes(slices: list[tuple[int, int]]) -> list[int]:
    return [end - start for start, end in slices]


def _counting(
    progress: Progress, what: str, total: int, sizes: list[int], stored: Collection[int]
) -> Callable[[int], None]:
    done = sum(sizes[batch] for batch in stored)
    if done:
        progress(what, done, total)

    def count(batch: int) -> None:
        nonlocal done
        done += sizes[batch]
        progress(what, done, total)

    return count


async def uninterrupted(work: Awaitable[T]) -> T:
    """Wait even when cancelled: what was sent must not be stored after its writer let go of it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):  # it may be cancelled more than once
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # else asyncio reports it when the task is collected
        raise


async def link_copies(store: Store, process_id: str, source: CopiedInput) -> int:
    """Join the spans of a stored process to what they are copies of, if that is in the same graph.

    It may be repeated: what is joined stays joined once. The nodes of the other application keep
    their labels and properties. A deletion of the process removes its spans with these
    relationships, and nothing else.

    Returns:
        How many spans are joined.

    Raises:
        EngineError: One of the graphs does not answer.
    """
    rows = await store.database.read("source_graph/stored_at", process_id=process_id)
    here = rows[0][0] if rows else None
    if here is None or here != await asyncio.to_thread(source.stored_at, process_id):
        return 0
    linked, copies = 0, source.copies()
    while batch := list(islice(copies, LINKED_TOGETHER)):
        known = {"process_id": process_id, "rows": [list(one) for one in batch]}
        ((count,),) = await store.database.write("source_graph/link", **known)
        linked += count
    return linked
