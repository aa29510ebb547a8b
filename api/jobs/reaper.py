"""What a worker does again and again for jobs that a killed process left half done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from veritrail_graph.api.jobs.sessions import JobSessions
from veritrail_graph.api.jobs.storage import changes, upkeep
from veritrail_graph.api.jobs.storage.reading import to_stop, works_of
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.unmade import Ender

if TYPE_CHECKING:
    from veritrail_graph.api.jobs.storage.queue import WorkQueue

ENQUEUED_TOGETHER = 200

_log = logging.getLogger("veritrail.jobs")


class Reaper:
    """Looks for what is left to do.

    Args:
        repository: The state of claims.
        durable: The engine.
        sessions: The open sessions.
        ender: Ends the queued claims of jobs that were stopped.
        stop: Ends what runs here of a job.
    """

    def __init__(
        self,
        repository: JobRepository,
        queue: WorkQueue,
        sessions: JobSessions,
        ender: Ender,
        stop: Callable[[str, str], None],
    ) -> None:
        self._repository = repository
        self._queue = queue
        self._sessions = sessions
        self._ender = ender
        self._stop = stop
        self._enqueued: set[tuple[str, int, bool]] = set()

    async def enqueue(self) -> None:
        """See that the engine has everything of the jobs that are open.

        What it has is not noted anywhere else: a worker asks the engine once for each job that it
        has not seen yet, or that was taken up again, and gives it what is missing.
        """
        found = await self._repository.read(upkeep.open_jobs)
        self._enqueued.intersection_update(found)
        for job in found:
            if job in self._enqueued:
                continue
            works = await self._repository.read(partial(works_of, job_id=job[0]))
            there = await asyncio.to_thread(self._queue.known, job[0])
            left = [one for one in works if one.workflow_id not in there]
            for start in range(0, len(left), ENQUEUED_TOGETHER):
                some = left[start : start + ENQUEUED_TOGETHER]
                await asyncio.to_thread(self._queue.enqueue, some)
            self._enqueued.add(job)

    async def end_stopped(self) -> None:
        """End the queued claims of jobs that were cancelled or given up."""
        for job_id in await self._repository.read(upkeep.stopped_jobs):
            await self._ender.end_queued(job_id)

    async def stop_cancelled(self) -> None:
        """Stop what runs here of jobs that were cancelled or given up."""
        open_here = self._sessions.job_ids
        if not open_here:
            return
        for job_id, error in await self._repository.read(lambda one: to_stop(one, open_here)):
            self._stop(job_id, error or changes.CANCELLED)

    async def begin_again(self) -> None:
        """Queue again what is noted as running in a worker that is not known."""
        await self._repository.run(upkeep.queue_lost)

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
