"""Show long work in the terminal: progress, money, time that is left.

Source: ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from veritrail_graph.api.cli.exits import on_ctrl_c
from veritrail_graph.api.cli.terminal import LongWork, span_words
from veritrail_graph.graph.model import Usage, Verification
from veritrail_graph.verifier.driver import Observer

if TYPE_CHECKING:
    from veritrail_graph.api.app.jobs import BatchRecord
    from veritrail_graph.api.configured.judge import ConfiguredJudge
    from veritrail_graph.api.configured.models import OpenModels


class Watched(Protocol):
    """A run that can be watched."""

    judge: ConfiguredJudge | None

    def cancel(self) -> None:
        """End it."""
        ...


class Watch:
    """Turns what happens in a run into progress, and Ctrl-C into its end.

    Args:
        work: Where progress is shown.
        what: What is verified, as a plural.
    """

    def __init__(self, work: LongWork, what: str = "claims") -> None:
        self._work, self._what = work, what
        self._models: OpenModels | None = None
        self._total = self._done = self._calls = self._cached = self._tokens = 0
        self._began = time.monotonic()
        self._batches: tuple[BatchRecord, ...] = ()
        self._was_interrupted: Callable[[], bool] = lambda: False
        self.observer = Observer(call_made=self._called, claim_finished=self._finished)

    @property
    def interrupted(self) -> bool:
        """Return whether a person stopped the run."""
        return self._was_interrupted()

    def begins(self, run: Watched, claims: int) -> None:
        """The run begins."""
        self._models = run.judge.models if run.judge is not None else None
        self._total = claims
        self._began = time.monotonic()
        self._was_interrupted = on_ctrl_c(run.cancel)

    def batches(self, batches: Sequence[BatchRecord]) -> None:
        """The run waits for these batches."""
        self._batches = tuple(batches)
        self._show()

    def _called(self, usage: Usage) -> None:
        self._calls += usage.calls
        self._cached += usage.cached_calls
        self._tokens += usage.input_tokens + usage.output_tokens
        self._show()

    def _finished(self, _verification: Verification) -> None:
        self._done += 1
        self._show()

    def _show(self) -> None:
        self._work.update(self._what, self._done, self._total, ", ".join(self._notes()))

    def _notes(self) -> list[str]:
        """Return what to know besides; what matters most comes first, for narrow terminals."""
        left = self._seconds_left()
        notes = (
            [f"about {span_words(left)} left"]
            if left is not None and not self._work.has_bar
            else []
        )
        if self._models is None:
            return notes
        notes = [*map(_batch_words, self._batches[:BATCHES_SHOWN]), *notes]
        if len(self._batches) > BATCHES_SHOWN:
            notes.insert(BATCHES_SHOWN, f"{len(self._batches) - BATCHES_SHOWN:,} more batches")
        if self._models.is_priced:
            notes.append(f"${self._models.spending.spent:,.4f}")
        notes += [f"{self._calls:,} calls", f"{self._models.spending.in_flight} in flight"]
        notes += [f"{_short(self._tokens)} tokens"]
        return notes + ([f"{self._cached:,} from cache"] if self._cached else [])

    def _seconds_left(self) -> float | None:
        if not 0 < self._done < self._total:
            return None
        spent = time.monotonic() - self._began
        return spent / self._done * (self._total - self._done)


BATCHES_SHOWN = 3


def _batch_words(batch: BatchRecord) -> str:
    """Return what is waiting where, and since when."""
    since = f"since {batch.since[:16].replace('T', ' ')} UTC"
    counts = f"{batch.done:,} of {batch.lines:,} lines"
    if batch.failed:
        counts += f", {batch.failed:,} failed"
    return f"{batch.batch_id or 'a batch'} {batch.state.value} ({counts}) {since}"


class PartsWatch:
    """Counts the parts of a run that have ended, and the answers; Ctrl-C ends the run.

    Args:
        what: The parts, as a plural.
    """

    def __init__(self, what: str) -> None:
        self.work: LongWork | None = None
        self.was_interrupted: Callable[[], bool] = lambda: False
        self._what = what
        self._done = self._total = self._calls = 0

    def begins(self, stop: Callable[[], None], total: int) -> None:
        """The run begins; `total` is the number of its parts."""
        self._total = total
        self.was_interrupted = on_ctrl_c(stop)

    def part_done(self) -> None:
        """A part has ended."""
        self._done += 1
        self._show()

    def call_made(self, usage: Usage) -> None:
        """A model answered, or the cache did."""
        self._calls += usage.calls + usage.cached_calls
        self._show()

    def _show(self) -> None:
        if self.work is not None:
            note = f"{self._calls:,} answers" if self._calls else ""
            self.work.update(self._what, self._done, self._total, note)


def _short(number: int) -> str:
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1e3:,.0f}k" if number < 10_000_000 else f"{number / 1e6:,.0f}M"
