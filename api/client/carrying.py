"""The base of all operations of a client: a call is carried out, in whatever way.

The operations themselves are in `operations`, `attributions`, `dialogues`,
`runs` and `teamwork`.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel

from veritrail_graph.api.app.changes import Changes
from veritrail_graph.api.client.answers import Event, JobState, Listed, Verification, read
from veritrail_graph.api.client.calls import AsyncPages, Call
from veritrail_graph.api.first_guesses import no_such

T = TypeVar("T")
A = TypeVar("A", bound=BaseModel)

PAGE = 100
"""Items in one answer of a list."""

_JOB = "/v1/jobs/{}"
SUBMITTED: Mapping[str, str] = {
    "verify": "/v1/verifications",
    "attribute": "/v1/attributions",
    "verify_dialogue": "/v1/dialogue-verifications",
}
"""Where each kind of job is submitted, by the operation that begins it."""


class CarriedOut(ABC):
    """Calls, pages and jobs, for every operation of a client."""

    async def begin_job(
        self, given: Mapping[str, Any], key: str | None, *, name: str = "verify"
    ) -> JobState:
        """Submit a request for a job under an idempotency key.

        Args:
            given: The fields of the request; None: the field is left out.
            key: The key; None: a new one, so that a submission whose answer is lost can be sent
                again.
            name: What is asked for: `verify`, `attribute` or `verify_dialogue`.
        """
        request = {field: value for field, value in given.items() if value is not None}
        process_id = request.get("process_id") or request["dialogue_id"]

        def begun(document: Any) -> JobState:  # the answer need not say more than its ids
            state = {"status": "queued", "process_id": process_id, **document}
            return read(JobState, state)

        headers = {"Idempotency-Key": key or f"client-{uuid.uuid4().hex}"}
        call = Call(name, "POST", SUBMITTED[name], (), {}, request, headers=headers)
        return await self.perform(call, begun)

    async def job_state(self, job_id: str) -> JobState:
        """The state of a job."""
        return await self._one(Call("job", "GET", _JOB, (job_id,)), JobState)

    async def job_changes(self, job_id: str) -> Changes:
        """Say what a job that was submitted with `since` kept, verified and changed until now."""
        return await self._one(Call("changes", "GET", f"{_JOB}/changes", (job_id,)), Changes)

    async def cancel_job(self, job_id: str) -> JobState:
        """Stop a job; what is finished stays."""
        return await self._one(
            Call("cancel", "POST", f"{_JOB}:cancel", (job_id,), {}, {}), JobState
        )

    async def resume_job(self, job_id: str, limits: Mapping[str, float | int]) -> JobState:
        """Go on with what a job has left: what was cancelled, failed or over budget.

        Args:
            job_id: The job.
            limits: `budget_usd` and `max_calls` in all from now on, where they change.
        """
        call = Call("resume", "POST", f"{_JOB}:resume", (job_id,), {}, limits)
        return await self._one(call, JobState)

    @abstractmethod
    async def perform(self, call: Call, read: Callable[[Any], T]) -> T:
        """Carry a call out.

        Args:
            call: The call.
            read: Makes the answer from its JSON.

        Raises:
            Problem: It is refused, or cannot be done.
        """

    @abstractmethod
    async def verification(self, verification_id: str) -> Verification:
        """A verification with its whole trail."""

    @abstractmethod
    def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        """The events of a job, from behind an event on until it is over."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close what is open."""

    if not TYPE_CHECKING:  # a checker is to find names that are not there

        def __getattr__(self, name: str) -> Any:
            """Say which call is meant, where a name that is none was tried."""
            raise no_such("client", f"{type(self).__name__!r} object", name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    async def _one(self, call: Call, answer: type[A]) -> A:
        return await self.perform(call, partial(read, answer))

    async def _all(self, call: Call, answer: type[A], key: str) -> Listed[A]:
        return await self.perform(
            call, lambda document: Listed(read(answer, one) for one in document[key])
        )

    def _pages(self, call: Call, answer: type[A], key: str | None = None) -> AsyncPages[A]:
        """A list by the page; its items stand under a key, by default its name, in the answer."""

        def found(document: Any) -> tuple[list[A], Any]:
            items = [read(answer, one) for one in document[key or call.name]]
            return items, document.get("nextCursor")

        async def page(cursor: Any) -> tuple[Sequence[A], Any]:
            query = {**call.query, "cursor": cursor}
            return await self.perform(replace(call, query=query), found)

        return AsyncPages(call.name, page)
