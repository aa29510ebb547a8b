"""A dialogue as the command line tells it: what ended alike is told once."""

from __future__ import annotations

from fakes.dialogues import gold_run

from veritrail_graph.api.cli.dialogue import run_text
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import DialogueRun, TurnVerification

GOLD = gold_run()


def told(*turns: TurnVerification) -> list[str]:
    run = DialogueRun.of_turns(turns, run_id="r-1", dialogue_id="d", engine="openai")
    return run_text(run).plain.splitlines()


def test_turns_that_were_never_begun_are_one_line() -> None:
    never = [
        TurnVerification(turn_id=f"t{n}", status=Status.CANCELLED, error="it was stopped")
        for n in range(2, 10_000)
    ]
    lines = told(GOLD.turns[0], *never)
    assert lines[-2:] == ["t2 to t9999 (9,998 turns)  cancelled", "    it was stopped"]
    assert len(lines) < 10


def test_one_failure_of_many_turns_is_told_in_full_once() -> None:
    failed = [
        TurnVerification(
            turn_id=f"t{n}", status=Status.FAILED, error="no answer", background_lacks=n
        )
        for n in range(3)
    ]
    assert told(*failed) == ["d", "t0 to t2 (3 turns)  failed", "    no answer"]
    other = failed[2].replace(error="too long")
    lines = told(failed[0], other, failed[1])
    assert [line for line in lines if "no answer" in line] == ["    no answer"]
    assert lines[-2:] == [
        "    not all is remembered of 1 earlier turn", "    for the same reason as above",
    ]  # fmt: skip


def test_one_failure_of_many_claims_is_told_in_full_once() -> None:
    turns = [
        TurnVerification.of_claims(
            turn.turn_id,
            [
                one.replace(status=Status.FAILED, category=None, label=None, error="no answer")
                for one in turn.claims
            ],
        )
        for turn in GOLD.turns[:3]
    ]
    lines = told(*turns)
    claims = sum(len(one.claims) for one in turns)
    assert sum("no answer" in line for line in lines) == 1
    assert sum("for the same reason as above" in line for line in lines) == claims - 1
