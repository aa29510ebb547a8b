"""What a worker does again and again for jobs that a killed process left half done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from veritrail_graph.api.jobs.graph_sync import sync_graph
from veritrail_graph.api.jobs.sessions import JobSessions
from veritrail_graph.api.jobs.storage import Transaction, changes, upkeep
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.reading import to_stop, works_of
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status

if TYPE_CHECKING:
    from veritrail_graph.api.jobs.storage.queue import WorkQueue

ENQUEUED_TOGETHER = 200
"""After so long whoever submitted a job is not about to queue its claims in the graph any more."""

_log = logging.getLogger("veritrail.jobs")


class Reaper:
    """Looks for what is left to do.

    Args:
        repository: The state of claims.
        durable: The engine.
        sessions: The open sessions.
        graph: The graph.
        log: The events.
        stop: Ends what runs here of a job.
    """

    def __init__(
        self,
        repository: JobRepository,
        queue: WorkQueue,
        sessions: JobSessions,
        graph: WaitingGraph,
        log: EventLog,
        stop: Callable[[str, str], None],
    ) -> None:
        self._repository = repository
        self._queue = queue
        self._sessions = sessions
        self._graph = graph
        self._log = log
        self._stop = stop

    async def enqueue(self) -> None:
        """Hand to the engine what was submitted or resumed."""
        for job_id in await self._repository.read(upkeep.to_enqueue):
            works = await self._repository.read(partial(works_of, job_id=job_id))
            for start in range(0, len(works), ENQUEUED_TOGETHER):
                some = works[start : start + ENQUEUED_TOGETHER]
                await asyncio.to_thread(self._queue.enqueue, some)
            await self._repository.run(partial(upkeep.note_enqueued, job_id=job_id, works=works))

    async def queue_in_graph(self) -> None:
        """Queue the claims of jobs in the graph whose submission was cut short."""
        for job_id in await self._repository.read(upkeep.to_queue_in_graph):
            try:
                async with self._sessions.enter(job_id) as session:
                    await self._graph.ask(session.queue_all)
            except InputError as error:
                await self._repository.run(partial(self._give_up, job_id=job_id, why=str(error)))
            await self._repository.run(partial(upkeep.queued_in_graph, job_id=job_id))

    def _give_up(self, connection: Transaction, job_id: str, why: str) -> None:
        changes.give_up(connection, job_id, Status.FAILED, why, self._log, error=why)

    async def sync_graph(self) -> None:
        """Let the graph say, too, that claims were cancelled or could not be begun."""
        while await sync_graph(self._graph.ask, self._repository.read, self._repository.run):
            pass

    async def stop_cancelled(self) -> None:
        """Stop what runs here of jobs that were cancelled or given up."""
        open_here = self._sessions.job_ids
        if not open_here:
            return
        for job_id, error in await self._repository.read(lambda one: to_stop(one, open_here)):
            self._stop(job_id, error or changes.CANCELLED)

    async def begin_again(self) -> None:
        """Have everything that is open handed to the engine again, which knows most of it."""
        await self._repository.run(upkeep.enqueue_again)

    async def forget(self, keep_seconds: float) -> None:
        """Remove jobs that ended long ago; their verifications stay in the graph."""
        before = datetime.now(UTC) - timedelta(seconds=keep_seconds)
        limit = before.isoformat(timespec="microseconds").replace("+00:00", "Z")
        while works := await self._repository.read(
            lambda connection: upkeep.to_forget(connection, limit)
        ):
            ids = [work.workflow_id for work in works]
            for start in range(0, len(ids), ENQUEUED_TOGETHER):
                some = ids[start : start + ENQUEUED_TOGETHER]
                await asyncio.to_thread(self._queue.forget, some)
            job_ids = sorted({work.job_id for work in works})
            await self._repository.run(partial(upkeep.forget, job_ids=job_ids))
