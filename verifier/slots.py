"""How many claims are on their way at a time, as far as that changes while a run goes on."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType

FIRST_UNDER_A_LIMIT = 4
"""Claims that begin before it is known what a claim takes, where the run is limited."""


class Slots:
    """Lets claims begin in their order, as many at a time as `most` says.

    Args:
        most: Told how many claims have ended; says how many may be on their way. At least one is.
    """

    def __init__(self, most: Callable[[int], int]) -> None:
        self._most = most
        self._taken = self._ended = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        """Wait for a slot."""
        if not self._waiting and self._taken < self._limit():
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given a slot at this moment
                self._taken -= 1
                self._let_in()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the slot back."""
        self._taken -= 1
        self._ended += 1
        self._let_in()

    def _limit(self) -> int:
        return max(1, self._most(self._ended))

    def _let_in(self) -> None:
        while self._waiting and (self._waiting[0].done() or self._taken < self._limit()):
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)


def within(left: float, spent: float, ended: int, most: int) -> int:
    """How many claims may be on their way so that those that begin can be finished.

    Args:
        left: What the run may still spend, in dollars or in calls.
        spent: What it has spent.
        ended: How many claims that paid for.
        most: No more than so many.
    """
    if ended == 0 or spent <= 0:
        return min(FIRST_UNDER_A_LIMIT, most)
    return max(1, min(most, int(left * ended / spent)))
