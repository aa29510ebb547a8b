"""Sending the messages of webhooks about jobs, until the receiver accepts them."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from functools import partial

from veritrail_graph.api.jobs.storage import webhook_messages
from veritrail_graph.api.jobs.storage.repository import JobRepository
from veritrail_graph.api.jobs.storage.webhook_messages import Taken
from veritrail_graph.api.webhooks.target import NotDelivered, Target

FIRST_WAIT, LONGEST_WAIT = 5.0, 3_600.0
MOST_ATTEMPTS = 12
"""With the waits between them a message is given up after some six hours."""

_log = logging.getLogger("veritrail.webhooks")


class Deliveries:
    """Sends what is due.

    Args:
        repository: The database.
        target: Where messages go.
        first_wait: Seconds after the first attempt; each later wait is three times as long.
    """

    def __init__(
        self, repository: JobRepository, target: Target, *, first_wait: float = FIRST_WAIT
    ) -> None:
        self._repository = repository
        self._target = target
        self._first_wait = first_wait

    async def send_due(self) -> None:
        """Send every message that is due once."""
        taken = await self._repository.run(webhook_messages.take)
        await asyncio.gather(*map(self._send, taken))

    async def _send(self, one: Taken) -> None:
        due = None
        try:
            await asyncio.to_thread(self._target.send, one.message)
        except NotDelivered as error:
            attempts = one.attempts + 1
            if attempts < MOST_ATTEMPTS:
                due = time.time() + self._wait(attempts)
            outcome = "it is sent again" if due else "it is given up"
            _log.warning(
                "message %s of job %s: %s; %s", one.message.message_id, one.job_id, error, outcome
            )
        await self._repository.run(
            partial(webhook_messages.end, message_id=one.message.message_id, due=due)
        )

    def _wait(self, attempts: int) -> float:
        longest = min(LONGEST_WAIT, self._first_wait * 3.0 ** (attempts - 1))
        return random.uniform(0.8 * longest, longest)  # noqa: S311  # no secret
