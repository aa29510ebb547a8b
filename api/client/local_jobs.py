"""Jobs in process: the same runs as those of the command line, followed like a service's jobs.

They live as long as the client does. What they finish is stored at once, so that a later one can
go on with what a run has left (`resume` in the same client, `veritrail verify --resume RUN`).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from veritrail_graph.api.client.local_job import LocalJob
from veritrail_graph.api.client.trails import Event
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError, NotFound, ProcessConflict, VeriTrailError
from veritrail_graph.graph.model import Usage

if TYPE_CHECKING:
    from veritrail_graph.api.app.verify_request import VerifyRequest
    from veritrail_graph.api.configured_judge import JudgeOptions
    from veritrail_graph.api.jobs.events import EventLog
    from veritrail_graph.api.models import ModelOptions
    from veritrail_graph.api.verification import Done
    from veritrail_graph.graph.model import Verification
    from veritrail_graph.graph.store import Store
    from veritrail_graph.verifier.driver import Observer, Task
    from veritrail_graph.verifier.run import Run

EXTRACTING_SECONDS = 1.0
"""How long a job whose claims are extracted is waited for, to see whether it can begin."""

OpenStore = Callable[[], Awaitable["Store"]]


class LocalJobs:
    """The jobs of one client in process.

    Args:
        settings: The settings.
        store: Opens the graph.
    """

    def __init__(self, settings: Settings, store: OpenStore) -> None:
        self._settings = settings
        self._store = store
        self._jobs: dict[str, LocalJob] = {}
        self._by_key: dict[str, tuple[Mapping[str, Any], str]] = {}

    async def start(self, body: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Begin to verify; what is wrong with the claims is told at once."""
        from veritrail_graph.api.app.verify_request import VerifyRequest
        from veritrail_graph.api.configured_judge import judge_options

        if key in self._by_key:
            earlier, job_id = self._by_key[key]
            if earlier != body:
                raise ProcessConflict(f"The key {key!r} was used with other arguments.")
            return self._jobs[job_id].state()
        request = VerifyRequest.checked(body, "body.")
        how = judge_options(self._settings, request)
        request.claim_records()  # what breaks rules is refused before anything is begun
        if request.extract:
            await self._check_extraction(request.process_id, how)
        job = LocalJob(f"j-{uuid.uuid4().hex}", request.process_id)
        self._jobs[job.job_id] = job
        self._by_key[key] = (body, job.job_id)
        try:
            # Claims are extracted for a long time before there is a run.
            patience = EXTRACTING_SECONDS if request.extract else None
            await self._begin(job, partial(self._verified, how, request), patience)
        except BaseException:
            del self._jobs[job.job_id], self._by_key[key]
            raise
        return job.state()

    async def state(self, job_id: str) -> dict[str, Any]:
        """The state of a job."""
        return self.find(job_id).state()

    async def listed(self, **filters: str | None) -> list[dict[str, Any]]:
        """The jobs of this client, newest first."""
        wanted = {name: value for name, value in filters.items() if value is not None}
        states = [job.state() for job in reversed(self._jobs.values())]
        return [one for one in states if all(one[key] == wanted[key] for key in wanted)]

    async def cancel(self, job_id: str) -> dict[str, Any]:
        """Stop a job; what is finished stays."""
        job = self.find(job_id)
        await _stop(job)
        return job.state()

    async def resume(self, job_id: str, limits: Mapping[str, Any]) -> dict[str, Any]:
        """Go on with what a job has left."""
        job = self.find(job_id)
        from veritrail_graph.api.client.local_requests import limits_left

        if job.is_over and job.status != "succeeded":
            if job.run is None:
                raise InputError(f"Job {job.job_id} ended before its run began; submit it again.")
            work = partial(self._resumed, job.run.run_id, limits_left(limits, job.usage))
            job.is_cancelled = False
            await self._begin(job, work)
        return job.state()

    async def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        """What happens in a job until it is over.

        Raises:
            NotFound: There is no such job here.
            InputError: `after` is no id of an event.
        """
        job = self.find(job_id)
        if after is not None and not after.isdigit():
            raise InputError(f"{after!r} is no id of an event")
        place = int(after or 0)
        while True:
            changed = job.changed
            while place < len(job.events):
                place += 1
                yield job.events[place - 1]
                if job.events[place - 1].kind == "job.finished" and place == len(job.events):
                    return
            if job.is_over:
                return
            await changed.wait()

    async def close(self) -> None:
        """Stop everything that runs."""
        for job in self._jobs.values():
            await _stop(job)

    def find(self, job_id: str) -> LocalJob:
        """A job of this client.

        Raises:
            NotFound: There is none of this id.
        """
        if job_id not in self._jobs:
            raise NotFound(f"No job {job_id!r} was begun by this client.")
        return self._jobs[job_id]

    async def _check_extraction(self, process_id: str, how: JudgeOptions) -> None:
        """See whether claims can be extracted at all.

        Raises:
            InputError: No model is asked, or there is no such process.
        """
        from veritrail_graph.verifier.engines import engine_named

        if not engine_named(how.engine).asks_models:
            raise InputError(
                f"`extract` needs a language model, and engine {how.engine} asks none; name one "
                "with `model`."
            )
        await (await self._store()).processes.get(process_id)

    async def _begin(self, job: LocalJob, work: _Work, patience: float | None = None) -> None:
        """Start the work and wait until its run begins, or until it cannot begin.

        Raises:
            VeriTrailError: It cannot; the job stands as it stood.
        """
        begun = asyncio.Event()
        before = job.status, job.error
        job.status, job.error = "running", None
        job.task = asyncio.create_task(_worked(job, work, begun))
        waiting = asyncio.create_task(begun.wait())
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait({job.task, waiting}, timeout=patience, return_when=first)
        waiting.cancel()
        if job.task.done() and not begun.is_set():
            job.status, job.error = before
            await job.task  # raises what kept it from beginning
        begun.set()

    async def _verified(
        self, how: JudgeOptions, request: VerifyRequest, observer: Observer, on_run: _OnRun
    ) -> Done:
        from veritrail_graph.api.configured_judge import configure_judge
        from veritrail_graph.api.verification import verify

        async with configure_judge(self._settings, how) as bench:
            store = await self._store()
            return await verify(
                self._settings, store, bench, request, observer=observer, on_run=on_run
            )

    async def _resumed(
        self, run_id: str, limits: ModelOptions, observer: Observer, on_run: _OnRun
    ) -> Done:
        from veritrail_graph.api.configured_judge import (
            JudgeOptions,
            configure_judge,
            stored_options,
        )
        from veritrail_graph.api.runs import what_is_left
        from veritrail_graph.api.verification import resume, stored_run

        store = await self._store()
        earlier = await stored_run(store, run_id)
        how = what_is_left(earlier, stored_options(earlier[0], JudgeOptions("", models=limits)))
        async with configure_judge(self._settings, how) as bench:
            return await resume(self._settings, store, bench, run_id, observer, on_run)


_OnRun = Callable[["Run", int], None]
_Work = Callable[["Observer", _OnRun], Coroutine[Any, Any, "Done"]]


async def _worked(job: LocalJob, work: _Work, begun: asyncio.Event) -> None:
    """Do the work; how it ends is a status of the job, unless it could not begin."""

    def on_run(run: Run, _claims: int) -> None:
        job.run = run
        begun.set()

    try:
        done = await work(_observer(job), on_run)
    except asyncio.CancelledError:
        job.end("cancelled", None)
    except VeriTrailError as error:
        if not begun.is_set():
            raise
        job.end("failed", str(error))
    except Exception as error:  # whoever waits is told that it is over
        if not begun.is_set():
            raise
        job.end("failed", f"internal error ({type(error).__name__}: {error}); please report it")
    else:
        job.take(done)


def _observer(job: LocalJob) -> Observer:
    """Notes what happens, in the words of a service's events."""
    from veritrail_graph.api.jobs.events import claim_finished, observer

    noted = observer(job.job_id, cast("EventLog", job))

    def started(task: Task) -> None:
        if task.verification_id not in job.statuses:
            job.verification_ids.append(task.verification_id)
        job.statuses[task.verification_id] = "running"
        noted.claim_started(task)

    def ended(verification: Verification) -> None:
        if verification.verification_id not in job.statuses:
            job.verification_ids.append(verification.verification_id)
        job.statuses[verification.verification_id] = verification.status.value
        job.append(job.job_id, "claim.finished", claim_finished(verification))

    def called(usage: Usage) -> None:
        job.usage += usage

    return replace(noted, claim_started=started, claim_finished=ended, call_made=called)


async def _stop(job: LocalJob) -> None:
    """Stop a job and wait until it has ended; one that is over stays as it is."""
    if job.task is None or job.task.done():
        return
    if job.run is not None:
        job.is_cancelled = True
        job.run.stop()
    else:
        job.task.cancel()
    await asyncio.wait({job.task})
