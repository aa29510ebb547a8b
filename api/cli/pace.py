"""How fast long work goes, and how much time is left of it."""

from __future__ import annotations

import time

from veritrail_graph.api.cli.terminal import LongWork

_SETTLED = 2.0  # seconds; what is told before is chance


class Pace:
    """Turns what is done into progress with rate and time left.

    Args:
        work: Where progress is shown.
    """

    def __init__(self, work: LongWork) -> None:
        self._work = work
        self._began: dict[str, tuple[float, int]] = {}

    def update(self, what: str, done: int, total: int) -> None:
        """Say how much of something is done; a total of 0 is unknown."""
        now = time.monotonic()
        since, first = self._began.setdefault(what, (now, done))
        self._work.update(what, done, total, self._note(now - since, done - first, total - done))

    def _note(self, seconds: float, done: int, left: int) -> str:
        if seconds < _SETTLED or not done:
            return ""
        rate = done / seconds
        told = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
        if left <= 0 or self._work.has_bar:  # a bar tells the time that is left by itself
            return told
        return f"{told}, about {_span(left / rate)} left"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
