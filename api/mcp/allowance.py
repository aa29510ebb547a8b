"""The money that the assistants of one server may spend together, in all of their calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from anyio import CancelScope

from veritrail_graph.api.client.following import AsyncJob
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.model import Status, Usage

STOPPED_SHARE = 100
"""A stop counts as this part of the limits, and at least as a call."""


@dataclass(slots=True)
class Allowance:
    """A limit that is given when the server starts, and what is left of it.

    Attributes:
        budget_usd: The most that all verifications may cost; None: no such limit.
        max_calls: The most calls of models; None: no such limit.
    """

    budget_usd: float | None = None
    max_calls: int | None = None
    _spent: float = 0.0
    _calls: int = 0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[dict[str, Any]]:
        """Yield what is left, as options; one verification at a time, or two would spend it twice.

        Raises:
            InputError: Nothing is left.
        """
        async with self._turn:
            options: dict[str, Any] = {}
            if self.budget_usd is not None:
                options["budget_usd"] = self._left(self.budget_usd - self._spent, "budget")
            if self.max_calls is not None:
                left = self._left(self.max_calls - self._calls, "number of calls")
                options["max_calls"] = int(left)
            yield options

    def charge(self, usage: Usage | None) -> None:
        """Take note of what a verification came to; what is not known uses up all.

        Args:
            usage: What it came to; None: not known, and it may have used all that it was given.
        """
        if usage is None:
            self._calls, self._spent = self.max_calls or 0, self.budget_usd or 0.0
            return
        self._calls += usage.calls
        if usage.cost_usd is not None:
            self._spent += usage.cost_usd
        elif usage.calls and self.budget_usd is not None:
            self._spent = self.budget_usd

    def charge_stop(self) -> None:
        """Take note of a verification that was stopped: it broke calls off that were sent.

        They are paid for, but their cost is not reported. If they counted as nothing, an assistant
        could send any number of them.
        """
        self._calls += max(1, (self.max_calls or 0) // STOPPED_SHARE)
        self._spent += (self.budget_usd or 0.0) / STOPPED_SHARE

    def _left(self, left: float, what: str) -> float:
        if left <= 0 and (self.budget_usd or self.max_calls):
            raise InputError(
                f"This server has used up its {what}; its owner can start it again with "
                "a new one. What is stored can still be read."
            )
        return left


STOPPING_SECONDS = 120.0
"""How long a job that is stopped may take to end; after it, it counts as having used all."""


class Teller(Protocol):
    """Tells how far something is."""

    async def __call__(self, progress: float, total: float | None, message: str) -> None:
        """So much is done."""
        ...


async def followed(
    begin: Callable[[], Awaitable[AsyncJob]], allowance: Allowance, tell: Teller
) -> AsyncJob:
    """Begin a job, tell how far it is, and charge what it came to.

    A caller that stops waiting stops the job. Its cost until the end is charged then too,
    before anyone else may spend.

    Args:
        begin: Submits the job.
        allowance: What it is charged to.
        tell: Told after every iteration, sentence and turn.
    """
    with CancelScope(shield=True):  # else a job could begin unnoticed
        job = await begin()
    try:
        await _progress_of(job, tell)
    finally:
        was_over = job.is_over
        with CancelScope(shield=True):
            allowance.charge(await _came_to(job))
        if not was_over:
            allowance.charge_stop()
    return job


async def _progress_of(job: AsyncJob, tell: Teller) -> None:
    """Wait for a job and tell how far it is."""
    rounds = sentences = turns = 0
    async for event in job.events():
        if event.kind == "sentence.finished":
            sentences += 1
            await tell(sentences, None, f"{sentences} sentence(s) ended")
        if event.kind == "turn.finished":
            turns += 1
            await tell(turns, len(job.state.turn_ids) or None, f"{turns} turn(s) ended")
        if event.kind == "iteration.finished":
            rounds += 1
            verdict = event.data.get("interim_verdict") or Status.UNDECIDED
            await tell(rounds, None, f"iteration {rounds}: {verdict}")
    await job.wait()


async def _came_to(job: AsyncJob) -> Usage | None:
    """Say what a job came to, which is stopped where it is not over; None: that cannot be known."""
    try:
        async with asyncio.timeout(STOPPING_SECONDS):
            if not job.is_over:
                await job.cancel()
                await job.wait()
    except (VeriTrailError, TimeoutError):
        return None
    return job.usage
