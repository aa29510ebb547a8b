"""Sending a checked process to the graph, or what is missing of it after a kill.

Every batch is one transaction: it is stored whole or not at all. Batches are sent in their
order, so after a kill those that may still be under way are the first ones that are missing;
they are looked up once more, and stored in a way that doubles nothing.

Source: VeriTrail 2.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from graph.batches import Rows, edge_batches, edge_slices, span_batches, span_slices
from graph.errors import EngineError, ProcessConflict
from graph.importers.records import ProcessInput
from graph.store import Store
from graph.store.database import Transaction
from graph.store.processes import BEAT_SECONDS
from graph.store.writers import this_writer
from graph.survey import Survey

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is (0: unknown)."""

_PROBES = 1_000  # batches looked up by one statement


@dataclass(slots=True)
class Loading:
    """One process on its way into the graph.

    Attributes:
        store: The graph.
        stored_id: The id that it is loaded under.
        source: The input.
        found: The same, checked.
        progress: Told how far it is.
        resumed: Whether an earlier ingest of the same was killed under way.
    """

    store: Store
    stored_id: str
    source: ProcessInput
    found: Survey
    progress: Progress
    resumed: bool = False
    _owner: str = field(default_factory=this_writer)

    async def run(self) -> None:
        """Send spans, edges and claims; on a fault take back what can be taken back."""
        try:
            await self._send_spans()
            await self._send_edges()
            await self.store.processes.add_claims(self.stored_id, self.found.claims)
        except BaseException:
            # Nobody sees a process that is loading; removing it now is only tidy, so a second
            # fault here must not hide the first. One that others took over is theirs.
            with suppress(EngineError, ProcessConflict):
                await self.store.processes.delete_own(self.stored_id)
            raise

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
        await self._pipeline(edge_batches(self.found, slices, stored), self._edges, count)

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

    def _edges(self, tx: Transaction, rows: Rows, in_doubt: bool) -> None:
        """Store a batch of edges; where it may be there, by a statement that looks for each."""
        name = "ingest/edges_again" if in_doubt else "ingest/edges"
        stored = tx.run(name, process_id=self.stored_id, owner=self._owner, rows=rows)
        # An engine that does not find a node stores no edge and says nothing of it.
        self._check(stored, sum(len(sources) for _, _, sources in rows))

    def _check(self, stored: list[tuple[int, ...]], wanted: int) -> None:
        count = stored[0][0] if stored else 0
        if count == 0:
            raise ProcessConflict(
                f"Process {self.stored_id!r} was removed or taken over by another command while "
                "it was being loaded; nothing of it is visible."
            )
        if count != wanted:
            raise EngineError("The graph engine did not store everything; nothing is visible.")

    async def _pipeline(
        self,
        batches: Iterator[tuple[int, Rows]],
        write: Callable[[Transaction, Rows, bool], None],
        sent: Callable[[int], None],
    ) -> None:
        """Prepare the next batch while the engine stores those before; show signs of life."""
        writers = self.store.database.writers
        doubtful = writers + 1 if self.resumed else 0
        preparing, sending = asyncio.Lock(), asyncio.Semaphore(writers)
        numbered = ((*batch, place < doubtful) for place, batch in enumerate(batches))
        last_beat = time.monotonic()

        async def work() -> None:
            nonlocal last_beat
            while True:
                async with preparing:
                    ready = await asyncio.to_thread(next, numbered, None)
                if ready is None:
                    return
                batch, rows, in_doubt = ready
                async with sending:
                    await _to_the_end(self._send(write, rows, in_doubt))
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

    async def _send(
        self, write: Callable[[Transaction, Rows, bool], None], rows: Rows, in_doubt: bool
    ) -> None:
        """One batch in one transaction."""
        await self.store.database.write_with(
            lambda tx: write(tx, rows, in_doubt or tx.in_doubt), repeatable=True
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


async def _to_the_end(sending: Awaitable[None]) -> None:
    """Wait even when cancelled: what is being stored must not come in after it was removed."""
    task = asyncio.ensure_future(sending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, or asyncio reports it when it is collected
        raise
