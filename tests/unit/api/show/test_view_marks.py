"""The state of a claim, in one of five marks."""

from __future__ import annotations

import pytest

from veritrail_graph.api.show.rendering import text_of
from veritrail_graph.api.show.words import (
    BY_KIND,
    MARKS,
    RANK,
    indicative_reason,
    mark_of,
    review_mark,
)
from veritrail_graph.graph.model import ReviewVerdict, Status, Verdict


@pytest.mark.parametrize(
    ("verdict", "status", "kind", "word"),
    [
        (Verdict.FULLY_SUPPORTED, Status.SUCCEEDED, "supported", "Fully Supported"),
        (Verdict.NOT_FULLY_SUPPORTED, None, "not-supported", "Not Fully Supported"),
        (Verdict.INCONCLUSIVE, Status.FAILED, "inconclusive", "Inconclusive"),
        (None, None, "unchecked", "Not checked"),
        (None, Status.QUEUED, "unchecked", "Waiting"),
        (None, Status.RUNNING, "unchecked", "Being checked"),
        (None, Status.FAILED, "failed", "Could not be checked"),
        (None, Status.OVER_BUDGET, "failed", "Over budget"),
        (None, Status.CANCELLED, "failed", "Cancelled"),
    ],
)
def test_a_verdict_counts_first_and_a_failure_is_none(
    verdict: Verdict | None, status: Status | None, kind: str, word: str
) -> None:
    mark = mark_of(verdict, status, "no answer")
    assert (mark.kind, mark.word, mark.is_verdict) == (kind, word, verdict is not None)
    assert ("no answer" in mark.hint) == (kind == "failed")


def test_a_verdict_that_no_model_gave_says_so() -> None:
    mark = mark_of(Verdict.FULLY_SUPPORTED, indicative=True)
    assert mark.indicative
    assert "indicative" in mark.hint
    assert not mark_of(Verdict.FULLY_SUPPORTED).indicative
    assert not mark_of(None, Status.FAILED, indicative=True).indicative


def test_marks_differ_in_word_and_icon_and_every_icon_is_there() -> None:
    assert len({one.word for one in MARKS}) == len({one.icon for one in MARKS}) == len(BY_KIND) == 6
    for mark in (*MARKS, review_mark(ReviewVerdict.UNCLEAR)):
        assert f'id="{mark.icon}"' in text_of("icons.svg"), mark
    assert sorted(RANK.values()) == list(range(6))


def test_the_style_sheet_knows_every_kind() -> None:
    for kind in BY_KIND:
        assert f".mark-{kind} " in text_of("style.css")
        assert f".u-{kind} " in text_of("process.css")


@pytest.mark.parametrize(
    ("engines", "reason"),
    [
        (["lexical"], "no language model judged, words were compared"),
        (["lexical+lexical"], "no language model judged, words were compared"),
        (
            ["lexical+nli"],
            "words were compared to select the evidence; an entailment model gave the verdicts",
        ),
        (
            ["lexical+openai", "lexical+openai"],
            "words were compared to select the evidence; a language model gave the verdicts",
        ),
        (
            ["nli+lexical"],
            "words were compared to judge; an entailment model selected the evidence",
        ),
        (["mine+lexical"], "words were compared to judge; the engine mine selected the evidence"),
        (["lexical", "lexical+nli"], "words were compared to select the evidence or to judge"),
    ],
)
def test_what_is_said_of_indicative_verdicts_is_true_for_each_pair_of_engines(
    engines: list[str], reason: str
) -> None:
    assert indicative_reason(*engines) == reason
