"""The rooms that are open in a worker: who enters and leaves them, and what they spend."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from veritrail_graph.api.app.verify_request import VerifyRequest
from veritrail_graph.api.jobs.books import Books
from veritrail_graph.api.jobs.events import EventLog, observer
from veritrail_graph.api.jobs.model import OPEN_CLAIMS
from veritrail_graph.api.jobs.purse import Limit, purse_of_job, purse_of_key
from veritrail_graph.api.jobs.room import Claimed, Floor, Room
from veritrail_graph.api.jobs.spending import JobSpending, Purse
from veritrail_graph.api.jobs.tables import job_claims, jobs
from veritrail_graph.api.shared import Limiters, Shared
from veritrail_graph.graph.errors import NotFound

LINGER_SECONDS = 1.0
"""How long a room stays open for the next claim of its job."""

_log = logging.getLogger("veritrail.jobs")


_Key = tuple[str, int]


@dataclass(slots=True)
class _Place:
    """A room that is open, or being opened."""

    opening: asyncio.Task[Room]
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    users: int = 0
    closing: asyncio.TimerHandle | None = None


class Rooms:
    """Rooms of one worker, all in one event loop.

    Args:
        floor: What they stand on.
        books: The state of their claims.
        log: The events of their jobs.
        worker_id: The worker.
        alive: Names the workers that live.
    """

    def __init__(
        self,
        floor: Floor,
        books: Books,
        log: EventLog,
        worker_id: str,
        alive: Callable[[], list[str]],
    ) -> None:
        self.limiters = Limiters()
        self.is_closing = asyncio.Event()
        self._floor = floor
        self._books = books
        self._log = log
        self._worker_id = worker_id
        self._alive = alive
        self._places: dict[_Key, _Place] = {}
        self._purses: dict[str, Purse] = {}
        self._spendings: dict[_Key, JobSpending] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def job_ids(self) -> list[str]:
        """The jobs that have a room here."""
        return sorted({job_id for job_id, _ in self._places})

    @property
    def calls_in_air(self) -> int:
        """Calls to models that are being waited for."""
        return sum(one.in_flight for one in self._spendings.values())

    @asynccontextmanager
    async def enter(self, job_id: str, attempt: int = 1) -> AsyncIterator[Room]:
        """The room of a job; the first who enters opens it.

        Args:
            job_id: The job.
            attempt: How often what is to be done was taken up; it may be done under other limits
                than before, and has a room of its own.

        Raises:
            InputError: It cannot be opened.
            EngineError: The graph did not answer for too long.
        """
        key = (job_id, attempt)
        place = self._places.get(key)
        if place is None:
            stack = AsyncExitStack()
            place = _Place(asyncio.create_task(self._open(key, stack)), stack)
            self._places[key] = place
        if place.closing is not None:
            place.closing.cancel()
            place.closing = None
        place.users += 1
        try:
            yield await asyncio.shield(place.opening)
        finally:
            place.users -= 1
            self._left(key, place)

    def stop(self, job_id: str, why: str) -> None:
        """End what is done for a job; the next who enters opens another room."""
        for key in [key for key in self._places if key[0] == job_id]:
            self._stop(key, self._places.pop(key), why)

    def _stop(self, key: _Key, place: _Place, why: str) -> None:
        if place.opening.done() and not place.opening.cancelled():
            if place.opening.exception() is None:
                place.opening.result().stop(why)
        else:
            place.opening.cancel()
        self._left(key, place)

    async def tell(self) -> None:
        """Tell the other workers what was spent."""
        for purse in list(self._purses.values()):
            await purse.tell()

    async def close(self) -> None:
        """Close every room, whoever is in it."""
        for key, place in list(self._places.items()):
            del self._places[key]
            place.opening.cancel()
            await self._close(key, place)
        for leaving in list(self._leaving):
            await leaving

    def _left(self, key: _Key, place: _Place) -> None:
        if place.users or place.closing is not None:
            return
        is_open = self._places.get(key) is place and _is_open(place)
        wait = LINGER_SECONDS if is_open else 0.0
        loop = asyncio.get_running_loop()
        place.closing = loop.call_later(wait, self._begin_to_close, key, place)

    def _begin_to_close(self, key: _Key, place: _Place) -> None:
        if self._places.get(key) is place:
            del self._places[key]
        task = asyncio.create_task(self._close(key, place))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _close(self, key: _Key, place: _Place) -> None:
        with suppress(Exception):  # it was told to those who wanted to enter
            await asyncio.wait([place.opening])
            await place.stack.aclose()
        if key not in self._places:
            self._spendings.pop(key, None)

    async def _open(self, key: _Key, stack: AsyncExitStack) -> Room:
        job_id = key[0]
        job = await self._books.read(lambda connection: _job(connection, job_id))
        if job is None:
            raise NotFound(f"job {job_id!r} is gone")
        spending = await self._spending(job)
        party = job["key_id"]
        room = await Room.open(self._floor, job, Shared(spending, self.limiters, party), stack)
        await self.learn(room)
        room.begin(observer(job_id, self._log))
        self._spendings[key] = spending
        if room.bench.models is not None:
            for warning in room.bench.models.warnings:
                _log.warning("%s", warning)
        return room

    async def learn(self, room: Room) -> None:
        """Let a room know the claims of its job that are open."""
        await room.learn(await self._books.read(lambda connection: _open(connection, room.job_id)))

    async def _spending(self, job: RowMapping) -> JobSpending:
        """What a job may spend here: of its own purse, and of that of its key."""
        request = VerifyRequest.model_validate_json(job["request"])
        wanted: list[tuple[str, Limit, str]] = []
        if request.budget_usd is not None or request.max_calls is not None:
            limit = Limit(request.budget_usd, request.max_calls)
            wanted.append((purse_of_job(job["job_id"]), limit, "the job"))
        if job["key_budget"] is not None:
            limit = Limit(job["key_budget"])
            wanted.append((purse_of_key(job["key_id"]), limit, "the key"))
        purses = []
        for purse_id, limit, whose in wanted:
            if purse_id not in self._purses:
                self._purses[purse_id] = Purse(
                    purse_id, self._worker_id, limit, self._books.run, self._alive, whose
                )
            await self._purses[purse_id].open(limit)
            purses.append(self._purses[purse_id])
        return JobSpending(tuple(purses), self.is_closing)


def _is_open(place: _Place) -> bool:
    opening = place.opening
    return not opening.done() or not (opening.cancelled() or opening.exception())


def _job(connection: Connection, job_id: str) -> RowMapping | None:
    return connection.execute(sa.select(jobs).where(jobs.c.job_id == job_id)).mappings().first()


def _open(connection: Connection, job_id: str) -> list[Claimed]:
    found = connection.execute(
        sa.select(job_claims.c.verification_id, job_claims.c.claim_id)
        .where(job_claims.c.job_id == job_id, job_claims.c.status.in_(OPEN_CLAIMS))
        .order_by(job_claims.c.place)
    )
    return [Claimed(*row) for row in found]
