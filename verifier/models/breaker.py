"""Knows when an endpoint answers nobody, so that a run against it comes to its end.

Closed, open, resting: calls are tried until their deadline; then once each; then one of them
in a while, and the others fail at once. Any answer closes it again.
"""

from __future__ import annotations

from veritrail_graph.verifier.models.port import ModelError

FRUITLESS = 16  # calls of one attempt in a row; after those it rests


class Breaker:
    """Counts what failed since the last answer.

    Attributes:
        is_open: Whether calls get one attempt each.
    """

    def __init__(self, give_up_after: int, deadline: float, rest: float) -> None:
        """Begin closed.

        Args:
            give_up_after: Calls in a row that run into their deadline until it opens.
            deadline: Seconds that it is open, at most, before it rests.
            rest: Seconds between two calls that are tried while it rests.
        """
        self._give_up_after = give_up_after
        self._deadline = deadline
        self._rest = rest
        self.answered()

    def answered(self) -> None:
        """The endpoint is there."""
        self.is_open = False
        self._given_up = 0
        self._fruitless = 0
        self._opened_at = 0.0
        self._next_at: float | None = None
        self._last = ""

    def given_up(self, now: float) -> bool:
        """A call ran into its deadline; the answer says whether this opens it."""
        self._given_up += 1
        if self.is_open or self._given_up < self._give_up_after:
            return False
        self.is_open, self._opened_at = True, now
        return True

    def failed(self, now: float, fault: str) -> bool:
        """The one attempt of a call failed; the answer says whether it rests now."""
        self._fruitless += 1
        is_long = now - self._opened_at >= self._deadline
        if self._fruitless < (self._give_up_after if is_long else FRUITLESS):
            return False
        self._next_at, self._last = now + self._rest, fault
        return True

    def check(self, now: float) -> None:
        """See whether a call may be tried.

        Raises:
            ModelError: It rests.
        """
        if self._next_at is not None and now < self._next_at:
            raise self.not_tried()

    def begin(self, now: float) -> None:
        """A call is about to be tried: while it rests, the only one for now.

        Raises:
            ModelError: Another is.
        """
        self.check(now)
        if self._next_at is not None:
            self._next_at = now + self._rest

    def not_tried(self) -> ModelError:
        """What the calls are told that are not tried."""
        return ModelError(f"not tried: the endpoint has not answered for long; last: {self._last}")
