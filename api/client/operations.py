"""The operations that every client offers: plain or asynchronous, over REST or in process.

An operation is described once, by a function of `api.client.calls`; here it becomes a method that
performs the call, and waits or is awaited as its client does.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from itertools import islice
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from veritrail_graph.api.client import calls, trail_calls
from veritrail_graph.api.client.answers import Listed, Page
from veritrail_graph.api.client.call import Call
from veritrail_graph.api.client.jobs import AsyncJob, Job
from veritrail_graph.api.client.portal import Portal
from veritrail_graph.api.client.trails import Event, JobState

P = ParamSpec("P")
T = TypeVar("T")

SHOWN = 20
"""Items of a list that a notebook shows."""


class AsyncDoor(ABC):
    """A way in: performs calls."""

    @abstractmethod
    async def perform(self, call: Call[T]) -> T:
        """Perform a call.

        Raises:
            Problem: It was refused, or could not be done.
        """

    @abstractmethod
    def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        """What happens in a job, from behind an event on until it is over."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close what is open."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class Door:
    """The same way in for plain callers, who wait.

    Attributes:
        door: The way in.
        portal: Where it is used.
    """

    def __init__(self, door: AsyncDoor) -> None:
        self.door = door
        self.portal = Portal()
        # Not methods of this object, which would then never be collected. When the program ends
        # the connections end with it.
        end = weakref.finalize(self, self.portal.close, door.aclose, wait=False)
        end.atexit = False

    def perform(self, call: Call[T]) -> T:
        """Perform a call.

        Raises:
            Problem: It was refused, or could not be done.
        """
        return self.portal.run(self.door.perform(call))

    def close(self) -> None:
        """Close what is open; the client cannot be used after it."""
        self.portal.close(self.door.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self.door).replace("Async", "", 1)


class Pages(Generic[T]):
    """A list that is read by the page as it is iterated over; each time anew."""

    def __init__(self, door: Door, call: Call[Page[T]]) -> None:
        self._door = door
        self._call = call

    def __iter__(self) -> Iterator[T]:
        call: Call[Page[T]] | None = self._call
        while call is not None:
            found = self._door.perform(call)
            yield from found.items
            call = call.behind(found.next_cursor) if found.next_cursor else None

    def all(self) -> Listed[T]:
        """Everything, as a list."""
        return Listed(self)

    def __repr__(self) -> str:
        return f"<{self._call.name}: iterate, or .all()>"

    def _repr_html_(self) -> str:
        shown = Listed(islice(self, SHOWN + 1))
        more = "<div>… and more: .all() reads them</div>" if len(shown) > SHOWN else ""
        return Listed(shown[:SHOWN])._repr_html_() + more


class AsyncPages(Generic[T]):
    """A list that is read by the page as it is iterated over; each time anew."""

    def __init__(self, door: AsyncDoor, call: Call[Page[T]]) -> None:
        self._door = door
        self._call = call

    async def __aiter__(self) -> AsyncIterator[T]:
        call: Call[Page[T]] | None = self._call
        while call is not None:
            found = await self._door.perform(call)
            for item in found.items:
                yield item
            call = call.behind(found.next_cursor) if found.next_cursor else None

    async def all(self) -> Listed[T]:
        """Everything, as a list."""
        return Listed([item async for item in self])

    def __repr__(self) -> str:
        return f"<{self._call.name}: iterate with `async for`, or await .all()>"


class Operation(Generic[P, T]):
    """A method made from a description of a call."""

    def __init__(self, describe: Callable[P, Call[T]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__
        self.__wrapped__ = describe

    @overload
    def __get__(self, door: None, owner: type) -> Self: ...
    @overload
    def __get__(self, door: AsyncDoor, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, door: Door, owner: type) -> Callable[P, T]: ...
    def __get__(self, door: AsyncDoor | Door | None, owner: type) -> Any:
        if door is None:
            return self

        @wraps(self._describe)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return door.perform(self._describe(*args, **kwargs))

        return method


class Listing(Generic[P, T]):
    """A method that gives a list by the page."""

    def __init__(self, describe: Callable[P, Call[Page[T]]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__
        self.__wrapped__ = describe

    @overload
    def __get__(self, door: None, owner: type) -> Self: ...
    @overload
    def __get__(self, door: AsyncDoor, owner: type) -> Callable[P, AsyncPages[T]]: ...
    @overload
    def __get__(self, door: Door, owner: type) -> Callable[P, Pages[T]]: ...
    def __get__(self, door: AsyncDoor | Door | None, owner: type) -> Any:
        if door is None:
            return self

        @wraps(self._describe)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            call = self._describe(*args, **kwargs)
            return Pages(door, call) if isinstance(door, Door) else AsyncPages(door, call)

        return method


class Starting(Generic[P]):
    """A method that gives a job to follow."""

    def __init__(self, describe: Callable[P, Call[JobState]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__
        self.__wrapped__ = describe

    @overload
    def __get__(self, door: None, owner: type) -> Self: ...
    @overload
    def __get__(
        self, door: AsyncDoor, owner: type
    ) -> Callable[P, Coroutine[Any, Any, AsyncJob]]: ...
    @overload
    def __get__(self, door: Door, owner: type) -> Callable[P, Job]: ...
    def __get__(self, door: AsyncDoor | Door | None, owner: type) -> Any:
        if door is None:
            return self

        async def awaited(door: AsyncDoor, call: Call[JobState]) -> AsyncJob:
            return AsyncJob(door, await door.perform(call))

        @wraps(self._describe)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            call = self._describe(*args, **kwargs)
            if isinstance(door, Door):
                return Job(door.portal, door.portal.run(awaited(door.door, call)))
            return awaited(door, call)

        return method


class Operations:
    """Everything that can be asked, the same in every client."""

    health = Operation(calls.health)
    ready = Operation(calls.ready)
    ingest = Operation(calls.ingest)
    processes = Listing(calls.processes)
    process = Operation(calls.process)
    delete = Operation(calls.delete)
    nodes = Listing(calls.nodes)
    nodes_by_id = Operation(calls.nodes_by_id)
    lineage = Operation(calls.lineage)
    stages = Operation(calls.stages)
    claims = Listing(calls.claims)
    claim = Operation(calls.claim)
    add_claims = Operation(calls.add_claims)
    edit_claim = Operation(calls.edit_claim)
    delete_claim = Operation(calls.delete_claim)
    review = Operation(calls.review)
    reviews = Listing(calls.reviews)
    agreement = Operation(calls.agreement)
    verify = Starting(trail_calls.verify)
    job = Starting(trail_calls.job)
    jobs = Listing(trail_calls.jobs)
    verifications = Listing(trail_calls.verifications)
    verification = Operation(trail_calls.verification)
    provenance = Operation(trail_calls.provenance)
    error = Operation(trail_calls.error)
    diff = Operation(trail_calls.diff)
    queries = Operation(calls.queries)
    query = Operation(calls.query)
