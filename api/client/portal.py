"""A loop in a thread of its own: what lets the same asynchronous code serve plain calls.

A notebook has a loop running already, so plain calls cannot start one in their own thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    """Runs coroutines in another thread and waits for them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # A daemon: nobody has to close a client for the program to end.
        self._thread = threading.Thread(target=self._work, name="veritrail-client", daemon=True)
        self._thread.start()
        self._is_closing = False

    def _work(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; whoever interrupts the wait ends the work.

        Raises:
            RuntimeError: The portal was closed.
        """
        if self._is_closing:
            work.close()
            raise RuntimeError("this client was closed; make a new one")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # of no effect on work that has ended by itself
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """The items of an asynchronous iterator; it is closed when nobody asks for more."""

        async def following() -> tuple[T] | None:
            async for item in items:
                return (item,)
            return None

        try:
            while (found := self.run(following())) is not None:
                yield found[0]
        finally:
            close = getattr(items, "aclose", None)
            if close is not None and not self._is_closing:
                self.run(close())

    def close(self, last: Callable[[], Coroutine[Any, Any, None]], *, wait: bool = True) -> None:
        """End the thread after some last work; a second call does nothing.

        Args:
            last: What is done at the end.
            wait: Whether to wait for it. Whoever collects rubbish must not: it may be done in any
                thread, in this one too.
        """
        if self._is_closing:
            return
        self._is_closing = True
        with suppress(RuntimeError):  # the loop has ended
            ending = asyncio.run_coroutine_threadsafe(self._end(last), self._loop)
            if wait:
                try:
                    ending.result()
                finally:
                    self._thread.join()

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await last()
        finally:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self._loop.shutdown_asyncgens()
            await self._loop.shutdown_default_executor()
            self._loop.call_later(0, self._loop.stop)
