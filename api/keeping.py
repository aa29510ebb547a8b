"""Keeping what a run finishes, as long as there is an engine to keep it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from graph.errors import EngineError, EngineUnavailable, StoreFull
from graph.model import Verification


class Keep:
    """Stores verifications until the engine is lost; then ends the run, which would be in vain.

    Args:
        write: Stores a verification.
    """

    def __init__(self, write: Callable[[Verification], Awaitable[None]]) -> None:
        self._write = write
        self._loss: EngineError | None = None
        self.on_loss: Callable[[], None] = lambda: None

    async def write(self, verification: Verification) -> None:
        """Store a verification.

        Raises:
            EngineError: The engine is lost, or failed with this one.
        """
        if self._loss is not None:
            raise self._loss
        try:
            await self._write(verification)
        except (EngineUnavailable, StoreFull) as error:
            self._loss = error
            self.on_loss()
            raise
