"""Keeping what a run finishes, as long as there is an engine to keep it."""

from __future__ import annotations

from collections.abc import Callable

from graph.errors import EngineError, EngineUnavailable, StoreFull
from graph.model import Verification
from verifier.run import Write


class Keep:
    """Stores verifications until the engine is lost; then ends the run, which would be in vain.

    Args:
        write: Stores verifications.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._loss: EngineError | None = None
        self.on_loss: Callable[[], None] = lambda: None

    async def write(self, *verifications: Verification) -> None:
        """Store verifications.

        Raises:
            EngineError: The engine is lost, or failed with these.
        """
        if self._loss is not None:
            raise self._loss
        try:
            await self._write(*verifications)
        except (EngineUnavailable, StoreFull) as error:
            self._loss = error
            self.on_loss()
            raise
