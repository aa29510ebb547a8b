"""A client of a service that answers from a table."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from veritrail_graph.api.client import AsyncOperations
from veritrail_graph.api.client.answers import Event
from veritrail_graph.api.client.calls import Call


class Answering(AsyncOperations):
    """A client whose service answers each call by its name."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.calls = answers, list[Call]()

    async def perform(self, call: Call, read: Callable[[Any], Any]) -> Any:
        self.calls.append(call)
        return read(self.answers[call.name])

    def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing is open."""
