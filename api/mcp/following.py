"""A verification from its beginning until it is paid for, also where nobody waits for it any more.

The protocol's library cancels a call again at every step that it takes. What has to be done in any
case, submitting and stopping, therefore stands in scopes that no cancelling reaches; both are
bounded in time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from anyio import CancelScope

from veritrail_graph.api.client.jobs import AsyncJob
from veritrail_graph.api.mcp.allowance import Allowance
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Usage

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

    Whoever stops waiting stops the job. What it came to until it ended is charged then too,
    before anyone else may spend.

    Args:
        begin: Submits the job.
        allowance: What it is charged to.
        tell: Told after every iteration.
    """
    with CancelScope(shield=True):  # else a job could begin that nobody knows of
        job = await begin()
    try:
        await _told(job, tell)
    finally:
        was_over = job.is_over
        with CancelScope(shield=True):
            allowance.charge(await _came_to(job))
        if not was_over:
            allowance.charge_stop()
    return job


async def _told(job: AsyncJob, tell: Teller) -> None:
    """Wait for a job and tell how far it is."""
    rounds = 0
    async for event in job.events():
        if event.kind == "iteration.finished":
            rounds += 1
            verdict = event.data.get("interim_verdict", "")
            await tell(rounds, None, f"iteration {rounds}: {verdict}")
    await job.wait()


async def _came_to(job: AsyncJob) -> Usage | None:
    """What a job came to, which is stopped where it is not over; None: that cannot be known."""
    try:
        async with asyncio.timeout(STOPPING_SECONDS):
            if not job.is_over:
                await job.cancel()
                await job.wait()
    except (VeriTrailError, TimeoutError):
        return None
    return job.usage
