"""A worker: takes claims of jobs and verifies them until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

from veritrail_graph.api.auth.database import ServiceDatabase, service_url
from veritrail_graph.api.jobs.books import Books
from veritrail_graph.api.jobs.durable import Durable, Work
from veritrail_graph.api.jobs.events import EventLog
from veritrail_graph.api.jobs.presence import BEAT_SECONDS, Presence
from veritrail_graph.api.jobs.room import Floor
from veritrail_graph.api.jobs.rooms import Rooms
from veritrail_graph.api.jobs.settings import JobSettings
from veritrail_graph.api.jobs.sweeping import Sweeping
from veritrail_graph.api.jobs.waiting_graph import WaitingGraph
from veritrail_graph.api.jobs.working import Working
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import VeriTrailError

LOOK_SECONDS = 0.2
"""How often it looks for what was submitted and what was cancelled."""
TELL_SECONDS = 0.5
SWEEP_SECONDS = 5.0
FORGET_SECONDS = 3_600.0
RETRY_SECONDS = 2.0
CLOSING_STEP_SECONDS = 1.5

_log = logging.getLogger("veritrail.jobs")


class Worker:
    """A worker in this process; there is one at a time.

    Everything that it does happens in the event loop of the engine of jobs, which runs in a thread
    of its own.

    Args:
        settings: The settings.
        service: The database of the service.
        log: The events of jobs.
    """

    def __init__(self, settings: Settings, service: ServiceDatabase, log: EventLog) -> None:
        self._settings = settings
        self._job_settings = JobSettings.of(settings)
        self._service = service
        self._log = log
        self._presence = Presence(service, settings.home)
        self._durable = Durable(service_url(settings), settings.home, self._presence.worker_id)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._parts: _Parts | None = None
        self._poked: asyncio.Event | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._is_launched = False
        self._ending = threading.Event()

    @property
    def worker_id(self) -> str:
        """Its id."""
        return self._presence.worker_id

    async def start(self) -> None:
        """Begin to work, unless it is told to stop first; it waits for what does not answer yet."""
        while not self._ending.is_set():
            try:
                await asyncio.to_thread(self._presence.arrive)
                break
            except Exception as error:  # noqa: BLE001  # whatever it is, it may pass
                _log.warning("jobs wait for their database: %s", error)
                await asyncio.to_thread(self._ending.wait, RETRY_SECONDS)
        self._presence.on_change = self._changed
        self._presence.on_death = self._held_for_dead
        self._presence.watch()
        if len(self._presence.alive) > 1:  # let the others leave us our share of the calls first
            await asyncio.to_thread(self._ending.wait, BEAT_SECONDS + 0.5)
        await asyncio.to_thread(self._launch)

    def _launch(self) -> None:
        while not self._ending.is_set():
            try:
                at_a_time = self._job_settings.at_a_time(len(self._presence.alive))
                self._durable.launch(self._do, at_a_time)
            except Exception as error:  # noqa: BLE001  # such as a database that is starting
                _log.warning("the engine of jobs waits for its database: %s", error)
                self._durable.destroy()
                self._ending.wait(RETRY_SECONDS)
            else:
                self._is_launched = True
                self._loop = self._durable.loop
                asyncio.run_coroutine_threadsafe(self._furnish(), self._loop).result()
                self._presence.recover = self._durable.recover
                self._look()
                return

    def _look(self) -> None:
        """Take over at once from workers of this home that were killed."""
        try:
            self._presence.look()
        except VeriTrailError as error:
            _log.debug("looked for in vain: %s", error)

    async def _furnish(self) -> None:
        """Make everything that belongs to the engine's event loop."""
        self._parts = _Parts.of(
            self._settings,
            self._job_settings,
            self._service,
            self._log,
            self._presence,
            self._durable,
        )
        self._parts.rooms.limiters.share_among(len(self._presence.alive))
        self._poked = asyncio.Event()
        sweeping = self._parts.sweeping
        await sweeping.begin_again()
        self._tasks = [
            asyncio.create_task(self._always(LOOK_SECONDS, sweeping.enqueue, wakes=True)),
            asyncio.create_task(self._always(LOOK_SECONDS, sweeping.stop_cancelled)),
            asyncio.create_task(self._always(TELL_SECONDS, self._parts.rooms.tell)),
            asyncio.create_task(self._always(TELL_SECONDS, sweeping.tell_graph)),
            asyncio.create_task(self._always(SWEEP_SECONDS, sweeping.queue_in_graph)),
            asyncio.create_task(self._always(FORGET_SECONDS, self._forget)),
        ]

    async def _do(self, work: Work) -> None:
        while self._parts is None:  # noqa: ASYNC110  # a moment, once
            await asyncio.sleep(0.01)
        await self._parts.working.do(work)

    async def _always(
        self, seconds: float, what: Callable[[], Coroutine[Any, Any, None]], *, wakes: bool = False
    ) -> None:
        """Do something again and again; what goes wrong is tried again the next time."""
        while True:
            try:
                await what()
            except Exception:  # noqa: BLE001  # the others must go on
                _log.exception("a sweep of the jobs failed; it is tried again")
            if wakes and self._poked is not None:
                try:
                    await asyncio.wait_for(self._poked.wait(), seconds)
                except TimeoutError:
                    continue
                self._poked.clear()
            else:
                await asyncio.sleep(seconds)

    async def _forget(self) -> None:
        if self._parts is not None:
            await self._parts.sweeping.forget(self._job_settings.keep_seconds)

    def poke(self) -> None:
        """Look at once for what was submitted."""
        if self._loop is not None and self._poked is not None:
            self._loop.call_soon_threadsafe(self._poked.set)

    def _changed(self) -> None:
        """Another worker came or went: share the endpoints anew."""
        if self._loop is not None and self._parts is not None:
            among = len(self._presence.alive)
            self._loop.call_soon_threadsafe(self._parts.rooms.limiters.share_among, among)
            self._durable.take(self._job_settings.at_a_time(among))

    def _held_for_dead(self) -> None:
        """Stop what others have begun again meanwhile; nothing of it is written."""
        _log.warning("this worker was held for dead; others do what it had begun")
        if self._loop is not None and self._parts is not None:
            for job_id in self._parts.rooms.job_ids:
                self._loop.call_soon_threadsafe(
                    self._parts.working.stop, job_id, "another worker does it"
                )

    def end(self) -> None:
        """Have `start` come to its end, where it is still waiting for something."""
        self._ending.set()

    async def stop(self) -> None:
        """Stop working: calls in the air are waited for a while, everything else is handed back.

        `start` has to have come to its end, or not to have been called; see `end`.
        """
        self.end()
        if self._is_launched:
            if self._loop is not None and self._parts is not None:
                closing = self._parts.close(self._tasks, self._job_settings.closing_seconds)
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(closing, self._loop))
            await asyncio.to_thread(self._durable.destroy)
            self._is_launched = False
        await asyncio.to_thread(self._presence.leave)


class _Parts:
    """What of a worker lives in the engine's event loop."""

    def __init__(
        self, rooms: Rooms, working: Working, sweeping: Sweeping, graph: WaitingGraph
    ) -> None:
        self.rooms = rooms
        self.working = working
        self.sweeping = sweeping
        self.graph = graph

    @classmethod
    def of(
        cls,
        settings: Settings,
        job_settings: JobSettings,
        service: ServiceDatabase,
        log: EventLog,
        presence: Presence,
        durable: Durable,
    ) -> _Parts:
        from veritrail_graph.api.graph_connection import GraphConnection

        graph = WaitingGraph(GraphConnection(settings), job_settings.patience_seconds)
        books = Books(service, log, presence.worker_id)
        floor = Floor(settings, graph)
        rooms = Rooms(floor, books, log, presence.worker_id, lambda: presence.alive)
        working = Working(rooms, books, log, graph)
        sweeping = Sweeping(books, durable, rooms, graph, log, working.stop)
        return cls(rooms, working, sweeping, graph)

    async def close(self, tasks: list[asyncio.Task[None]], seconds: float) -> None:
        """Let calls in the air come back, so that they are not paid again, and close."""
        self.rooms.is_closing.set()
        until = time.monotonic() + seconds
        while self.rooms.calls_in_air and time.monotonic() < until:  # noqa: ASYNC110  # once
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await _quietly(self.rooms.tell())
        await _quietly(self.working.hand_back())
        await _quietly(self.rooms.close())
        await _quietly(self.graph.close())


async def _quietly(what: Coroutine[Any, Any, None]) -> None:
    """Await something for a moment; the worker ends, whatever comes of it."""
    try:
        await asyncio.wait_for(what, CLOSING_STEP_SECONDS)
    except Exception:  # noqa: BLE001  # it is ending anyway
        _log.debug("not told at the end", exc_info=True)
