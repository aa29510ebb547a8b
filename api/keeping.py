"""Keeping what a run finishes, as long as there is an engine to keep it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from veritrail_graph.graph.errors import (
    EngineError,
    EngineUnavailable,
    InputError,
    ReadOnlyGraph,
    StoreFull,
)
from veritrail_graph.graph.model import Verification
from veritrail_graph.verifier.run import Write

KEPT_TOGETHER = 50
"""Verifications that are stored in one transaction, when so many wait for their turn."""

_Waiting = tuple[tuple[Verification, ...], "asyncio.Future[None]"]


class Keep:
    """Stores verifications until the engine is lost; then ends the run, which would be in vain.

    What is finished while others are being stored is stored together with what else waits then:
    most of a transaction's time goes into the transaction itself.

    Args:
        write: Stores verifications.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._loss: EngineError | None = None
        self._waiting: list[_Waiting] = []
        self._storing: asyncio.Task[None] | None = None
        self.on_loss: Callable[[], None] = lambda: None

    async def write(self, *verifications: Verification) -> None:
        """Store verifications.

        Raises:
            EngineError: The engine is lost, or failed with these.
            InputError: They cannot be stored any more; others that waited are.
        """
        if self._loss is not None:
            raise self._loss
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((verifications, stored))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_all())
        await stored

    async def _store_all(self) -> None:
        """Store what waits, until nothing does."""
        try:
            while self._waiting:
                group, count = 0, 0
                while group < len(self._waiting) and count < KEPT_TOGETHER:
                    count += len(self._waiting[group][0])
                    group += 1
                together, self._waiting = self._waiting[:group], self._waiting[group:]
                await self._store(together)
        finally:
            self._storing = None

    async def _store(self, together: list[_Waiting]) -> None:
        fault: Exception | None = self._loss
        if fault is None:
            try:
                await self._write(*(one for some, _ in together for one in some))
            except InputError as error:
                if len(together) > 1:  # one of them is at fault: the others are stored
                    for alone in together:
                        await self._store([alone])
                    return
                fault = error
            except (EngineUnavailable, ReadOnlyGraph, StoreFull) as error:
                self._loss = fault = error
                self.on_loss()
            except Exception as error:  # noqa: BLE001  # whoever waits is told
                fault = error
        for _, stored in together:
            if stored.done():  # whoever waited was cancelled
                continue
            if fault is None:
                stored.set_result(None)
            else:
                stored.set_exception(fault)
