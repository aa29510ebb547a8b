"""Looking after the jobs that a process carries out: all of them with one reading."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from veritrail_graph.api.jobs.storage.changes import CANCELLED
from veritrail_graph.api.jobs.storage.works import to_stop
from veritrail_graph.graph.errors import VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.auth.database import ServiceDatabase

TELL_SECONDS = 0.5
"""Seconds between two readings: what was spent is written down, cancelled jobs are stopped."""

_log = logging.getLogger("veritrail.jobs")


class Looking:
    """Writes down what jobs have spent, and stops those that somebody cancelled.

    Args:
        service: The database of jobs.
    """

    def __init__(self, service: ServiceDatabase) -> None:
        self._service = service
        self._jobs: dict[str, tuple[Callable[[], Awaitable[None]], Callable[[str], None]]] = {}
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def after(
        self, job_id: str, tell: Callable[[], Awaitable[None]], stop: Callable[[str], None]
    ) -> AsyncIterator[None]:
        """Look after a job until the end of the `with` block.

        Args:
            job_id: The job.
            tell: Writes down what it has spent.
            stop: Stops it for a reason.
        """
        self._jobs[job_id] = tell, stop
        if self._task is None:
            self._task = asyncio.create_task(self._look())
        try:
            yield
        finally:
            del self._jobs[job_id]
            if not self._jobs and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(TELL_SECONDS)
            try:
                for tell, _ in [*self._jobs.values()]:
                    await tell()
                found = await self._service.read(partial(to_stop, job_ids=[*self._jobs]))
            except VeriTrailError as error:  # the database is busy: the next reading finds it
                _log.debug("the jobs at work could not be read: %s", error)
                continue
            except Exception:  # noqa: BLE001  # or nothing would ever stop these jobs
                _log.warning("the jobs at work could not be looked after", exc_info=True)
                continue
            for job_id, why, _ in found:
                if job_id in self._jobs:
                    self._jobs[job_id][1](why or CANCELLED)
