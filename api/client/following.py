"""A job that is followed: its state as it was last asked for, and what may be asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from veritrail_graph.api.client.answers import (
    Event,
    JobState,
    Listed,
    Verification,
)
from veritrail_graph.api.first_guesses import no_such
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.job import JobExplanation

if TYPE_CHECKING:
    from veritrail_graph.api.app.changes import Changes
    from veritrail_graph.api.client.carrying import CarriedOut

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


class Following:
    """A job that is followed: its state as it was last asked for."""

    def __init__(self, state: JobState) -> None:
        self.state = state

    @property
    def job_id(self) -> str:
        """Its id, by which `client.job(…)` finds it again."""
        return self.state.job_id

    @property
    def status(self) -> str:
        """Return where it stood when it was last asked."""
        return self.state.status

    @property
    def is_over(self) -> bool:
        """Return whether nothing more happens unless it is resumed."""
        return self.state.is_over

    @property
    def run_id(self) -> str | None:
        """The run that what it makes belongs to; None: its state was not asked for yet."""
        return self.state.run_id

    @property
    def verification_ids(self) -> list[str]:
        """Its verifications."""
        return self.state.verification_ids

    @property
    def counts(self) -> dict[str, int]:
        """Its verifications, sentences or turns by status."""
        return self.state.counts

    @property
    def warnings(self) -> list[str]:
        """Return what a person should know of it, such as terminals that were left out."""
        return self.state.warnings

    @property
    def explanation(self) -> JobExplanation | None:
        """The explanation of its verdicts; None: none was asked for."""
        return self.state.explanation

    @property
    def usage(self) -> Usage:
        """Return what it cost until now."""
        return self.state.usage

    def __repr__(self) -> str:
        of = f"{len(self.verification_ids)} verification(s)"
        if self.state.kind == "attribution":
            of = f"sentences of {len(self.state.node_ids)} node(s)"
        elif self.state.kind == "dialogue":
            of = f"{len(self.state.turn_ids)} turn(s)"
        return f"<Job {self.job_id}: {self.status}, {of}>"

    def _repr_html_(self) -> str:
        return self.state._repr_html_()

    def __iter__(self) -> NoReturn:
        """Say what to iterate over.

        Raises:
            TypeError: Always.
        """
        raise TypeError("a job is no list: iterate over wait().verifications(), or over events()")

    if not TYPE_CHECKING:  # a checker is to find names that are not there

        def __getattr__(self, name: str) -> Any:
            """Say which call is meant, where a name that is none was tried."""
            raise no_such("job", f"{type(self).__name__!r} object", name)


def _pauses() -> Iterator[float]:
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * 1.5, _LONGEST_PAUSE)


class AsyncJob(Following):
    """A job of an asynchronous client."""

    def __init__(self, client: CarriedOut, state: JobState) -> None:
        super().__init__(state)
        self._client = client

    async def refresh(self) -> AsyncJob:
        """Ask for its state."""
        self.state = await self._client.job_state(self.job_id)
        return self

    async def wait(self, timeout: float | None = None) -> AsyncJob:  # noqa: ASYNC109
        """Wait until it is over.

        Args:
            timeout: Seconds; None: as long as it takes.

        Raises:
            TimeoutError: It is not over by then; it goes on.
        """
        async with asyncio.timeout(timeout):
            for pause in _pauses():
                if (await self.refresh()).is_over:
                    break
                await asyncio.sleep(pause)
        return self

    def events(self, after: str | None = None) -> AsyncIterator[Event]:
        """Yield what happens in it until it is over; a connection that is lost is taken up again.

        Args:
            after: The id of an event that was seen before; None: from the beginning.
        """
        return self._client.events(self.job_id, after)

    async def changes(self) -> Changes:
        """Return what it kept, verified and changed until now; it was submitted with `since`."""
        return await self._client.job_changes(self.job_id)

    async def cancel(self) -> AsyncJob:
        """Stop it; what is finished stays."""
        self.state = await self._client.cancel_job(self.job_id)
        return self

    async def resume(
        self, *, budget_usd: float | None = None, max_calls: int | None = None
    ) -> AsyncJob:
        """Go on with what it has left; limits that are given hold for all of it from now on."""
        both = (("budget_usd", budget_usd), ("max_calls", max_calls))
        given = {name: value for name, value in both if value is not None}
        self.state = await self._client.resume_job(self.job_id, given)
        return self

    async def verifications(self) -> Listed[Verification]:
        """Its verifications with their trails, in the order of its claims."""
        await self.refresh()
        return Listed([await self._client.verification(one) for one in self.verification_ids])
