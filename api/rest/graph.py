"""The one connection of the service to its graph, opened when it is first needed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from api.settings import Settings

if TYPE_CHECKING:
    from graph.store import Store


class GraphConnection:
    """Opens the graph once, whoever asks first; an engine that is down is tried again.

    Args:
        settings: Where the graph is.
    """

    def __init__(self, settings: Settings) -> None:
        # A request is told at once that the engine is down; whoever asks comes again.
        self._settings = replace(settings, connect_seconds=0.0)
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._store: Store | None = None

    async def store(self) -> Store:
        """The graph.

        Raises:
            EngineUnavailable: It cannot be reached now.
        """
        from api.wiring import open_graph

        async with self._opening:
            if self._store is None:
                self._store = await self._stack.enter_async_context(open_graph(self._settings))
            return self._store

    async def check(self) -> None:
        """Ask the graph something.

        Raises:
            EngineError: It does not answer.
        """
        store = await self.store()
        await store.processes.page(limit=1)

    async def lost(self) -> None:
        """Open the graph anew when it is next needed: the embedded engine may listen elsewhere."""
        async with self._opening:
            stack, self._stack, self._store = self._stack, AsyncExitStack(), None
        with suppress(Exception):  # what is lost need not close well
            await stack.aclose()

    async def close(self) -> None:
        """Close the connection."""
        await self._stack.aclose()
