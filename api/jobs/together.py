"""Write together: values that come during a write go with the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

WRITTEN_TOGETHER = 200
"""Items of a batch, at most."""


class Together(Generic[Item, Result]):
    """Hands over what has come together, one batch at a time.

    Args:
        write: Writes a batch and gives a result for each item of it.
    """

    def __init__(self, write: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]) -> None:
        self._write = write
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def add(self, item: Item) -> Result:
        """Have an item written; gives what came of it, or raises what the batch failed with."""
        written: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        return await written

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[:WRITTEN_TOGETHER]
                self._waiting = self._waiting[WRITTEN_TOGETHER:]
                await self._write_some(batch)
        finally:
            self._writing = None

    async def _write_some(self, batch: Sequence[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._write([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001  # raised in every caller that waits
            for _, written in batch:
                if not written.done():
                    written.set_exception(error)
            return
        for (_, written), result in zip(batch, results, strict=True):
            if not written.done():
                written.set_result(result)
