"""What is shown while an ingest goes on: rate and time left."""

from __future__ import annotations

import pytest

from veritrail_graph.api.cli.terminal import Pace


class Told:
    """A `LongWork` that keeps the notes."""

    def __init__(self, has_bar: bool) -> None:
        self.has_bar = has_bar
        self.notes: list[str] = []

    def update(self, _what: str, _done: int, _total: int, note: str = "") -> None:
        self.notes.append(note)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("veritrail_graph.api.cli.terminal.time.monotonic", lambda: now[0])
    return now


def notes(clock: list[float], steps: list[tuple[float, int]], total: int, bar: bool) -> list[str]:
    work = Told(bar)
    pace = Pace(work)  # type: ignore[arg-type]
    for seconds, done in steps:
        clock[0] = 100 + seconds
        pace.update("nodes", done, total)
    return work.notes


def test_rate_and_time_left_are_told_once_they_are_known(clock: list[float]) -> None:
    told = notes(clock, [(0, 0), (1, 500), (4, 2_000), (100, 50_000)], 100_000, bar=False)
    assert told == ["", "", "500/s, about 3 min left", "500/s, about 2 min left"]


def test_a_bar_tells_the_time_that_is_left_by_itself(clock: list[float]) -> None:
    assert notes(clock, [(0, 0), (4, 2_000)], 10_000, bar=True) == ["", "500/s"]


def test_of_an_unknown_total_the_rate_is_told(clock: list[float]) -> None:
    assert notes(clock, [(0, 1_000), (10, 1_030)], 0, bar=False) == ["", "3.0/s"]


def test_what_was_stored_before_a_kill_does_not_make_it_look_fast(clock: list[float]) -> None:
    told = notes(clock, [(0, 90_000), (10, 91_000)], 100_000, bar=False)
    assert told[-1] == "100/s, about 2 min left"
