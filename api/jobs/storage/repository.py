"""The job repository of a worker: many changes in one transaction, again until it is written.

What comes while a transaction is on its way is written with the next: a transaction costs about as
much for fifty claims as for one. No claim can fail because the database is down.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.model import Ended, Work
from veritrail_graph.api.jobs.storage import changes
from veritrail_graph.api.jobs.storage.events import EventLog
from veritrail_graph.api.jobs.together import Item, Result, Together
from veritrail_graph.graph.errors import EngineUnavailable

T = TypeVar("T")

LONGEST_PAUSE = 3.0

_log = logging.getLogger("veritrail.jobs")


async def lasting(run: Callable[[], T], *, waits: bool = True) -> T:
    """Run something in a thread, again and again while the database does not answer."""
    if not waits:
        return await asyncio.to_thread(run)
    pause = 0.1
    while True:
        try:
            return await asyncio.to_thread(run)
        except EngineUnavailable as error:
            _log.warning("jobs wait for their database: %s", error)
            await asyncio.sleep(random.uniform(pause / 2, pause))  # noqa: S311  # no secret
            pause = min(LONGEST_PAUSE, 2 * pause)


class Batches(Together[Item, Result]):
    """The writes of a worker to its database, several in one transaction.

    Args:
        write: Writes a batch and gives a result for each item of it.
        waits: Whether a database that does not answer is waited for.
    """

    def __init__(
        self, write: Callable[[Sequence[Item]], Sequence[Result]], *, waits: bool = True
    ) -> None:
        async def written(items: Sequence[Item]) -> Sequence[Result]:
            return await lasting(lambda: write(items), waits=waits)

        super().__init__(written)


class JobRepository:
    """The state of claims in a worker's hands.

    Args:
        service: The database.
        log: The events.
        worker_id: The worker.
        waits: Whether a database that does not answer is waited for.
    """

    def __init__(
        self, service: ServiceDatabase, log: EventLog, worker_id: str, *, waits: bool = True
    ) -> None:
        self._waits = waits
        self._service = service
        self._log = log
        self._worker_id = worker_id
        self._begun: Batches[Work, tuple[bool, str | None]] = Batches(self._begin, waits=waits)
        self._ended: Batches[Ended, None] = Batches(self._finish, waits=waits)

    async def begin(self, claim: Work) -> tuple[bool, str | None]:
        """Take a claim.

        Returns:
            Whether there is anything to do, and the reason where the claim may only be ended.
        """
        return await self._begun.add(claim)

    async def finish(self, ended: Ended) -> None:
        """Keep how a claim ended."""
        await self._ended.add(ended)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run a transaction until it is through."""
        return await lasting(lambda: self._service.run_now(work), waits=self._waits)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Read until there is an answer."""
        return await lasting(lambda: self._service.read_now(work), waits=self._waits)

    def _begin(self, claims: Sequence[Work]) -> list[tuple[bool, str | None]]:
        mine = self._service.run_now(
            lambda connection: changes.begin(connection, self._worker_id, claims, self._log)
        )
        keys = [(one.job_id, one.verification_id) for one in claims]
        return [(key in mine, mine.get(key)) for key in keys]

    def _finish(self, ended: Sequence[Ended]) -> list[None]:
        self._service.run_now(
            lambda connection: changes.finish(connection, self._worker_id, ended, self._log)
        )
        return [None] * len(ended)
