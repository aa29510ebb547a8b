"""The graph as a worker sees it: where the engine does not answer, it waits and asks again."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

from veritrail_graph.graph.errors import EngineUnavailable, QueryTimeout, ReadOnlyGraph, StoreFull

if TYPE_CHECKING:
    from veritrail_graph.api.configured.graph_connection import GraphConnection
    from veritrail_graph.graph.adjacency import Adjacency
    from veritrail_graph.graph.model import SourcesLeft, SourcesRead, Verification
    from veritrail_graph.graph.store import Store

T = TypeVar("T")

_PASSING = (EngineUnavailable, QueryTimeout, ReadOnlyGraph, StoreFull)
"""Faults that pass, or that an operator fixes."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0

_log = logging.getLogger("veritrail.jobs")


class WaitingGraph:
    """Asks the graph until it answers; it is opened anew where it was lost.

    Args:
        connection: The connection; it belongs to the event loop that this is used in.
        patience: Seconds after which a question is given up.
    """

    def __init__(self, connection: GraphConnection, patience: float) -> None:
        self._connection = connection
        self._patience = patience
        self._store: Store | None = None

    async def ask(self, question: Callable[[Store], Awaitable[T]]) -> T:
        """Ask something that may be asked twice.

        Raises:
            EngineError: There was no answer for too long.
        """
        until = time.monotonic() + self._patience
        pause = FIRST_PAUSE
        while True:
            store: Store | None = None
            try:
                store = self._store = await self._connection.store()
                return await question(store)
            except _PASSING as error:
                fault: Exception = error
            except Exception as error:  # another one closed it under us, as it was lost
                if store is None or store is self._store:
                    raise
                fault = error
            if time.monotonic() > until:
                raise fault
            _log.warning("jobs wait for the graph: %s", fault)
            if isinstance(fault, EngineUnavailable) and store is not None:
                await self._lost(store)
            await asyncio.sleep(random.uniform(pause / 2, pause))  # noqa: S311  # no secret
            pause = min(LONGEST_PAUSE, 2 * pause)

    async def _lost(self, store: Store) -> None:
        """Have the graph opened anew, once for all that lost it at the same time."""
        if store is self._store:
            self._store = None
            await self._connection.lost()

    async def write(self, *verifications: Verification) -> None:
        """Store trails.

        Raises:
            InputError: They cannot be stored any more.
        """
        await self.ask(lambda store: store.trails.write(*verifications))

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


class WaitingReader:
    """Reads nodes of processes; a `Reader` of `verifier.nodes`.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: WaitingGraph) -> None:
        self._graph = graph

    async def source_nodes(
        self,
        process_id: str,
        of: Collection[str],
        *,
        with_texts: bool,
        checked: Collection[str] = (),
    ) -> SourcesRead:
        """src() of these nodes, and which of them were checked."""
        return await self._graph.ask(
            lambda store: store.reading.source_nodes(
                process_id, of, with_texts=with_texts, checked=checked
            )
        )

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
        return await self._graph.ask(
            lambda store: store.reading.next_frontier(
                process_id, verdicts, q, frontier, evidence, checked
            )
        )

    async def left(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> SourcesLeft:
        """Return whether src() of these nodes has unchecked ones, and what was checked in it."""
        return await self._graph.ask(lambda store: store.reading.left(process_id, of, checked))

    async def candidates(
        self, process_id: str, of: Collection[str], checked: Collection[str]
    ) -> set[str]:
        """node_ids of src() of these nodes, without those checked."""
        return await self._graph.ask(
            lambda store: store.reading.candidates(process_id, of, checked)
        )

    async def topology(self, process_id: str, nodes: int, edges: int) -> Adjacency:
        """Ids and edges of a whole process."""
        return await self._graph.ask(lambda store: store.reading.topology(process_id, nodes, edges))

    async def copies(self, process_id: str, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        return await self._graph.ask(lambda store: store.reading.copies(process_id, node_ids))

    async def texts(self, process_id: str, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts by node_id."""
        return await self._graph.ask(lambda store: store.reading.texts(process_id, node_ids))
