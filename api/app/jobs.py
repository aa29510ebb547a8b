"""Jobs as the doors know them: submit, follow, cancel, resume."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.auth.access import LOCAL, Caller
from veritrail_graph.api.auth.audit import Audit
from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.event_feed import EventFeeds
from veritrail_graph.api.jobs.explanation_session import Explanation
from veritrail_graph.api.jobs.local import LocalResult, LocalRun, Progress
from veritrail_graph.api.jobs.looking import Looking
from veritrail_graph.api.jobs.model import (
    LAST_PLACE,
    Busy,
    Event,
    EventKind,
    JobClaim,
    JobFigures,
    OtherInput,
    is_job_id,
    job_id_of,
    kind_of,
    run_id_of,
    sentence_of,
)
from veritrail_graph.api.jobs.repeating import check_kind, process_of, with_pairs
from veritrail_graph.api.jobs.settings import JobSettings
from veritrail_graph.api.jobs.storage import JobRow, Transaction, changes, reading
from veritrail_graph.api.jobs.storage.batch_rows import left_batches, open_batches
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.reading import figures
from veritrail_graph.api.jobs.submission import JobRequest, LocalOptions, Plan, Submission
from veritrail_graph.api.jobs.unmade import Ender, lost
from veritrail_graph.api.requests.job import MAX_CLAIMS
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.work.runs import is_held
from veritrail_graph.graph.errors import (
    EngineError,
    EngineUnavailable,
    InputError,
    NotFound,
    ProcessConflict,
    VeriTrailError,
)
from veritrail_graph.graph.model.job import OPEN, Job, JobKind, JobStatus
from veritrail_graph.verifier.models.batch_port import BatchRecord

if TYPE_CHECKING:
    from veritrail_graph.api.app.changes import Changes
    from veritrail_graph.api.configured.graph_connection import GraphConnection
    from veritrail_graph.api.jobs.worker import Worker
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.store import Store

__all__ = [
    "OPEN",
    "BatchRecord",
    "Busy",
    "Event",
    "EventFeeds",
    "EventKind",
    "Explanation",
    "Job",
    "JobClaim",
    "JobFigures",
    "JobKind",
    "JobRequest",
    "JobSettings",
    "JobStatus",
    "Jobs",
    "LocalOptions",
    "LocalResult",
    "LocalRun",
    "OtherInput",
    "Plan",
    "Progress",
    "sentence_of",
]

TELL_SECONDS = 1.0
"""How long cancelling waits until the queued claims have ended."""

BEFORE = 10
"""Claims that have ended and are still shown before the first one that has not."""


class Jobs:
    """The jobs of a service.

    Args:
        settings: The settings.
        service: The database of the service.
        graph: The graph.
        works: Whether a worker in this process takes part in all jobs.
        is_local: Whether this process carries out the jobs that it submits, and no others.

    Attributes:
        events: What happens in them.
    """

    def __init__(
        self,
        settings: Settings,
        service: ServiceDatabase,
        graph: GraphConnection,
        *,
        works: bool = False,
        is_local: bool = False,
    ) -> None:
        self.events = EventLog(service, has_webhook=settings.webhook_url is not None)
        self._settings = settings
        self._service, self._audit = service, Audit(service)
        self._graph = graph
        self._looking = Looking(service)
        self._submission = Submission(settings, service, self.events)
        self._works = works
        self._is_local = is_local
        self._worker: Worker | None = None
        self._local: dict[str, tuple[LocalRun, asyncio.Task[Any]]] = {}
        self._feeds: EventFeeds | None = None

    def start(self) -> None:
        """Begin to work, where that is wanted; it does not wait for what does not answer."""
        if self._works:
            from veritrail_graph.api.jobs.worker import Worker

            self._worker = Worker(self._settings, self._service, self.events)
            self._worker.start()

    async def work(self, ended: asyncio.Event, begins: Callable[[str], None]) -> bool:
        """Work on jobs until an event is set; `stop` then hands back what was begun.

        Args:
            ended: Ends the work.
            begins: Called with the id of the worker, when it takes work.

        Returns:
            Whether it took work at all.
        """
        self.start()
        assert self._worker is not None  # noqa: S101  # the application works
        starting = asyncio.create_task(asyncio.to_thread(self._worker.working.wait))
        waiting = asyncio.create_task(ended.wait())
        await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
        if ended.is_set():
            return False
        begins(self._worker.worker_id)
        await waiting
        return True

    async def stop(self) -> None:
        """Stop working; what was begun is handed back, and nothing of it is lost."""
        for run, task in list(self._local.values()):
            run.cancel()
            await asyncio.wait([task])
        if self._worker is not None:
            await self._worker.stop()
        if self._feeds is not None:
            await self._feeds.close()
        await asyncio.to_thread(self.events.close)

    async def submit(
        self, caller: Caller, request: JobRequest, idempotency_key: str | None = None
    ) -> Job:
        """Submit a job, and record it if it is new. See `Submission`."""
        job, is_new = await self._submission.submit(
            self._graph.store, caller, request, idempotency_key, is_local=self._is_local
        )
        self._poke()
        if self._is_local and is_new and job.status in OPEN:
            self._carry_out(job.job_id, None)
        if is_new:
            about = {"target": job.job_id, "process_id": job.process_id}
            await self._audit.record(caller, "job.start", **about)
        return job

    async def plan(self, caller: Caller, request: VerifyRequest) -> Plan:
        """Return what a verification would be, before it is submitted. See `Submission.plan`."""
        return await self._submission.plan(self._graph.store, caller, request)

    def _carry_out(self, job_id: str, changes: Mapping[str, Any] | None) -> None:
        """Carry a job out in this process, beside what the caller does."""
        run = self._run(job_id, updates=changes)
        self._local[job_id] = run, asyncio.create_task(self._quietly(job_id, run))

    async def _quietly(self, job_id: str, run: LocalRun) -> None:
        """Carry a job out; how it ended is said by the job."""
        try:
            await run.carry_out()
        except Exception as error:  # noqa: BLE001  # no caller waits for it
            _log.warning("a job ended early: %s", error)
        finally:
            self._local.pop(job_id, None)

    async def submit_here(
        self,
        request: JobRequest,
        *,
        here: LocalOptions | None = None,
        progress: Progress | None = None,
        caller: Caller = LOCAL,
    ) -> LocalRun:
        """Submit a job that this process carries out when the caller says so.

        Args:
            request: What is to be done, and how.
            here: What no request can name.
            progress: What is called as the job goes on.
            caller: Who submits it.

        Raises:
            InputError: It cannot be done as it was asked for; nothing was submitted.
            EngineUnavailable: The graph or the database does not answer.
        """
        here = here or LocalOptions()
        row = await self._submission.submit_here(self._graph.store, caller, request, here)
        return self._run(row["job_id"], here, progress, row=row)

    async def resume_here(
        self,
        run_id: str,
        *,
        kind: JobKind = JobKind.VERIFICATION,
        process_id: str | None = None,
        changes: Mapping[str, Any] | None = None,
        anew: bool = False,
        here: LocalOptions | None = None,
        progress: Progress | None = None,
    ) -> LocalRun:
        """Take up a job by its run; this process carries it out when the caller says so.

        Args:
            run_id: The run.
            kind: What the caller has jobs of.
            process_id: The process that the caller named.
            changes: Fields of the request that are changed; `budget_usd` and `max_calls` are what
                may be spent from now on.
            anew: Whether it may spend what it wants where no limit is given.
            here: What no request can name.
            progress: What is called as the job goes on.

        Raises:
            NotFound: There is no such run.
            ProcessConflict: Its process has another content now, or was removed.
            InputError: It is of another kind or process, is carried out elsewhere, or may spend no
                more.
        """
        job_id = job_id_of(run_id)
        found = await self._service.read(lambda one: reading.resumable(one, job_id))
        if found is None or found.run_id != run_id:
            raise NotFound(f"No run {run_id!r} is stored.", code="run_unknown", run_id=run_id)
        check_kind(found, kind)
        if process_id not in {None, found.process_id}:
            raise InputError(f"Run {run_id} is one of process {found.process_id!r}.")
        if not found.is_local and found.is_open:
            raise InputError(f"Run {run_id} is a job of the service, which carries it out.")
        await self._check_content(job_id)  # before anything of the job is changed
        return self._run(job_id, here, progress, found.limits(changes or {}, anew=anew))

    async def kept(self, run_id: str) -> JobRow | None:
        """Return the row of the job of a run; None: there is none."""
        found = await self._service.read(lambda one: reading.job_of(one, job_id_of(run_id)))
        return found if found is not None and found["run_id"] == run_id else None

    async def _check_content(self, job_id: str) -> None:
        """See that the process of a run has the content that it had when the run began.

        Raises:
            ProcessConflict: It has not; the message names the batches that go on.
        """
        job = await self._service.read(lambda one: reading.job_of(one, job_id))
        if job is not None and kind_of(job["header"]) is JobKind.VERIFICATION:
            left = partial(self._service.read, lambda one: open_batches(one, job_id))
            await process_of(self._ask, left, job)

    async def can_go_on(self, run_id: str) -> bool:
        """Return whether the process of a run has the content that it had when the run began.

        Where the graph does not answer, nothing speaks against it.
        """
        try:
            await self._check_content(job_id_of(run_id))
        except ProcessConflict:
            return False
        except EngineError:
            return True
        return True

    async def batches_left(self, process_id: str) -> dict[str, list[BatchRecord]]:
        """The batches that runs of a process left at their endpoints, not read yet, by run_id."""
        return await self._service.read(lambda one: left_batches(one, process_id))

    async def cancel_batches(self, run_id: str) -> list[BatchRecord]:
        """Ask the endpoints to end the batches that a run of this machine left there.

        Its process need not be stored any more.

        Raises:
            NotFound: There is no such run.
            InputError: It makes no batches, or is carried out at the moment.
        """
        job_id = job_id_of(run_id)
        found = await self._service.read(lambda one: reading.resumable(one, job_id))
        if found is None or found.run_id != run_id:
            raise NotFound(f"No run {run_id!r} is stored.", code="run_unknown", run_id=run_id)
        if not found.is_local:
            raise InputError(f"Run {run_id} is a job of the service; cancel the job there.")
        return await self._run(job_id).cancel_batches()

    def _run(
        self,
        job_id: str,
        here: LocalOptions | None = None,
        progress: Progress | None = None,
        updates: Mapping[str, Any] | None = None,
        row: JobRow | None = None,
    ) -> LocalRun:
        shared = self._settings, self._service, self.events, self._graph, self._looking
        return LocalRun(*shared, job_id, here, progress, updates, row)

    async def follow(self, job_id: str, after: int = 0) -> AsyncIterator[Event]:
        """The events of a job after a place, as they come, until nothing of it is left to do.

        Raises:
            NotFound: There is no such job.
        """
        await self.get(job_id)
        if self._feeds is None:
            self._feeds = EventFeeds(self._service, self.events)
        last = await self._feeds.last(job_id)
        if last is not None and last.kind == EventKind.JOB_FINISHED and after >= last.seq:
            return
        async for events in self._feeds.follow(job_id, after):
            for event in events:
                yield event

    def _poke(self) -> None:
        if self._worker is not None:
            self._worker.poke()

    async def get(self, job_id: str) -> Job:
        """The state of a job.

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
        """Ids of the jobs that verify claims of a process, or wait for a worker, oldest first.

        One whose command was killed is left out: nothing works on it.
        """
        return (await self._open_jobs(process_id))[0]

    async def desert(self, process_id: str, why: str, at_work: Sequence[str] = ()) -> None:
        """End the jobs of a process that can never be finished.

        Args:
            process_id: The process, which was removed or replaced.
            why: The reason for each of their claims.
            at_work: Its open jobs before that, which are cancelled; those whose command was killed
                end in any case.
        """
        _, deserted = await self._open_jobs(process_id)
        if deserted:
            await self._service.run(lambda one: changes.desert(one, deserted, why, self.events))
        for job_id in at_work:
            with suppress(NotFound):  # it has ended, and was forgotten
                await self.cancel(job_id, why)

    async def _open_jobs(self, process_id: str) -> tuple[list[str], list[str]]:
        """Ids of the open jobs of a process: those at work, and those of killed commands."""
        rows = await self._service.read(lambda one: reading.open_jobs_of(one, process_id))
        at_work: list[str] = []
        deserted: list[str] = []
        for row in rows:
            is_left = row["is_local"] and not is_held(self._settings, row["run_id"])
            (deserted if is_left else at_work).append(row["job_id"])
        return at_work, deserted

    async def by_process(self) -> dict[str, list[str]]:
        """Ids of all jobs of which something is left to do, by process."""
        return await self._service.read(reading.open_by_process)

    async def claims(self, job_id: str, after: int | None, limit: int) -> list[JobClaim]:
        """Claims of a job in their order.

        Args:
            job_id: The job.
            after: The place of the last one before; None: a few before the first one that has not
                ended, where there are more than `limit`.
            limit: The most.
        """

        def read(connection: Transaction) -> list[JobClaim]:
            place = after
            if place is None:
                first = reading.first_open(connection, job_id) or 0
                place = first - BEFORE - 1 if limit <= first < LAST_PLACE else -1
            return reading.claims_of(connection, job_id, place, limit)

        return await self._service.read(read)

    async def unattributed(
        self,
        process: Process,
        node_id: str,
        behind: int = -1,
        before: int | None = None,
    ) -> dict[int, tuple[str, JobClaim, str]]:
        """Sentences of a node that failed, or were given up, in the newest job they were in.

        Args:
            process: The process.
            node_id: The node.
            behind: Only sentences whose numbers are larger.
            before: Only sentences whose numbers are smaller; None: all of these.

        Returns:
            The job_id, the row in it, and when the job was submitted, by number.
        """
        which = (process.process_id, process.content_hash, node_id, behind, before)
        return await self._service.read(lambda one: reading.unattributed(one, *which))

    async def changes(self, job_id: str) -> Changes:
        """Return what a job that was submitted with `since` kept, verified and changed until now.

        Raises:
            NotFound: There is no such job.
            InputError: It was not submitted with `since`.
        """
        from veritrail_graph.api.app.changes import changes_of

        job = await self.get(job_id)
        row = await self._service.read(lambda one: reading.job_of(one, job_id))
        if row is None or job.since is None:
            raise InputError(f"Job {job_id} was submitted without `since`.", code="no_since")
        return await changes_of(job, row["settings"], await self._graph.store())

    async def with_pairs(self, job_id: str, pairs: Sequence[Mapping[str, Any]]) -> VerifyRequest:
        """Verify the claims of a job again, with claims that a person found to say the same.

        Args:
            job_id: The job.
            pairs: `earlier` and `claim_id` of each pair.

        Raises:
            NotFound: There is no such job.
            InputError: It was not submitted with `since`, or a pair is none.
        """
        job = await self.get(job_id)
        found = await self._service.read(lambda one: reading.resumable(one, job_id))
        if found is None or job.since is None:
            raise InputError(f"Job {job_id} was submitted without `since`.", code="no_since")
        rows = await self.claims(job_id, -1, MAX_CLAIMS + 1)
        named = [one.claim_id for one in rows] if len(rows) <= MAX_CLAIMS else None
        return with_pairs(job, found.request, named, pairs)

    async def workers(self) -> int:
        """Return how many workers live, in this process and elsewhere."""
        return (await self._service.read(figures)).workers

    async def cancel(self, job_id: str, why: str | None = None, by: Caller | None = None) -> Job:
        """Cancel a job; what is finished stays. Cancelling again changes nothing.

        Args:
            job_id: The job.
            why: The reason for each claim that is left; None: that somebody cancelled it.
            by: Who cancels it, for the audit log.

        Raises:
            NotFound: There is none.
        """
        is_deserted = await self._is_deserted(job_id)

        def change(connection: Transaction) -> Job | None:
            job = changes.cancel(connection, job_id, self.events, is_deserted=is_deserted)
            if why is not None and job is not None and job.cancelling:
                changes.note_error(connection, job_id, why, self.events)
            return job

        job = await self._change(job_id, change)
        if job_id in self._local:
            self._local[job_id][0].cancel()
        ender = Ender(self._ask, self._service.read, self._service.run, self.events)
        with suppress(TimeoutError, VeriTrailError):  # a worker ends the rest
            await asyncio.wait_for(ender.end_queued(job_id), TELL_SECONDS)
        await self._audit.record(by, "job.cancel", target=job_id)
        return await self.get(job_id) if job.cancelling else job

    async def _is_deserted(self, job_id: str) -> bool:
        """Return whether the process that carried a job out has ended."""
        _check(job_id)
        if not await self._service.read(lambda one: reading.is_local(one, job_id)):
            return False
        return not is_held(self._settings, run_id_of(job_id))

    async def _ask(self, question: Callable[[Store], Awaitable[Any]]) -> Any:
        return await question(await self._graph.store())

    async def resume(
        self,
        job_id: str,
        limits: Mapping[str, float | int] | None = None,
        by: Caller | None = None,
    ) -> Job:
        """Take up again what a job has left without a verdict.

        Args:
            job_id: The job.
            limits: `budget_usd` and `max_calls`, where they are changed: in all, not from now on.
            by: Who resumes it, for the audit log.

        Raises:
            NotFound: There is none.
            changes.Busy: Something of it is still being stopped.
        """
        job = await self._resume(job_id, limits)
        await self._audit.record(by, "job.resume", target=job_id)
        return job

    async def _resume(self, job_id: str, limits: Mapping[str, float | int] | None) -> Job:
        _check(job_id)
        if self._is_local:
            return await self._resume_here(job_id, limits or {})
        if is_held(self._settings, run_id_of(job_id)):
            return await self.get(job_id)
        gone: set[str] = set()
        with suppress(EngineUnavailable):  # what is left waits for the graph, as all jobs do
            gone = await lost(self._ask, self._service.read, job_id)
        return await self._change(
            job_id, lambda one: changes.resume(one, job_id, limits or {}, self.events, gone)
        )

    async def _resume_here(self, job_id: str, limits: Mapping[str, float | int]) -> Job:
        """Take up again in this process what a job has left."""
        job = await self.get(job_id)
        if job.status is not JobStatus.SUCCEEDED:
            await self._check_content(job_id)
        if job_id in self._local:
            task = self._local[job_id][1]
            if job.status in OPEN and not job.cancelling and not task.done():
                return job
            await asyncio.wait([task])
        if job.status is not JobStatus.SUCCEEDED or await lost(
            self._ask, self._service.read, job_id
        ):
            self._carry_out(job_id, limits)
            run, task = self._local[job_id]
            begun = asyncio.create_task(run.begun.wait())
            await asyncio.wait([begun, task], return_when=asyncio.FIRST_COMPLETED)
            begun.cancel()
        return await self.get(job_id)

    async def _change(self, job_id: str, change: Callable[[Transaction], Job | None]) -> Job:
        _check(job_id)
        found = await self._service.run(change)
        self._poke()
        return _found([found] if found is not None else [], job_id)


_log = logging.getLogger("veritrail.jobs")


def _check(job_id: str) -> None:
    """See that a database can be asked for it: not every character may stand there."""
    if not is_job_id(job_id):
        _found([], job_id)


def _found(found: list[Job], job_id: str) -> Job:
    if not found:
        raise NotFound(f"There is no job {job_id!r}; jobs that ended are removed after a while.")
    return found[0]
