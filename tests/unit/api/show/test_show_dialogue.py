"""The document of a dialogue: every writer makes all fields of the noun, and what ended alike of it
is told once."""

from __future__ import annotations

import pytest
from fakes.dialogues import gold_run
from fakes.shown_fields import WRITERS, fields_of, left_out, on_terminal
from fakes.trails import spent

from veritrail_graph.api.show.dialogue_run import (
    NOT_SHOWN,
    ClaimMade,
    Linked,
    TurnShown,
    run_shown,
    turns_shown,
)
from veritrail_graph.api.show.document import Document, Tree
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    DialogueRun,
    Speaker,
    Turn,
    TurnCheck,
    TurnClaim,
    TurnVerification,
)

GOLD = gold_run()
OPEN = TurnClaim(claim_id="c-1", claim="The museum is open.", category=ClaimCategory.VERIFIED,
                 label=DialogueLabel.VERIFIED)  # fmt: skip
SHUT = TurnClaim(
    claim_id="c-2", claim="The museum is shut.", category=ClaimCategory.CONTRADICTED,
    label=DialogueLabel.UNVERIFIABLE, reason="it was open", contradicts=("c-1",),
    compared_with=("c-1",), contradicts_knowledge=("knowledge/0",),
)  # fmt: skip
BROKEN = TurnClaim(claim_id="c-3", claim="It is free.", status=Status.FAILED, error="no answer")
CHECK = TurnCheck(contradiction=True, quotes=("it is shut", "it is open"), turn_id="t-early",
                  reason="both cannot be", model="a-checker")  # fmt: skip
USAGE = spent(7, 11, (1_300, 170, 190), 0.23, reasoning_tokens=29, batch_calls=6)
WHOLE = DialogueRun.of_turns(
    [
        TurnVerification.of_claims("t2", [OPEN]),
        TurnVerification.of_claims(
            "t4", [SHUT, OPEN.replace(claim_id="c-4")], turn_check=CHECK, usage=USAGE,
            history_left_out=3, background_left_out=5, background_lacks=6,
        ),
        TurnVerification.of_claims("t6", [BROKEN]),
        TurnVerification(turn_id="t8", status=Status.FAILED, error="no key"),
    ],
    run_id="run-1", dialogue_id="a-dialogue", engine="an-engine", model="a-model", usage=USAGE,
    indicative=True, created_at="2026-01-31T09:30:00Z", settings='{"background": false}',
)  # fmt: skip
UNPRICED = WHOLE.replace(usage=spent(1, 0, (1, 0, 1), None, unpriced_calls=1))
SAMPLES = (WHOLE, UNPRICED)
OTHERWISE = {
    "DialogueRun.indicative": "indicative only",
    "DialogueRun.score": "score 0.67",
    "DialogueRun.settings": "no background",
    "TurnVerification.score": "t4 unverifiable 0.50",
    "TurnVerification.label": "t2 verified 1.00",
    "TurnClaim.category": "contradicted",
    "TurnClaim.label": "contradicted",
    "TurnClaim.status": "failed",
    "TurnClaim.contradicts": "said before in turn t2",
    "TurnCheck.contradiction": "as a whole, the turn contradicts an earlier one",
    "Usage.cost_usd": "$0.2300",
    "Usage.unpriced_calls": "unknown",
    "TurnVerification.status": "t8 failed",
}


def test_each_field_that_is_not_shown_is_one_of_the_noun() -> None:
    assert set(NOT_SHOWN) <= fields_of(SAMPLES)


@pytest.mark.parametrize("writer", WRITERS)
def test_every_field_of_a_dialogue_stands_in_what_a_writer_makes(writer: str) -> None:
    documents = [run_shown(one) for one in SAMPLES]
    assert left_out(writer, SAMPLES, documents, OTHERWISE, NOT_SHOWN) == {}


def lines(*turns: TurnVerification) -> list[str]:
    run = DialogueRun.of_turns(turns, run_id="r-1", dialogue_id="d", engine="openai")
    return [line.strip("│├└─ ") for line in on_terminal(run_shown(run)).splitlines()][3:]


def test_turns_that_were_never_begun_are_one_line() -> None:
    never = [
        TurnVerification(turn_id=f"t{n}", status=Status.CANCELLED, error="it was stopped")
        for n in range(2, 10_000)
    ]
    shown = lines(GOLD.turns[0], *never)
    assert shown[-2:] == ["t2 to t9999 (9,998 turns)  cancelled", "it was stopped"]
    assert len(shown) < 10


def test_one_failure_of_many_turns_is_told_in_full_once() -> None:
    failed = [
        TurnVerification(
            turn_id=f"t{n}", status=Status.FAILED, error="no answer", background_lacks=n
        )
        for n in range(3)
    ]
    assert lines(*failed) == ["t0 to t2 (3 turns)  failed", "no answer"]
    shown = lines(failed[0], failed[2].replace(error="too long"), failed[1])
    assert shown.count("no answer") == 1
    assert shown[-2:] == [
        "not all is remembered of 1 earlier turn", "for the same reason as above",
    ]  # fmt: skip


def test_a_reason_that_stands_behind_claims_that_are_cut_is_told_again() -> None:
    other = [BROKEN.replace(claim_id=f"c-{n}", error=f"fault {n}") for n in range(20)]
    long = TurnVerification.of_claims("t1", [*other, BROKEN])
    assert lines(long, TurnVerification.of_claims("t2", [BROKEN])).count("no answer") == 2


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
    shown = lines(*turns)
    claims = sum(len(one.claims) for one in turns)
    assert shown.count("no answer") == 1
    assert shown.count("for the same reason as above") == claims - 1


def test_a_turn_shows_what_was_said_and_which_later_turns_contradict_it() -> None:
    turns = [
        TurnShown("t1", None, Turn(turn_id="t1", role=Speaker.USER, text="Open?")),
        TurnShown("t2", WHOLE.turns[0], Turn(turn_id="t2", role=Speaker.ASSISTANT, text="Yes."), 2),
    ]
    later = Linked(later={"c-1": [ClaimMade("t4", "It is shut.")]}, more_later={"c-1": 3})
    written = on_terminal(Document((Tree((), turns_shown(turns, later)),)))
    assert [line.strip("│├└─ ") for line in written.splitlines()][1:] == [
        "t1",
        "user: Open?",
        "turn 2 t2  verified  1.00",
        "assistant: Yes.",
        "verified  The museum is open.  c-1",
        "contradicted later in turn t4: It is shut.",
        "and by 3 more claims",
    ]
