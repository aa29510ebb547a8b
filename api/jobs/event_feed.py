"""Events on their way to many readers: one look at the database serves all of them.

A process looks a few times a second, with one statement, which of the watched jobs have new
events, and reads those once. A reader has no queue of its own, only a place: what it has not yet
taken is in the short memory of its job, and what has left that is read from the table again,
in pages that readers share. So nothing is lost to a slow reader, and no reader costs memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from itertools import islice

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.model import Event, EventKind
from veritrail_graph.api.jobs.storage import Transaction
from veritrail_graph.api.jobs.storage.events import EventLog, events_after, last_numbers
from veritrail_graph.graph.errors import EngineUnavailable

_log = logging.getLogger(__name__)

LOOK_SECONDS = 0.1
"""How often a process looks for new events of the jobs that are watched."""
AGAIN_SECONDS = 0.02
"""How soon it looks again when this process itself has just written some."""
DOWN_SECONDS = 1.0
"""How long it waits where the database does not answer."""
REMEMBERED = 1_000
"""Latest events of a watched job that are kept in memory."""
PAGE = 500
"""Events that are read at a time."""
PAGES = 16
"""Pages of earlier events of a watched job that are kept in memory."""


class _Feed:
    """One watched job."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.readers = 0
        self.latest: deque[Event] = deque(maxlen=REMEMBERED)
        self.pages: OrderedDict[int, asyncio.Task[list[Event]]] = OrderedDict()
        self._changed = asyncio.Event()

    def publish(self, events: Sequence[Event]) -> None:
        """There are new events; wake all readers."""
        if self.latest and events[0].seq != self.latest[-1].seq + 1:
            self.latest.clear()
        self.latest.extend(events)
        self.last = events[-1].seq
        self._changed.set()
        self._changed = asyncio.Event()

    def remembered(self, after: int) -> list[Event] | None:
        """The events after a place, or None where memory does not reach back so far."""
        if after >= self.last:
            return []
        if not self.latest or self.latest[0].seq > after + 1:
            return None
        first = after + 1 - self.latest[0].seq  # numbers have no gap
        return list(islice(self.latest, first, first + PAGE))

    async def changed(self) -> None:
        """Wait for new events."""
        await self._changed.wait()


class EventFeeds:
    """The watched jobs of a process.

    Args:
        service: The database of the service.
        log: Where this process writes events; None: it writes none.
    """

    def __init__(self, service: ServiceDatabase, log: EventLog | None = None) -> None:
        self._service = service
        self._feeds: dict[str, _Feed] = {}
        self._looking: asyncio.Task[None] | None = None
        self._written = asyncio.Event()
        if log is not None:
            loop = asyncio.get_running_loop()

            def tell() -> None:
                with suppress(RuntimeError):  # the loop is closed: there are no readers
                    loop.call_soon_threadsafe(self._written.set)

            log.on_written(tell)

    async def page(self, job_id: str, after: int, limit: int) -> list[Event]:
        """The next events of a job, as many as there are.

        Raises:
            EngineUnavailable: The database does not answer.
        """
        return await self._service.read(lambda it: events_after(it, job_id, after, limit))

    async def last(self, job_id: str) -> Event | None:
        """The last event of a job.

        Raises:
            EngineUnavailable: The database does not answer.
        """

        def read(connection: Transaction) -> list[Event]:
            last = last_numbers(connection, [job_id]).get(job_id, 0)
            return events_after(connection, job_id, last - 1, 1)

        return next(iter(await self._service.read(read)), None)

    async def follow(self, job_id: str, after: int = 0) -> AsyncGenerator[list[Event]]:
        """The events of a job after a place, as they come, until nothing of it is left to do."""
        feed = self._feeds.setdefault(job_id, _Feed(0))
        feed.readers += 1
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            while True:
                events = feed.remembered(after)
                if events is None:
                    events = await self._earlier(job_id, feed, after)
                    if not events:  # they were removed, and the job with them
                        return
                if events:
                    yield events
                    after = events[-1].seq
                    if events[-1].kind == EventKind.JOB_FINISHED and after >= feed.last:
                        return
                else:
                    await feed.changed()
        finally:
            feed.readers -= 1
            if not feed.readers:
                self._feeds.pop(job_id, None)

    async def close(self) -> None:
        """Stop looking; readers would wait without end and must be cancelled."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _earlier(self, job_id: str, feed: _Feed, after: int) -> list[Event]:
        """Events that memory does not hold; readers that come along at once share the reading."""
        number = after // PAGE
        reading = feed.pages.get(number)
        shared = reading is not None
        if reading is None:
            reading = asyncio.create_task(self._read_page(job_id, number))
            feed.pages[number] = reading
            reading.add_done_callback(lambda done: _keep_whole(feed, number, done))
        found = [event for event in await asyncio.shield(reading) if event.seq > after]
        if not found and shared:  # it began before what this reader has not seen was written
            return await self._earlier(job_id, feed, after)
        return found

    async def _read_page(self, job_id: str, number: int) -> list[Event]:
        while True:
            try:
                return await self.page(job_id, number * PAGE, PAGE)
            except EngineUnavailable:  # a reader that is sent away now may never come again
                await asyncio.sleep(DOWN_SECONDS)

    async def _look(self) -> None:
        """Look for new events as long as anybody waits for some."""
        try:
            while self._feeds:
                try:
                    await self._look_once()
                    wait = LOOK_SECONDS
                except EngineUnavailable:
                    wait = DOWN_SECONDS
                except Exception:  # noqa: BLE001  # or all readers would wait without end
                    _log.exception("events could not be read")
                    wait = DOWN_SECONDS
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._written.wait()
                        await asyncio.sleep(AGAIN_SECONDS)
                self._written.clear()
        finally:
            self._looking = None

    async def _look_once(self) -> None:
        watched = list(self._feeds)
        last = await self._service.read(lambda it: last_numbers(it, watched))
        for job_id, number in last.items():
            feed = self._feeds.get(job_id)
            if feed is None or number <= feed.last:
                continue
            # Only what memory can hold: a new reader reads the rest from the table.
            after = max(feed.last, number - REMEMBERED)
            events = await self.page(job_id, after, REMEMBERED)
            if events:
                feed.publish(events)


def _keep_whole(feed: _Feed, number: int, done: asyncio.Task[list[Event]]) -> None:
    """A page that is full never changes: keep it for a while."""
    whole = not done.cancelled() and done.exception() is None and len(done.result()) == PAGE
    if not whole:
        feed.pages.pop(number, None)
    while len(feed.pages) > PAGES:
        feed.pages.popitem(last=False)
