"""The stay of a caller whose answer takes long: until the service ends, or the key is void."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import EngineUnavailable

if TYPE_CHECKING:
    from fastapi import FastAPI

    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.api.auth.key_cache import KeyCache

KEY_SECONDS = 3.0
"""How often it is asked whether the key of a caller still opens."""


class Stay:
    """The stay of a caller whose answer takes long.

    Args:
        app: The service.
        caller: Who came in.
    """

    def __init__(self, app: FastAPI, caller: Caller) -> None:
        self._closing: asyncio.Event = app.state.closing
        self._ring: KeyCache = app.state.ring
        self._caller = caller

    async def ends(self) -> None:
        """Wait until the caller has to leave."""
        while not self._closing.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(KEY_SECONDS):
                    await self._closing.wait()
            with suppress(EngineUnavailable):  # not known now
                if not await self._ring.still(self._caller):
                    return
