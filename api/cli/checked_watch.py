"""The progress of a check on the terminal: what is read, what it has cost, what has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from veritrail_graph.api.app.check_terms import CheckWatch
from veritrail_graph.api.cli.exits import on_ctrl_c
from veritrail_graph.api.cli.terminal import LongWork, say
from veritrail_graph.api.show.costs import cost_words
from veritrail_graph.api.show.findings import failure_line, place_words, process_line
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.finding import CheckedProcess, CheckFailure

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Ingested


LARGE = 1_000
"""The fewest parts of an input of which the status line counts those that are read."""


class Watched:
    """Turns the progress of a check into a line of status, and a line for each of many processes.

    The line says how many claims have ended, what was spent, and what is being read.

    Args:
        work: Where progress is shown.
    """

    def __init__(self, work: LongWork) -> None:
        self._work = work
        self._where = self._part = ""
        self._usage = Usage()
        self._claims = (0, 0)
        self._first: CheckedProcess | CheckFailure | None = None
        self._ended = 0
        self._told: set[tuple[str, str | None]] = set()

    @property
    def told(self) -> frozenset[tuple[str, str | None]]:
        """Return what was said to have failed: source and process of each."""
        return frozenset(self._told)

    @property
    def hooks(self) -> CheckWatch:
        """Return what a check calls."""
        return CheckWatch(
            self._opens,
            self._reading,
            self._stored,
            self._begins,
            self._counted,
            self._spent,
            self._end,
        )

    def _begins(self, stop: Callable[[], None]) -> None:
        on_ctrl_c(stop)

    def _opens(self, where: str) -> None:
        self._where, self._part = place_words(where), ""
        self._show()

    def _reading(self, what: str, done: int, total: int) -> None:
        """Say how much of a large input is read."""
        if max(done, total) >= LARGE:
            self._part = f"{what} {done:,}" + (f" of {total:,}" if total else "")
            self._show()

    def _stored(self, where: str, _stored: Ingested) -> None:
        self._where, self._part = place_words(where), ""
        self._show()

    def _counted(self, done: int, total: int) -> None:
        self._claims = (done, total)
        self._show()

    def _spent(self, usage: Usage) -> None:
        self._usage += usage
        self._show()

    def _show(self) -> None:
        notes = [note for note in (self._where, self._part) if note]
        if self._usage.calls:
            calls = counted(self._usage.calls, "call")
            notes.insert(0, f"{cost_words(self._usage)}, {calls}")
        self._work.update("claims", *self._claims, ", ".join(notes))

    def _end(self, ended: CheckedProcess | CheckFailure) -> None:
        """Say of each of several processes how it ended; of the first one when a second has."""
        self._ended += 1
        if self._ended == 1:
            self._first = ended
            return
        if self._first is not None:
            self._tell(self._first)
            self._first = None
        self._tell(ended)

    def _tell(self, ended: CheckedProcess | CheckFailure) -> None:
        if self._work.has_bar:  # the table at the end says it of the worst ones
            return
        if isinstance(ended, CheckFailure):
            say(f"! {failure_line(ended)}", "red")
            self._told.add((ended.source, ended.process_id))
            return
        say(process_line(ended), "dim")
