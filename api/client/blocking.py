"""Plain clients: the same operations, carried out in another thread, which the caller waits for.

A notebook has an event loop running already, so plain calls cannot start one in their own thread.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import wraps
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import anyio
from anyio.from_thread import BlockingPortal

from veritrail_graph.api.app.changes import Changes
from veritrail_graph.api.client.answers import Event, Listed, Verification
from veritrail_graph.api.client.calls import AsyncPages
from veritrail_graph.api.client.following import AsyncJob, Following
from veritrail_graph.api.client.operations import AsyncOperations
from veritrail_graph.api.first_guesses import no_such

if TYPE_CHECKING:
    from pandas import DataFrame

P = ParamSpec("P")
T = TypeVar("T")

SHOWN = 20
"""Items of a list that a notebook shows."""


class Portal:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        started: Future[BlockingPortal] = Future()
        # A daemon: the program can end without closing its clients.
        self._thread = Thread(
            target=anyio.run, args=(_serve, started), name="veritrail-client", daemon=True
        )
        self._thread.start()
        self._portal = started.result()
        self._is_closed = False

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run something to its end; interrupting the wait ends the work.

        Raises:
            RuntimeError: The portal was closed.
        """
        if self._is_closed:
            raise RuntimeError("this client was closed; make a new one")
        future = self._portal.start_task_soon(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # of no effect on work that has ended
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """The items of an asynchronous iterator, which is closed when the caller stops."""

        async def following() -> tuple[T] | None:
            async for item in items:
                return (item,)
            return None

        try:
            while (found := self.run(following)) is not None:
                yield found[0]
        finally:
            close = getattr(items, "aclose", None)
            if close is not None and not self._is_closed:
                self.run(close)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]], *, wait: bool = True) -> None:
        """End the thread after some last work; a second call does nothing.

        Args:
            last: What is done at the end.
            wait: Whether to wait for it. The garbage collector must not: it may run in any
                thread, in this one too.
        """
        if self._is_closed:
            return
        self._is_closed = True

        async def end() -> None:
            try:
                await last()
            finally:
                await self._portal.stop(cancel_remaining=True)

        with suppress(RuntimeError):  # the loop has ended
            future = self._portal.start_task_soon(end)
            if wait:
                try:
                    future.result()
                finally:
                    self._thread.join()


async def _serve(started: Future[BlockingPortal]) -> None:
    async with BlockingPortal() as portal:
        started.set_result(portal)
        await portal.sleep_until_stopped()


class Job(Following):
    """A job of a plain client."""

    def __init__(self, portal: Portal, job: AsyncJob) -> None:
        super().__init__(job.state)
        self._portal = portal
        self._job = job

    def refresh(self) -> Job:
        """Ask for its state."""
        return self._now(self._job.refresh)

    def wait(self, timeout: float | None = None) -> Job:
        """Wait until it is over.

        Args:
            timeout: Seconds; None: as long as it takes.

        Raises:
            TimeoutError: It is not over by then; it goes on.
        """
        return self._now(lambda: self._job.wait(timeout))

    def events(self, after: str | None = None) -> Iterator[Event]:
        """Yield what happens in it until it is over; a connection that is lost is taken up again.

        Args:
            after: The id of an event that was seen before; None: from the beginning.
        """
        return self._portal.iterate(self._job.events(after))

    def changes(self) -> Changes:
        """Return what it kept, verified and changed until now; it was submitted with `since`."""
        return self._portal.run(self._job.changes)

    def cancel(self) -> Job:
        """Stop it; what is finished stays."""
        return self._now(self._job.cancel)

    def resume(self, *, budget_usd: float | None = None, max_calls: int | None = None) -> Job:
        """Go on with what it has left; limits that are given hold for all of it from now on."""
        return self._now(lambda: self._job.resume(budget_usd=budget_usd, max_calls=max_calls))

    def verifications(self) -> Listed[Verification]:
        """Its verifications with their trails, in the order of its claims."""
        found = self._portal.run(self._job.verifications)
        self.state = self._job.state
        return found

    def _now(self, work: Callable[[], Awaitable[AsyncJob]]) -> Job:
        try:
            self._portal.run(work)
        finally:
            self.state = self._job.state
        return self


class Pages(Generic[T]):
    """A list that is read by the page as it is iterated over; each time anew."""

    def __init__(self, portal: Portal, pages: AsyncPages[T]) -> None:
        self._portal = portal
        self._pages = pages

    def __iter__(self) -> Iterator[T]:
        return self._portal.iterate(aiter(self._pages))

    def all(self) -> Listed[T]:
        """Everything, as a list."""
        return self._portal.run(self._pages.all)

    def to_pandas(self) -> DataFrame:
        """A row an item, a column a field; pandas must be there."""
        return self._portal.run(self._pages.to_pandas)

    def __repr__(self) -> str:
        return f"<{self._pages.name}: iterate, or .all()>"

    def _repr_html_(self) -> str:
        shown = Listed(islice(self, SHOWN + 1))
        more = "<div>… and more: .all() reads them</div>" if len(shown) > SHOWN else ""
        return Listed(shown[:SHOWN])._repr_html_() + more


class _Plain(Generic[P, T]):
    """A plain method made from the asynchronous one of the same name."""

    def __init__(self, described: Callable[Concatenate[Any, P], Any]) -> None:
        self._described = described
        self.__doc__ = described.__doc__
        self.__wrapped__ = described

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, T]: ...
    def __get__(self, client: Blocking | None, owner: type) -> Any:
        if client is None:
            return self
        portal, work = client.portal, getattr(client.client, self._described.__name__)

        @wraps(work)
        def method(*args: Any, **kwargs: Any) -> Any:
            return self._call(portal, lambda: work(*args, **kwargs))

        return method

    def _call(self, portal: Portal, work: Callable[[], Any]) -> Any:
        return portal.run(work)


class _PlainPages(_Plain[P, T]):
    """A plain method that gives a list by the page."""

    def _call(self, portal: Portal, work: Callable[[], Any]) -> Any:
        return Pages(portal, work())


class _PlainJob(_Plain[P, T]):
    """A plain method that gives a job to follow."""

    def _call(self, portal: Portal, work: Callable[[], Any]) -> Any:
        return Job(portal, portal.run(work))


def _plain(described: Callable[Concatenate[Any, P], Awaitable[T]]) -> _Plain[P, T]:
    return _Plain(described)


def _pages(described: Callable[Concatenate[Any, P], AsyncPages[T]]) -> _PlainPages[P, Pages[T]]:
    return _PlainPages(described)


def _job(
    described: Callable[Concatenate[AsyncOperations, P], Awaitable[AsyncJob]],
) -> _PlainJob[P, Job]:
    return _PlainJob(described)


class Blocking:
    """The operations for plain callers, who wait.

    Args:
        client: The asynchronous client that carries them out.
    """

    health = _plain(AsyncOperations.health)
    ready = _plain(AsyncOperations.ready)
    ingest = _plain(AsyncOperations.ingest)
    ingest_all = _plain(AsyncOperations.ingest_all)
    check = _plain(AsyncOperations.check)
    findings = _plain(AsyncOperations.findings)
    show = _plain(AsyncOperations.show)
    processes = _pages(AsyncOperations.processes)
    process = _plain(AsyncOperations.process)
    delete = _plain(AsyncOperations.delete)
    nodes = _pages(AsyncOperations.nodes)
    nodes_by_id = _plain(AsyncOperations.nodes_by_id)
    lineage = _plain(AsyncOperations.lineage)
    stages = _plain(AsyncOperations.stages)
    claims = _pages(AsyncOperations.claims)
    claim = _plain(AsyncOperations.claim)
    add_claims = _plain(AsyncOperations.add_claims)
    edit_claim = _plain(AsyncOperations.edit_claim)
    delete_claim = _plain(AsyncOperations.delete_claim)
    merge_claims = _plain(AsyncOperations.merge_claims)
    label_claims = _plain(AsyncOperations.label_claims)
    import_reviews = _plain(AsyncOperations.import_reviews)
    search = _pages(AsyncOperations.search)
    review = _plain(AsyncOperations.review)
    reviews = _pages(AsyncOperations.reviews)
    agreement = _plain(AsyncOperations.agreement)
    pin = _plain(AsyncOperations.pin)
    runs = _plain(AsyncOperations.runs)
    compare_runs = _plain(AsyncOperations.compare_runs)
    projects = _plain(AsyncOperations.projects)
    tag = _plain(AsyncOperations.tag)
    trend = _plain(AsyncOperations.trend)
    comments = _plain(AsyncOperations.comments)
    comment = _plain(AsyncOperations.comment)
    review_rounds = _plain(AsyncOperations.review_rounds)
    begin_round = _plain(AsyncOperations.begin_round)
    decide = _plain(AsyncOperations.decide)
    share = _plain(AsyncOperations.share)
    shares = _plain(AsyncOperations.shares)
    end_share = _plain(AsyncOperations.end_share)
    verify = _job(AsyncOperations.verify)
    attribute = _job(AsyncOperations.attribute)
    attributions = _pages(AsyncOperations.attributions)
    attributed_nodes = _pages(AsyncOperations.attributed_nodes)
    verify_dialogue = _job(AsyncOperations.verify_dialogue)
    dialogue = _plain(AsyncOperations.dialogue)
    verified_turns = _pages(AsyncOperations.verified_turns)
    dialogue_runs = _plain(AsyncOperations.dialogue_runs)
    turns = _pages(AsyncOperations.turns)
    job = _job(AsyncOperations.job)
    jobs = _pages(AsyncOperations.jobs)
    verifications = _pages(AsyncOperations.verifications)
    verification = _plain(AsyncOperations.verification)
    provenance = _plain(AsyncOperations.provenance)
    error = _plain(AsyncOperations.error)
    diff = _plain(AsyncOperations.diff)
    compare_versions = _plain(AsyncOperations.compare_versions)
    queries = _plain(AsyncOperations.queries)
    query = _plain(AsyncOperations.query)

    def __init__(self, client: AsyncOperations) -> None:
        self.client = client
        self.portal = Portal()
        # No method of this object, which would then never be collected. When the program ends
        # the connections end with it.
        end = weakref.finalize(self, self.portal.close, client.aclose, wait=False)
        end.atexit = False

    def close(self) -> None:
        """Close what is open; the client cannot be used after it."""
        self.portal.close(self.client.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self.client).replace("Async", "", 1)

    if not TYPE_CHECKING:  # a checker is to find names that are not there

        def __getattr__(self, name: str) -> Any:
            """Say which call is meant, where a name that is none was tried."""
            raise no_such("client", f"{type(self).__name__!r} object", name)
