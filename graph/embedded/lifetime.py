"""When the engine may stop: the leases, the pin and the idle clock. No process, no socket."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Lifetime:
    """Counts the commands that need the engine; safe to use from several threads."""

    def __init__(self, idle_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._idle_seconds = idle_seconds
        self._last_use = clock()
        self._ending = False
        self._hurried = False
        self.clients = 0
        self.pinned = False

    @contextmanager
    def lease(self, idle_seconds: float) -> Iterator[bool]:
        """Hold the engine; gives False when it is too late and it is stopping already.

        The latest command's idle time counts: it is the one that the user set last.
        """
        with self._lock:
            granted = not self._ending
            if granted:
                self.clients += 1
                self._idle_seconds = idle_seconds
        try:
            yield granted
        finally:
            if granted:
                with self._lock:
                    self.clients -= 1
                    self._last_use = self._clock()

    def touch(self) -> None:
        """Start the idle time anew: somebody without a lease uses the engine."""
        with self._lock:
            self._last_use = self._clock()

    def hurry(self) -> None:
        """End as soon as nobody holds it, pinned or not."""
        with self._lock:
            self._hurried = True

    def end(self) -> None:
        """Grant no lease any more."""
        with self._lock:
            self._ending = True

    def end_if_idle(self) -> bool:
        """End when the idle time is over; a lease asked for meanwhile is either held or refused."""
        with self._lock:
            left = self._seconds_left()
            self._ending = self._ending or (left is not None and left <= 0)
            return self._ending

    def seconds_left(self) -> float | None:
        """Return the idle time that is left, or None while the engine is in use or pinned."""
        with self._lock:
            return self._seconds_left()

    def _seconds_left(self) -> float | None:
        if self.clients:
            return None
        if self._hurried:
            return 0.0
        if self.pinned:
            return None
        return self._idle_seconds - (self._clock() - self._last_use)
