"""The calls that wait for a slot, in the order in which they get one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A call that waits.

    Attributes:
        slot: Set when it gets its slot.
        tokens: Tokens of its prompt.
        owner: Who may dismiss it.
        party: On whose behalf it is made.
    """

    slot: asyncio.Future[None]
    tokens: int
    owner: object
    party: Hashable


class Turns:
    """Calls in the order in which they came; several parties take turns.

    Calls that try again go before all others: what they have waited for already is not to be lost.
    """

    def __init__(self) -> None:
        self._again: deque[Turn] = deque()
        self._parties: dict[Hashable, deque[Turn]] = {}

    def __bool__(self) -> bool:
        return bool(self._again or self._parties)

    def __iter__(self) -> Iterator[Turn]:
        yield from self._again
        for waiting in self._parties.values():
            yield from waiting

    def add(self, turn: Turn, *, again: bool) -> None:
        """Let a call wait, in front of all others where it tries again."""
        if again:
            self._again.appendleft(turn)
        else:
            self._parties.setdefault(turn.party, deque()).append(turn)

    @property
    def first(self) -> Turn:
        """The call whose turn it is; there is one."""
        return self._again[0] if self._again else next(iter(self._parties.values()))[0]

    def next(self) -> Turn:
        """Take the call whose turn it is; its party comes after all others then."""
        if self._again:
            return self._again.popleft()
        party, waiting = next(iter(self._parties.items()))
        del self._parties[party]
        turn = waiting.popleft()
        if waiting:
            self._parties[party] = waiting
        return turn

    def drop(self, turn: Turn) -> bool:
        """Take a call away, wherever it waits; the answer says whether it did."""
        if turn in self._again:
            self._again.remove(turn)
            return True
        waiting = self._parties.get(turn.party, deque())
        if turn not in waiting:
            return False
        waiting.remove(turn)
        if not waiting:
            del self._parties[turn.party]
        return True
