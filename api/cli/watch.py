"""Progress of a run: claims done, calls in the air, tokens, money, time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from veritrail_graph.api.cli.interrupt import on_ctrl_c
from veritrail_graph.api.cli.terminal import LongWork
from veritrail_graph.graph.model import Usage, Verification
from veritrail_graph.verifier.driver import Observer
from veritrail_graph.verifier.run import Run

if TYPE_CHECKING:
    from veritrail_graph.api.models import OpenModels


class Watch:
    """Turns what happens in a run into progress, and Ctrl-C into its end.

    Args:
        work: Where progress is shown.
        models: The models that are asked, if any.
    """

    def __init__(self, work: LongWork, models: OpenModels | None) -> None:
        self._work, self._models = work, models
        self._total = self._done = self._calls = self._cached = self._tokens = 0
        self._began = time.monotonic()
        self._was_interrupted: Callable[[], bool] = lambda: False
        self.observer = Observer(call_made=self._called, claim_finished=self._finished)

    @property
    def interrupted(self) -> bool:
        """Whether a person stopped the run."""
        return self._was_interrupted()

    def begins(self, run: Run, claims: int) -> None:
        """The run begins."""
        self._total = claims
        self._began = time.monotonic()
        self._was_interrupted = on_ctrl_c(run.stop)

    def _called(self, usage: Usage) -> None:
        self._calls += usage.calls
        self._cached += usage.cached_calls
        self._tokens += usage.input_tokens + usage.output_tokens
        self._show()

    def _finished(self, _verification: Verification) -> None:
        self._done += 1
        self._show()

    def _show(self) -> None:
        self._work.update("claims", self._done, self._total, ", ".join(self._notes()))

    def _notes(self) -> list[str]:
        """What to know besides; what matters most comes first, for narrow terminals."""
        left = self._seconds_left()
        notes = [f"about {_span(left)} left"] if left is not None and not self._work.has_bar else []
        if self._models is None:
            return notes
        if self._models.is_priced:
            notes.append(f"${self._models.spending.spent:,.4f}")
        notes += [f"{self._calls:,} calls", f"{self._models.spending.in_flight} in the air"]
        notes += [f"{_short(self._tokens)} tokens"]
        return notes + ([f"{self._cached:,} from cache"] if self._cached else [])

    def _seconds_left(self) -> float | None:
        if not 0 < self._done < self._total:
            return None
        spent = time.monotonic() - self._began
        return spent / self._done * (self._total - self._done)


def _short(number: int) -> str:
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1e3:,.0f}k" if number < 10_000_000 else f"{number / 1e6:,.0f}M"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
