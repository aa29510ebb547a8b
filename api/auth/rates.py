"""How often somebody may ask: buckets that fill with time, in this process alone."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable


class Rates:
    """One bucket for each name: it holds a minute's worth and fills evenly.

    Args:
        most: Names that are kept apart; whoever was away longest is forgotten first.
        clock: Seconds, never going back.
    """

    def __init__(self, most: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, per_minute: int) -> int | None:
        """Take one; None: there was one, else the seconds until there is one again."""
        left = self._left(name, per_minute)
        if left < 1.0:
            return self._seconds(left, per_minute)
        self._buckets[name] = (left - 1.0, self._clock())
        self._buckets.move_to_end(name)
        while len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return None

    def wait(self, name: str, per_minute: int) -> int | None:
        """The seconds until there is one, without taking any; None: there is one now."""
        left = self._left(name, per_minute)
        return None if left >= 1.0 else self._seconds(left, per_minute)

    def _left(self, name: str, per_minute: int) -> float:
        if name not in self._buckets:
            return float(per_minute)
        left, at = self._buckets[name]
        return min(float(per_minute), left + (self._clock() - at) * per_minute / 60.0)

    @staticmethod
    def _seconds(left: float, per_minute: int) -> int:
        return max(1, math.ceil((1.0 - left) * 60.0 / per_minute - 1e-6))
