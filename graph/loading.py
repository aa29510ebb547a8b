"""Sending a checked process to the graph, or what is missing of it after a kill.

Every batch is one transaction: it is stored whole or not at all. Batches are sent in their
order, so after a kill those that may still be under way are the first ones that are missing;
they are sent one after the other, in a way that doubles nothing.

Source: VeriTrail 2.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from veritrail_graph.graph.batches import Rows, edge_batches, edge_slices, span_batches, span_slices
from veritrail_graph.graph.errors import EngineError, InputError, ProcessConflict
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.claim_rows import add_claims
from veritrail_graph.graph.store.database import Transaction
from veritrail_graph.graph.store.process_state import hold, taken_from_us
from veritrail_graph.graph.store.processes import BEAT_SECONDS
from veritrail_graph.graph.store.writers import this_writer
from veritrail_graph.graph.survey import Survey

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is (0: unknown)."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Nobody is told."""


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
        """Send spans, edges and claims.

        What was stored when the engine failed or somebody stopped us is kept, and nobody sees
        it: the next ingest goes on with it. It is removed when the input is at fault.
        """
        try:
            await self._send_spans()
            await self._send_edges()
            await self._send_claims()
        except EngineError as error:
            await self._leave()
            raise type(error)(
                f"{error} What was stored of process {self.stored_id!r} is kept, and nobody sees "
                "it: run the same command again to go on; `veritrail db clean` removes it."
            ) from error
        except InputError as error:
            await self._leave(remove=not isinstance(error, ProcessConflict))
            raise
        except BaseException:
            await self._leave()
            raise

    async def _leave(self, *, remove: bool = False) -> None:
        """Let go of the process, or remove it; a second fault must not hide the first."""
        processes = self.store.processes
        # One that others took over is theirs.
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
        await self._pipeline(edge_batches(self.found, slices, stored), self._edges, count)

    async def _send_claims(self) -> None:
        claims = self.found.claims
        for start in range(0, len(claims), _CLAIMS):
            part = claims[start : start + _CLAIMS]

            def work(tx: Transaction, part: Sequence[Claim] = part) -> None:
                hold(tx, self.stored_id)
                add_claims(tx, self.stored_id, part)

            await _to_the_end(self.store.database.write_with(work, repeatable=True))

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
        self._check(stored, sum(len(sources) for _, _, sources in rows))

    def _check(self, stored: list[tuple[int, ...]], wanted: int) -> None:
        if not stored or stored[0][0] == 0:
            raise taken_from_us(self.stored_id)
        check_stored(stored, wanted)

    async def _pipeline(
        self,
        batches: Iterator[tuple[int, Rows]],
        write: Callable[[Transaction, Rows, bool], None],
        sent: Callable[[int], None],
    ) -> None:
        """Prepare the next batch while the engine stores those before; show signs of life."""
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
                    await _to_the_end(self._send(write, rows, in_doubt=False))
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
        """Send those that a killed ingest may still have had under way, one after the other.

        They share nodes, and looking for an edge locks both its ends: side by side they would
        wait for each other in a ring.
        """
        for _ in range(self.store.database.writers + 1):
            doubtful = await asyncio.to_thread(next, batches, None)
            if doubtful is None:
                return
            await _to_the_end(self._send(write, doubtful[1], in_doubt=True))
            sent(doubtful[0])

    async def _send(
        self, write: Callable[[Transaction, Rows, bool], None], rows: Rows, *, in_doubt: bool
    ) -> None:
        """One batch in one transaction."""
        await self.store.database.write_with(
            lambda tx: write(tx, rows, in_doubt or tx.in_doubt), repeatable=True
        )


def check_stored(stored: list[tuple[int, ...]], wanted: int) -> None:
    """Make sure that a statement stored as many as it was given.

    An engine that does not find a node stores no edge of it and says nothing.

    Raises:
        EngineError: It stored fewer.
    """
    count = stored[0][0] if stored else 0
    if count != wanted:
        raise EngineError(
            f"The graph engine stored {count:,} of {wanted:,} nodes or edges of a batch; nothing "
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


async def _to_the_end(sending: Awaitable[None]) -> None:
    """Wait even when cancelled: what is being stored must not come in after it was removed."""
    task = asyncio.ensure_future(sending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):  # whoever cancels may do so more than once
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, or asyncio reports it when it is collected
        raise
