"""The line of status of a check: claims, what was spent, and what is being read."""

from __future__ import annotations

import pytest

from veritrail_graph.api.cli.checked import CheckEnding, CheckShown, tell
from veritrail_graph.api.cli.checked_watch import Watched
from veritrail_graph.api.cli.terminal import LongWork
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.finding import Checked, CheckFailure, CheckJudge


class Shown(LongWork):
    """Keeps the notes of the line."""

    def __init__(self) -> None:
        super().__init__(None)
        self.notes: list[str] = []

    def update(self, what: str, done: int, total: int, note: str = "") -> None:
        self.notes.append(f"{what} {done}/{total} {note}")


def test_the_line_says_what_is_read_how_much_of_a_large_input_and_what_was_spent() -> None:
    shown = Shown()
    hooks = Watched(shown).hooks
    hooks.opens("/data/logs/")
    hooks.reading("nodes", 5, 10)  # is read before anybody could see it
    hooks.reading("nodes", 2_000, 9_000)
    hooks.spent(Usage(calls=1, cost_usd=0.25))
    hooks.claims(1, 4)
    hooks.opens("/data/small.json")
    assert shown.notes == [
        "claims 0/0 logs",
        "claims 0/0 logs, nodes 2,000 of 9,000",
        "claims 0/0 $0.2500, 1 call, logs, nodes 2,000 of 9,000",
        "claims 1/4 $0.2500, 1 call, logs, nodes 2,000 of 9,000",
        "claims 1/4 $0.2500, 1 call, small.json",
    ]


def test_in_a_pipe_each_failure_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    failures = [
        CheckFailure(source=f"log.jsonl#{n}", error={"message": "no answer", "violations": []})
        for n in range(3)
    ]
    done = Checked(judge=CheckJudge(engine="lexical", indicative=True), cost_usd=0.0)
    for ended in (failures, failures[:1]):  # one alone is said at the end
        watched = Watched(Shown())
        for one in ended:
            watched.hooks.ended(one)
        tell(done.replace(failed=ended), CheckShown(), CheckEnding(told=watched.told))
        said = capsys.readouterr().err
        assert [said.count(f"! {one.source}: no answer") for one in ended] == [1] * len(ended)
        assert "could not be read." in said
