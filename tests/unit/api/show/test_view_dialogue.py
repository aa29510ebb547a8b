"""Dialogues as people read them: marks, what is told of turns, the chart, what a page shows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from fakes.dialogues import gold_run

from veritrail_graph.api.show.conversation import part_with, shown_claims
from veritrail_graph.api.show.dialogue import (
    CHART_WIDTH,
    CLAIM_MARKS,
    MOST_BARS,
    NO_CLAIMS,
    NOT_CHECKED,
    chart_of,
    claim_counts,
    claim_mark,
    cut_words,
    left_out_words,
    run_words,
    score_of,
    score_words,
    setting_words,
    total_counts,
    turn_mark,
)
from veritrail_graph.api.show.reports.conversation import chosen
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.canonical import canonical_text
from veritrail_graph.graph.model.conversation import SaidTurn, TurnCounts
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    DialogueRunSummary,
    Speaker,
    Turn,
    TurnClaim,
    TurnVerification,
)

GOLD = gold_run().turns


def counts(stage: int, verified: int = 0, contradicted: int = 0, **more: int) -> TurnCounts:
    label = DialogueLabel.UNVERIFIABLE
    return TurnCounts(stage, Status.SUCCEEDED, label, verified, contradicted, **more)


def test_what_a_run_left_out_is_said_in_words() -> None:
    whole = {
        "background": True, "history": True, "categories": True, "turn_check": False,
        "most_facts": 200,
        "judge": {"most_turns": 200, "extraction": {"prompt": "dialogue_extraction.v1"}},
    }  # fmt: skip
    assert left_out_words(canonical_text(whole)) == left_out_words(None) == ""
    less = {**whole, "history": False, "categories": False, "most_facts": 1, "turn_check": True}
    words = "no history, at most 1 remembered fact, no categories"
    assert left_out_words(canonical_text(less)) == words
    assert setting_words(canonical_text(less)) == f"{words}, with the check of whole turns"
    shot = {"most_turns": 0, "extraction": {"prompt": "dialogue_extraction.v1_zero_shot"}}
    assert left_out_words(canonical_text({**whole, "background": False, "judge": shot})) == (
        "no background, at most 0 earlier turns, prompts without examples"
    )


def test_runs_of_one_model_are_told_apart_by_what_they_did_in_another_way() -> None:
    run = DialogueRunSummary(
        run_id="r-1", created_at="2026-01-01T12:00:00.000000Z", engine="openai", model="m",
        settings="{}", turns=1, counting=0,
    )  # fmt: skip
    assert run_words(run) == "openai m, 1 turn"
    less = run.replace(settings=canonical_text({"background": False, "turn_check": True}))
    assert run_words(less) == "openai m, no background, with the check of whole turns, 1 turn"


def test_what_was_not_shown_is_counted_without_a_guess_at_the_reason() -> None:
    cut = GOLD[0].replace(history_left_out=3, background_left_out=1)
    assert cut_words(cut) == ["not shown in the prompts: 3 earlier turns and 1 remembered fact"]


def test_each_category_has_a_word_and_an_icon_of_its_own_and_a_failure_is_none_of_them() -> None:
    claim = GOLD[0].claims[0]
    marks = [claim_mark(claim.replace(category=one)) for one in ClaimCategory]
    assert len({one.word for one in marks}) == len({one.icon for one in marks}) == 5
    assert State.FAILED not in {one.kind for one in marks}
    bare = claim.replace(category=None, label=DialogueLabel.UNVERIFIABLE)
    assert claim_mark(bare).word == "unverifiable"
    for status, word in (
        (Status.FAILED, "failed"),
        (Status.OVER_BUDGET, "over budget"),
        (Status.CANCELLED, "cancelled"),
    ):
        mark = claim_mark(claim.replace(status=status, category=None, error="the reason"))
        assert (mark.kind, mark.word) == (State.FAILED, word)
        assert mark.hint == "This says nothing about the claim. the reason"


def test_the_mark_of_a_turn_is_its_label_or_why_it_has_none() -> None:
    by_id = {one.turn_id: turn_mark(one) for one in GOLD}
    assert by_id["t4"].kind is State.SUPPORTED
    assert (by_id["t24"].word, by_id["t24"].kind) == ("unverifiable", State.NOT_SUPPORTED)
    assert (by_id["t14"].word, by_id["t14"].kind) == ("unverifiable", State.INCONCLUSIVE)
    assert by_id["t30"] == NO_CLAIMS
    assert turn_mark(None) == NOT_CHECKED
    open_ = GOLD[0].claims[0].replace(status=Status.UNDECIDED, category=None, label=None)
    marks = [
        turn_mark(TurnVerification.of_claims("t2", [*GOLD[place].claims, open_]))
        for place in (0, 6, 11)
    ]
    assert [(one.word, one.kind) for one in marks] == [
        ("cannot tell", State.UNDECIDED), ("unverifiable", State.INCONCLUSIVE),
        ("unverifiable", State.NOT_SUPPORTED),
    ]  # fmt: skip
    failed = TurnVerification(turn_id="t2", status=Status.FAILED, error="no answer")
    assert turn_mark(failed).hint == "This says nothing about the turn. no answer"


def test_claims_are_counted_by_mark() -> None:
    claims = [one for turn in GOLD for one in turn.claims]
    found = claim_counts([*claims, claims[0].replace(status=Status.FAILED, category=None)])
    assert [(mark.word, number) for mark, number in found] == [
        ("verified", 19), ("out of scope", 5), ("contradicted", 2), ("lacking evidence", 3),
        ("abstention", 1), ("failed", 1),
    ]  # fmt: skip
    assert [mark for mark, _ in found[:5]] == list(CLAIM_MARKS.values())
    turns = [counts(2, 3, 1, failed=2), counts(4, 1, without_category=5)]
    assert [(mark.word, number) for mark, number in total_counts(turns)] == [
        ("verified", 4), ("contradicted", 1), ("unverifiable", 5), ("failed", 2),
    ]  # fmt: skip
    told = total_counts([counts(2, 3, undecided=2)])
    assert [(mark.word, number) for mark, number in told] == [("verified", 3), ("cannot tell", 2)]


def test_the_chart_has_a_bar_for_each_turn_and_says_the_same_in_words() -> None:
    turns = [
        counts(2, 1),
        counts(4, out_of_scope=1),
        counts(6, 1, 1),
        TurnCounts(8, Status.FAILED, None, 5, 5),
    ]
    chart = chart_of(turns)
    assert chart is not None
    assert [(one.words, one.score, one.failed) for one in chart.bars] == [
        ("2", 1.0, 0), ("4", None, 0), ("6", 0.5, 0), ("8", None, 1),
    ]  # fmt: skip
    assert score_of(turns) == pytest.approx(2 / 3)
    assert chart.words == (
        "Score over all turns: 0.67. The lowest is 0.50, in turn 6. 6 claims are contradicted, "
        "the first in turn 6."
    )
    assert chart.line.split()[0] == f"{CHART_WIDTH / 8:.1f},0.0"
    assert chart_of([counts(2, out_of_scope=1)]) is None
    assert chart_of([]) is None


def test_an_undecided_claim_leaves_the_score_open_from_its_turn_on() -> None:
    turns = [counts(2, 1), counts(4, 1, undecided=1), counts(6, 1)]
    chart = chart_of(turns)
    assert chart is not None
    assert [(one.score, one.so_far) for one in chart.bars] == [
        (1.0, 1.0),
        (None, None),
        (1.0, None),
    ]
    assert chart.words == "Score over all turns: cannot be told."
    assert score_words(score_of(turns), total_counts(turns)) == "cannot be told"
    assert score_words(None, []) == "none"
    assert chart_of(turns, most=1) is None


def test_the_chart_of_a_long_dialogue_has_no_more_bars_than_fit() -> None:
    turns = [counts(number, 1, number % 2) for number in range(1, 2_001)]
    chart = chart_of(turns)
    assert chart is not None
    assert len(chart.bars) <= MOST_BARS
    assert (chart.bars[0].first, chart.bars[-1].last) == (1, 2_000)
    assert all(one.last + 1 == other.first for one, other in pairwise(chart.bars))
    assert chart.bars[0].words == "1 to 34"
    assert sum(one.contradicted for one in chart.bars) == 1_000


def test_a_report_shows_the_turns_with_contradictions_first() -> None:
    turns = [counts(n, 1, 1 if n == 90 else 0, lacking_evidence=int(n == 50)) for n in range(100)]
    assert chosen(turns, 3) == [0, 50, 90]
    assert chosen(turns, 200) == list(range(100))


def test_claims_of_a_page_are_bounded_and_the_open_turn_comes_first() -> None:
    def claims(turn: int, number: int) -> TurnVerification:
        found = [
            TurnClaim(
                claim_id=f"k{turn}-{place}", claim="c", category=ClaimCategory.VERIFIED,
                label=DialogueLabel.VERIFIED,
            )
            for place in range(number)
        ]  # fmt: skip
        return TurnVerification.of_claims(f"t{turn}", found)

    said = [
        SaidTurn(Turn(turn_id=f"t{n}", role=Speaker.ASSISTANT, text="x"), n, n, 1)
        for n in range(1, 6)
    ]
    few = shown_claims(said, {n: claims(n, 3) for n in range(1, 6)}, None)
    assert {n: len(some) for n, (_, some) in few.items()} == dict.fromkeys(range(1, 6), 3)
    many = {n: claims(n, 100) for n in range(1, 6)}
    shared = shown_claims(said, many, None)
    assert {n: len(some) for n, (_, some) in shared.items()} == dict.fromkeys(range(1, 6), 10)
    opened = shown_claims(said, many, 3, begin=40)
    assert (opened[3][0], opened[3][1][0].claim_id) == (40, "k3-40")
    assert sum(len(some) for _, some in opened.values()) <= 50
    named = shown_claims(said, many, 3, open_claim="k3-95")
    assert (named[3][0], named[3][1][-1].claim_id) == (80, "k3-99")
    assert [part_with(one) for one in (0, 1, 20, 21)] == [1, 1, 1, 2]
