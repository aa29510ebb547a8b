"""A worker: takes claims of jobs and verifies them until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from veritrail_graph.api.auth.database import ServiceDatabase, service_url
from veritrail_graph.api.jobs.model import Work
from veritrail_graph.api.jobs.runner import Runner
from veritrail_graph.api.jobs.sessions import JobSessions, SessionOptions
from veritrail_graph.api.jobs.settings import JobSettings
from veritrail_graph.api.jobs.storage import changes, upkeep, webhook_messages
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.storage.heartbeat import BEAT_SECONDS, Heartbeat
from veritrail_graph.api.jobs.storage.queue import WorkQueue
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.storage.webhook_messages import Taken
from veritrail_graph.api.jobs.storage.works import to_stop, works_of
from veritrail_graph.api.jobs.unmade import Ender
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph
from veritrail_graph.api.settings import Settings
from veritrail_graph.api.threads import wait_for_no_threads
from veritrail_graph.api.work.webhooks.target import NotDelivered, Target
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Status

LOOK_SECONDS, IDLE_LOOK_SECONDS = 0.2, 1.0
"""How often it looks for what was submitted and what was cancelled: while jobs are open, and while
none is. It sees at once what its own process submits."""
TELL_SECONDS = 0.5
REFUSED_SECONDS = 1.0
WEBHOOK_SECONDS = 2.0
FORGET_SECONDS = 3_600.0
RETRY_SECONDS = 2.0
CLOSING_STEP_SECONDS = 1.5
ENQUEUED_TOGETHER = 200

WEBHOOK_FIRST_WAIT, WEBHOOK_LONGEST_WAIT = 5.0, 3_600.0
WEBHOOK_ATTEMPTS = 12
"""With the waits between them a message is given up after some six hours."""
WEBHOOKS_AT_ONCE = 50
"""Messages on their way at a time."""

ENDING_SECONDS = 20.0
"""How long a worker that is stopped is waited for; what it leaves is found by others."""

_log = logging.getLogger("veritrail.jobs")
_webhook_log = logging.getLogger("veritrail.webhooks")


class Worker:
    """A worker in this process; there is one at a time.

    It has a thread with an event loop of its own, so that a busy job does not hold up the pages of
    a service. The engine of jobs is launched there and begins work there.

    Args:
        settings: The settings.
        service: The database of the service.
        log: The events of jobs.

    Attributes:
        working: Set when it takes work, and when it has ended.
    """

    def __init__(self, settings: Settings, service: ServiceDatabase, log: EventLog) -> None:
        self.working = threading.Event()
        self._settings = settings
        self._job_settings = JobSettings.of(settings)
        self._service = service
        self._log = log
        self._heartbeat = Heartbeat(service, settings.home)
        self._queue = WorkQueue(service_url(settings), settings.home, self._heartbeat.worker_id)
        self._parts: _Parts | None = None
        self._thread = threading.Thread(target=self._run, name="job-worker", daemon=True)
        self._has_loop = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()
        self._poked = asyncio.Event()
        self._furnished = asyncio.Event()

    @property
    def worker_id(self) -> str:
        """Its id."""
        return self._heartbeat.worker_id

    def start(self) -> None:
        """Begin to work; databases that do not answer yet are waited for in its thread."""
        self._thread.start()
        self._has_loop.wait()

    def poke(self) -> None:
        """Look at once for what was submitted."""
        self._call(self._poked.set)

    async def stop(self) -> None:
        """Stop working: calls in flight may end for a while, everything else is handed back."""
        self._call(self._ended.set)
        await asyncio.to_thread(self._thread.join, ENDING_SECONDS)

    def _call(self, what: Callable[[], object]) -> None:
        """Call something in the loop of the worker, if it runs."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it is closed: the worker has ended
                self._loop.call_soon_threadsafe(what)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception:  # noqa: BLE001  # no caller waits for this thread
            _log.exception("the worker ended")
        finally:
            try:
                self._queue.destroy()
            finally:
                self._heartbeat.leave()
                self.working.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        wait_for_no_threads()
        self._has_loop.set()
        if not await self._lasting(self._arrive, "jobs wait for their database"):
            return
        self._heartbeat.on_change = self._changed
        self._heartbeat.on_death = self._held_for_dead
        self._heartbeat.watch()
        if len(self._heartbeat.alive) > 1:  # let the others leave us our share of the calls first
            await self._ends_within(BEAT_SECONDS + 0.5)
        if not await self._lasting(self._launch, "the engine of jobs waits for its database"):
            return
        tasks = await self._furnish()
        try:
            self._heartbeat.recover = self._queue.recover
            await asyncio.to_thread(self._look)
            self.working.set()
            await self._ended.wait()
        finally:
            self._queue.pause()
            if self._parts is not None:
                await self._parts.close(tasks, self._job_settings.closing_seconds)

    async def _lasting(self, begin: Callable[[], Awaitable[None]], waits: str) -> bool:
        """Begin something, again until it succeeds; False: the worker is to end first."""
        while not self._ended.is_set():
            try:
                await begin()
            except Exception as error:  # noqa: BLE001  # whatever it is, it may pass
                _log.warning("%s: %s", waits, error)
                await self._ends_within(RETRY_SECONDS)
            else:
                return True
        return False

    async def _ends_within(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)

    async def _arrive(self) -> None:
        await asyncio.to_thread(self._heartbeat.arrive)

    async def _launch(self) -> None:
        at_a_time = self._job_settings.at_a_time(len(self._heartbeat.alive))
        try:
            await self._queue.launch(self._do, at_a_time)
        except BaseException:
            await asyncio.to_thread(self._queue.destroy)
            raise

    def _look(self) -> None:
        """Take over at once from workers of this home that were killed."""
        try:
            self._heartbeat.look()
        except VeriTrailError as error:
            _log.debug("looked for in vain: %s", error)

    async def _furnish(self) -> list[asyncio.Task[None]]:
        """Make what belongs to the event loop; gives the tasks that run again and again."""
        parts = self._parts = _Parts.of(
            self._settings,
            self._job_settings,
            self._service,
            self._log,
            self._heartbeat,
            self._queue,
        )
        parts.sessions.limiters.share_among(len(self._heartbeat.alive))
        await parts.reaper.begin_again()
        self._furnished.set()
        reaper, keep = parts.reaper, self._job_settings.keep_seconds

        def look_seconds() -> float:
            return LOOK_SECONDS if self._queue.is_busy else IDLE_LOOK_SECONDS

        again = [
            self._always(look_seconds, reaper.enqueue, wakes=True),
            self._always(look_seconds, reaper.stop_cancelled),
            self._always(lambda: TELL_SECONDS, parts.sessions.tell),
            self._always(look_seconds, reaper.end_stopped),
            self._always(lambda: REFUSED_SECONDS, reaper.end_refused),
            self._always(lambda: FORGET_SECONDS, lambda: reaper.forget(keep)),
        ]
        if parts.deliveries is not None:
            again.append(self._always(lambda: WEBHOOK_SECONDS, parts.deliveries.send_due))
        return [asyncio.create_task(one) for one in again]

    async def _do(self, work: Work) -> None:
        await self._furnished.wait()
        if self._parts is not None:
            await self._parts.runner.do(work)

    async def _always(
        self,
        seconds: Callable[[], float],
        what: Callable[[], Coroutine[Any, Any, None]],
        *,
        wakes: bool = False,
    ) -> None:
        """Do something again and again; what goes wrong is tried again the next time."""
        while True:
            try:
                await what()
            except Exception:  # noqa: BLE001  # the others must go on
                _log.exception("a step of the reaper failed; it is tried again")
            if wakes:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._poked.wait(), seconds())
                self._poked.clear()
            else:
                await asyncio.sleep(seconds())

    def _changed(self) -> None:
        """Another worker came or went: share the endpoints anew."""
        if self._parts is not None:
            among = len(self._heartbeat.alive)
            self._call(partial(self._parts.sessions.limiters.share_among, among))
            self._queue.take(self._job_settings.at_a_time(among))

    def _held_for_dead(self) -> None:
        """Stop what others have begun again meanwhile; nothing of it is written."""
        _log.warning("this worker was held for dead; others do what it had begun")
        if self._parts is not None:
            for job_id in self._parts.sessions.job_ids:
                self._call(partial(self._parts.runner.stop, job_id, "another worker does it"))


class _Parts:
    """The parts of a worker that live in the engine's event loop."""

    def __init__(
        self,
        sessions: JobSessions,
        runner: Runner,
        reaper: Reaper,
        graph: WaitingGraph,
        deliveries: Deliveries | None,
    ) -> None:
        self.deliveries = deliveries
        self.sessions = sessions
        self.runner = runner
        self.reaper = reaper
        self.graph = graph

    @classmethod
    def of(
        cls,
        settings: Settings,
        job_settings: JobSettings,
        service: ServiceDatabase,
        log: EventLog,
        heartbeat: Heartbeat,
        queue: WorkQueue,
    ) -> _Parts:
        from veritrail_graph.api.configured.graph_connection import GraphConnection

        graph = WaitingGraph(GraphConnection(settings), job_settings.patience_seconds)
        repository = JobRepository(service, log, heartbeat.worker_id)
        options = SessionOptions(settings, graph, cancels_batches=True)
        sessions = JobSessions(
            options, repository, log, heartbeat.worker_id, lambda: heartbeat.alive
        )
        runner = Runner(sessions, repository, log, graph)
        ender = Ender(graph.ask, repository.read, repository.run, log)
        reaper = Reaper(repository, queue, sessions, ender, runner)
        target = Target.of(settings)
        deliveries = Deliveries(repository, target) if target is not None else None
        return cls(sessions, runner, reaper, graph, deliveries)

    async def close(self, tasks: list[asyncio.Task[None]], seconds: float) -> None:
        """Let calls in flight end, so that they are not paid again, and close."""
        self.sessions.is_closing.set()
        until = time.monotonic() + seconds
        while self.sessions.calls_in_air and time.monotonic() < until:  # noqa: ASYNC110  # once
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        if self.deliveries is not None:
            await _quietly(self.deliveries.close(CLOSING_STEP_SECONDS / 2))
        await _quietly(self.sessions.tell())
        await _quietly(self.runner.hand_back())
        await _quietly(self.sessions.close())
        await _quietly(self.graph.close())


async def _quietly(what: Coroutine[Any, Any, None]) -> None:
    """Await something for a moment; the worker ends, whatever comes of it."""
    try:
        await asyncio.wait_for(what, CLOSING_STEP_SECONDS)
    except Exception:  # noqa: BLE001  # it is ending anyway
        _log.debug("not reported at the end", exc_info=True)


class Reaper:
    """Looks for what is left to do.

    Args:
        repository: The state of claims.
        durable: The engine.
        sessions: The open sessions.
        ender: Ends the queued claims of jobs that were stopped.
        runner: Does what the engine gives.
    """

    def __init__(
        self,
        repository: JobRepository,
        queue: WorkQueue,
        sessions: JobSessions,
        ender: Ender,
        runner: Runner,
    ) -> None:
        self._repository = repository
        self._queue = queue
        self._sessions = sessions
        self._ender = ender
        self._runner = runner
        self._enqueued: set[tuple[str, int, bool, bool]] = set()

    async def enqueue(self) -> None:
        """See that the engine has everything of the jobs that are open.

        What it has is not noted anywhere else: a worker asks the engine once for each job that it
        has not seen yet, or that was taken up again, and gives it what is missing.
        """
        found = await self._repository.read(upkeep.open_jobs)
        if self._queue.is_busy != bool(found):
            await asyncio.to_thread(self._queue.expect, is_busy=bool(found))
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

    async def end_refused(self) -> None:
        """End jobs of which the engine gave something up that is still to be done."""
        open_here = sorted({job[0] for job in self._enqueued})
        refused = await asyncio.to_thread(self._queue.refused, open_here)
        of_jobs = {workflow_id.partition("/")[0] for workflow_id in refused}
        for job_id in sorted(of_jobs):
            works = await self._repository.read(partial(works_of, job_id=job_id))
            reasons = [refused[one.workflow_id] for one in works if one.workflow_id in refused]
            if reasons:
                _log.error("job %s ends: %s", job_id, reasons[0])
                await self._runner.give_up(job_id, Status.FAILED, reasons[0])

    async def end_stopped(self) -> None:
        """End the queued claims of jobs that were cancelled, or given up by a worker that ended."""
        for job_id in await self._repository.read(upkeep.stopped_jobs):
            if not self._runner.giving_up[job_id]:  # it says itself how they end
                await self._ender.end_queued(job_id)

    async def stop_cancelled(self) -> None:
        """Stop what runs here of jobs that were cancelled or given up."""
        open_here = self._sessions.job_ids
        if not open_here:
            return
        found = await self._repository.read(lambda one: to_stop(one, open_here))
        for job_id, error, is_cancelled in found:
            self._runner.stop(job_id, error or changes.CANCELLED, is_cancelled)

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


class Deliveries:
    """Sends the messages of webhooks about jobs, until the receiver accepts them.

    Args:
        repository: The database.
        target: Where messages go.
        first_wait: Seconds after the first attempt; each later wait is three times as long.
    """

    def __init__(
        self, repository: JobRepository, target: Target, *, first_wait: float = WEBHOOK_FIRST_WAIT
    ) -> None:
        self._repository = repository
        self._target = target
        self._first_wait = first_wait
        self._on_their_way: set[asyncio.Task[None]] = set()

    async def send_due(self) -> None:
        """Begin to send every message that is due, each by itself."""
        free = WEBHOOKS_AT_ONCE - len(self._on_their_way)
        if free <= 0:
            return
        for taken in await self._repository.run(partial(webhook_messages.take, most=free)):
            task = asyncio.create_task(self._send_logged(taken))
            self._on_their_way.add(task)
            task.add_done_callback(self._on_their_way.discard)

    async def close(self, seconds: float) -> None:
        """Let messages on their way arrive for a moment; others are sent again later."""
        if not self._on_their_way:
            return
        _, left = await asyncio.wait(self._on_their_way, timeout=seconds)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _send_logged(self, one: Taken) -> None:
        try:
            await self._send(one)
        except Exception:  # noqa: BLE001  # the message is sent again once its time is over
            _webhook_log.exception("message %s was not noted as sent", one.message.message_id)

    async def _send(self, one: Taken) -> None:
        due = None
        try:
            await self._target.send(one.message)
        except NotDelivered as error:
            attempts = one.attempts + 1
            if attempts < WEBHOOK_ATTEMPTS:
                due = time.time() + self._wait(attempts)
            outcome = "it is sent again" if due else "it is given up"
            _webhook_log.warning(
                "message %s of job %s: %s; %s", one.message.message_id, one.job_id, error, outcome
            )
        await self._repository.run(
            partial(webhook_messages.end, message_id=one.message.message_id, due=due)
        )

    def _wait(self, attempts: int) -> float:
        longest = min(WEBHOOK_LONGEST_WAIT, self._first_wait * 3.0 ** (attempts - 1))
        return random.uniform(0.8 * longest, longest)  # noqa: S311  # no secret
