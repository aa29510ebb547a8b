"""A connection to the graph for a long life: opened when first needed, and anew when lost."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import EngineUnavailable

if TYPE_CHECKING:
    from veritrail_graph.graph.store import Store


STARTING_SECONDS = 3.0
"""How long a request waits for an engine that is being opened."""


class GraphConnection:
    """Opens the graph once, whoever asks first; an engine that is down is tried again.

    Args:
        settings: Where the graph is.
        patience: Seconds for which whoever asks waits for an engine that is being opened; an
            engine that is down is then told at once, as whoever asks comes again. None: as long
            as the settings say.
    """

    def __init__(self, settings: Settings, patience: float | None = STARTING_SECONDS) -> None:
        self._settings = settings if patience is None else replace(settings, connect_seconds=0.0)
        self._patience = patience
        self._opening: asyncio.Task[Store] | None = None
        self._stack = AsyncExitStack()

    async def store(self) -> Store:
        """The graph; opening it goes on when whoever asked first has given up.

        Raises:
            EngineUnavailable: It cannot be reached now, or is still starting.
        """
        if self._opening is None or _has_failed(self._opening):
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        done, _ = await asyncio.wait([opening], timeout=self._patience)
        if not done:
            raise EngineUnavailable("The graph engine is still starting. Ask again in a moment.")
        return opening.result()

    async def _open(self) -> Store:
        from veritrail_graph.api.wiring import open_graph

        return await self._stack.enter_async_context(open_graph(self._settings))

    async def check(self) -> None:
        """Ask the graph something.

        Raises:
            EngineError: It does not answer.
        """
        store = await self.store()
        await store.processes.page(limit=1)

    async def lost(self) -> None:
        """Open the graph anew when it is next needed: the embedded engine may listen elsewhere."""
        if self._opening is None or not self._opening.done():
            return
        stack, self._stack, self._opening = self._stack, AsyncExitStack(), None
        with suppress(Exception):  # what is lost need not close well
            await stack.aclose()

    async def close(self) -> None:
        """Close the connection."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
            _has_failed(self._opening)
        await self._stack.aclose()


def _has_failed(opening: asyncio.Task[Store]) -> bool:
    """Whether opening ended without a graph; a fault that nobody waited for is so looked at."""
    return opening.done() and (opening.cancelled() or opening.exception() is not None)
