"""How much of ours an endpoint takes at a time, learned from what it refuses.

Endpoints limit the tokens of all batches that are on their way, and say how many only in words. A
refusal halves what goes out at a time; every batch that was taken lets it grow by an eighth. While
something of ours is on its way, the rest waits for it. Where nothing is and even one line is
refused, others use the limit up, or the endpoint counts what has ended: then only time helps.

Source: ADR 0038.
"""

from __future__ import annotations

import random

LONGEST_REST = 3_600.0
"""Seconds between two tries of one line, at most."""


class Room:
    """The room that one model of one endpoint has for lines of ours.

    Args:
        rest: Seconds from the first refusal of one line alone to its next try; each is twice as
            long as the one before it.
        patience: Seconds in which not even one line is taken until it is given up.

    Attributes:
        epoch: How often it was cut; batches that went out before a cut say nothing new.
    """

    def __init__(self, rest: float, patience: float) -> None:
        self.epoch = 0
        self._first_rest, self._patience = rest, patience
        self._most: int | None = None
        self._is_short = False
        self._doubles = False
        self._rest = 0.0
        self._rests_until = 0.0
        self._full_since: float | None = None

    def resting(self, now: float) -> float:
        """Seconds until something may go out."""
        return max(0.0, self._rests_until - now)

    def free(self, wanted: int, on_their_way: int) -> int:
        """How many of some lines may go out; one where none is on its way."""
        if self._most is None:
            return wanted
        found = max(0 if on_their_way else 1, min(wanted, self._most - on_their_way))
        self._is_short = self._is_short or found < wanted
        return found

    def refused(self, lines: int, others: int, epoch: int, now: float) -> bool:
        """A batch was refused because too much is on its way; False: it is given up.

        Args:
            lines: Its lines.
            others: Lines of other batches that are on their way.
            epoch: `epoch` when it went out.
            now: The time.
        """
        if lines > 1 or others:
            if epoch == self.epoch:
                self.epoch += 1
                self._most = max(1, (lines + others) // 2)
                self._doubles = False
            return True
        self._most, self._doubles = 1, True  # what was refused before says nothing of later
        if self._full_since is None:
            self._full_since = now
        self._rest = min(2 * self._rest or self._first_rest, LONGEST_REST)
        self._rests_until = now + random.uniform(self._rest / 2, self._rest)  # noqa: S311
        return now - self._full_since < self._patience

    def taken(self) -> None:
        """A batch was taken, and has ended."""
        self._rest, self._rests_until, self._full_since = 0.0, 0.0, None
        if self._most is not None and self._is_short:
            self._is_short = False
            self._most += self._most if self._doubles else max(1, self._most // 8)
