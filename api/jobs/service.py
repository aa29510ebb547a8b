"""Jobs as the service offers them: submit, look, cancel, resume."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Connection

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.auth.access import Caller
from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs import orders, reading
from veritrail_graph.api.jobs.events import EventLog
from veritrail_graph.api.jobs.figures import figures
from veritrail_graph.api.jobs.model import Job, JobStatus
from veritrail_graph.api.jobs.submission import Submission
from veritrail_graph.api.jobs.telling import tell_some
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import NotFound, VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.graph_connection import GraphConnection
    from veritrail_graph.api.jobs.worker import Worker
    from veritrail_graph.graph.store import Store

TELL_SECONDS = 1.0
"""How long cancelling waits for the graph to say so too."""

BEFORE = 10
"""Claims that have ended and are still shown before the first one that has not."""


class Jobs:
    """The jobs of a service.

    Args:
        settings: The settings.
        service: The database of the service.
        graph: The graph.
        works: Whether they are worked on in this process.

    Attributes:
        events: What happens in them.
    """

    def __init__(
        self, settings: Settings, service: ServiceDatabase, graph: GraphConnection, *, works: bool
    ) -> None:
        self.events = EventLog(service)
        self._settings = settings
        self._service = service
        self._graph = graph
        self._submission = Submission(settings, service, self.events)
        self._works = works
        self._worker: Worker | None = None
        self._starting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to work, where that is wanted; it does not wait for what does not answer."""
        if self._works:
            from veritrail_graph.api.jobs.worker import Worker

            self._worker = Worker(self._settings, self._service, self.events)
            self._starting = asyncio.create_task(self._worker.start())

    async def stop(self) -> None:
        """Stop working; what was begun is handed back, and nothing of it is lost."""
        if self._worker is not None and self._starting is not None:
            self._worker.end()
            await asyncio.wait([self._starting])
            await self._worker.stop()
        await asyncio.to_thread(self.events.close)

    async def submit(
        self, caller: Caller, request: VerifyRequest, idempotency_key: str | None = None
    ) -> tuple[Job, bool]:
        """Submit a job; the answer says, too, whether it is new. See `Submission`."""
        opened = self._graph.store
        found = await self._submission.submit(opened, caller, request, idempotency_key)
        self._poke()
        return found

    def _poke(self) -> None:
        if self._worker is not None:
            self._worker.poke()

    async def get(self, job_id: str) -> Job:
        """A job as it stands.

        Raises:
            NotFound: There is none.
        """
        _check(job_id)
        found = await self._service.read(lambda one: reading.found_jobs(one, [job_id]))
        return _found(found, job_id)

    async def page(
        self,
        *,
        process_id: str | None = None,
        status: JobStatus | None = None,
        before: tuple[str, str] | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """Jobs, newest first, without their verification_ids; see `reading.page`."""
        return await self._service.read(
            lambda one: reading.page(
                one, process_id=process_id, status=status, before=before, limit=limit
            )
        )

    async def of_process(self, process_id: str) -> list[str]:
        """Ids of the jobs of a process of which something is left to do, oldest first."""
        return await self._service.read(lambda one: reading.open_jobs_of(one, process_id))

    async def by_process(self) -> dict[str, list[str]]:
        """Ids of all jobs of which something is left to do, by process."""
        return await self._service.read(reading.open_by_process)

    async def claims(self, job_id: str, after: int | None, limit: int) -> list[reading.JobClaim]:
        """Claims of a job in their order.

        Args:
            job_id: The job.
            after: The place of the last one before; None: a few before the first one that has not
                ended, where there are more than `limit`.
            limit: The most.
        """

        def read(connection: Connection) -> list[reading.JobClaim]:
            place = after
            if place is None:
                first = reading.first_open(connection, job_id) or 0
                place = first - BEFORE - 1 if first >= limit else -1
            return reading.claims_of(connection, job_id, place, limit)

        return await self._service.read(read)

    async def workers(self) -> int:
        """How many workers live, in this process and elsewhere."""
        return (await self._service.read(figures)).workers

    async def cancel(self, job_id: str) -> Job:
        """Cancel a job; what is finished stays. Cancelling again changes nothing.

        Raises:
            NotFound: There is none.
        """
        job = await self._change(job_id, lambda one: orders.cancel(one, job_id, self.events))
        with suppress(TimeoutError, VeriTrailError):  # a worker tells the rest
            await asyncio.wait_for(self._tell(job_id), TELL_SECONDS)
        return job

    async def _tell(self, job_id: str) -> None:
        """Let the graph say, too, what was cancelled."""

        async def ask(question: Callable[[Store], Awaitable[Any]]) -> Any:
            return await question(await self._graph.store())

        while await tell_some(ask, self._service.read, self._service.run, job_id):
            pass

    async def resume(self, job_id: str, limits: Mapping[str, float | int] | None = None) -> Job:
        """Take up again what a job has left without a verdict.

        Args:
            job_id: The job.
            limits: `budget_usd` and `max_calls`, where they are changed: in all, not from now on.

        Raises:
            NotFound: There is none.
            orders.Busy: Something of it is still being stopped.
        """
        return await self._change(
            job_id, lambda one: orders.resume(one, job_id, limits or {}, self.events)
        )

    async def _change(self, job_id: str, change: Callable[[Connection], Job | None]) -> Job:
        _check(job_id)
        found = await self._service.run(change)
        self._poke()
        return _found([found] if found is not None else [], job_id)


_JOB_ID = re.compile(r"j-[0-9a-f]{32}")


def _check(job_id: str) -> None:
    """See that a database can be asked for it: not every character may stand there."""
    if not _JOB_ID.fullmatch(job_id):
        _found([], job_id)


def _found(found: list[Job], job_id: str) -> Job:
    if not found:
        raise NotFound(f"There is no job {job_id!r}; jobs that ended are removed after a while.")
    return found[0]
