"""Figures of a check against hand counts, scikit-learn and statsmodels."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from veritrail_eval.judge_check.figures import (
    Figures,
    Judged,
    by_kind,
    meaning,
    reliability,
    without_verdict,
)
from veritrail_eval.judge_check.nodes import held_pairs, tasks_of
from veritrail_eval.judge_check.pairs import LABELS, Pair
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.model import Status, Verdict, Verification

FS, NFS = LABELS
INC = Verdict.INCONCLUSIVE
CASES = (FS, NFS, INC, None)


def judged(
    label: Verdict,
    verdict: Verdict | None,
    kind: str = "number",
    status: Status = Status.FAILED,
) -> Judged:
    """A pair and its verification; without a verdict it has this status."""
    pair = Pair("p", ("A source.",), "A claim.", label, kind)
    task = tasks_of(held_pairs([pair]))[0]
    verification = Verification.of_claim(
        task.claim,
        verification_id="v-1",
        process_id="judge-check",
        q=3,
        engine="lexical",
        model=None,
        indicative=True,
        created_at=now(),
        status=status if verdict is None else Status.SUCCEEDED,
        error="it failed" if verdict is None else None,
    ).replace(verdict=verdict)
    return Judged(pair, verification)


def of(right: int, wrong: int, missed: int, caught: int, *more: Judged) -> list[Judged]:
    """Supported pairs that are right and wrong, unsupported ones let pass and caught, and more."""
    return [
        *(judged(FS, FS) for _ in range(right)),
        *(judged(FS, NFS) for _ in range(wrong)),
        *(judged(NFS, FS) for _ in range(missed)),
        *(judged(NFS, NFS) for _ in range(caught)),
        *more,
    ]


def test_figures_equal_a_hand_count() -> None:
    more = [judged(FS, INC), judged(NFS, INC), judged(NFS, INC), judged(FS, None)]
    figures = Figures.of(of(8, 2, 3, 9, *more, judged(NFS, None, status=Status.CANCELLED)))
    assert (figures.pairs, figures.scored, figures.inconclusive, figures.no_verdict) == (
        27,
        22,
        3,
        2,
    )
    assert figures.balanced_accuracy == pytest.approx((0.8 + 0.75) / 2)
    assert figures.inconclusive_wrong == pytest.approx((8 / 11 + 9 / 14) / 2)
    document = figures.json_object()
    assert document["labels"] == {
        "FULLY_SUPPORTED": {"pairs": 12, "right": 8, "wrong": 2, "inconclusive": 1, "undecided": 0},
        "NOT_FULLY_SUPPORTED": {
            "pairs": 15,
            "right": 9,
            "wrong": 3,
            "inconclusive": 2,
            "undecided": 0,
        },
    }
    assert document["recall"] == {"FULLY_SUPPORTED": 0.8, "NOT_FULLY_SUPPORTED": 0.75}
    assert document["excluded"] == {"inconclusive": 3, "undecided": 0, "no_verdict": 2}
    assert document["reasons"] == {}


def test_undecided_pairs_are_counted_apart_and_are_not_wrong() -> None:
    undecided = [judged(label, None, status=Status.UNDECIDED) for label in (FS, NFS, NFS, NFS)]
    figures = Figures.of(of(8, 1, 2, 9, *undecided, judged(FS, None)))
    assert (figures.scored, figures.undecided, figures.no_verdict) == (20, 4, 1)
    assert figures.decided == pytest.approx(20 / 24)
    assert figures.given(FS) == (10, 8)
    assert figures.given(NFS) == (10, 9)
    document = figures.json_object()
    assert document["excluded"] == {"inconclusive": 0, "undecided": 4, "no_verdict": 1}
    assert document["verdicts"]["NOT_FULLY_SUPPORTED"]["precision"] == pytest.approx(0.9)
    assert document["labels"]["NOT_FULLY_SUPPORTED"]["undecided"] == 3
    assert figures.balanced_accuracy == pytest.approx((8 / 9 + 9 / 11) / 2)
    assert reliability(figures) == (
        "It decides 20 of 24 pairs (83 %); of 100 times that it says Fully Supported, it is right "
        "about 80 (49 to 94) (8 of 10); of 100 times that it says Not Fully Supported, it is right "
        "about 90 (60 to 98) (9 of 10)."
    )
    assert "leave about 17" in str(meaning(figures))


def random_verdicts(seed: int) -> list[Judged]:
    draw = random.Random(seed)
    weights = [draw.random() + 0.05 for _ in CASES]
    return of(1, 0, 1, 0) + [
        judged(draw.choice(LABELS), draw.choices(CASES, weights)[0])
        for _ in range(draw.randrange(150))
    ]


@pytest.mark.parametrize("seed", range(4))
def test_figures_equal_those_of_scikit_learn_and_statsmodels(seed: int) -> None:
    from sklearn.metrics import balanced_accuracy_score
    from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

    every = random_verdicts(seed)
    figures = Figures.of(every)
    scored = [one for one in every if one.verdict in LABELS]
    expected = balanced_accuracy_score(
        [one.pair.label for one in scored], [one.verdict for one in scored]
    )
    assert figures.balanced_accuracy == pytest.approx(expected)
    for part in (figures.supported, figures.unsupported):
        low, high = proportion_confint(part.right, part.scored, method="wilson")
        assert part.interval == pytest.approx((low, high), abs=1e-6)
    # Balanced accuracy is half of one more than the difference of two shares.
    supported, unsupported = figures.supported, figures.unsupported
    low, high = confint_proportions_2indep(
        supported.right,
        supported.scored,
        unsupported.wrong,
        unsupported.scored,
        compare="diff",
        method="newcomb",
    )
    assert figures.interval == pytest.approx(((1 + low) / 2, (1 + high) / 2), abs=1e-6)


def test_an_interval_has_a_width_where_no_pair_is_wrong() -> None:
    interval = Figures.of(of(12, 0, 0, 12)).interval
    assert interval is not None
    assert interval[0] < 0.9
    assert interval[1] == 1.0


@pytest.mark.parametrize(
    ("every", "reason"),
    [
        (of(3, 1, 0, 0), "no pair is labelled NOT_FULLY_SUPPORTED"),
        (of(0, 0, 1, 2), "no pair is labelled FULLY_SUPPORTED"),
        (
            of(1, 0, 0, 0, judged(NFS, None), judged(NFS, INC)),
            "no pair labelled NOT_FULLY_SUPPORTED has a verdict that is right or wrong",
        ),
        ([], "no pair is labelled FULLY_SUPPORTED"),
    ],
)
def test_a_figure_that_is_not_defined_is_null_with_the_reason(
    every: Sequence[Judged], reason: str
) -> None:
    document = Figures.of(every).json_object()
    assert (document["balanced_accuracy"], document["interval"]) == (None, None)
    assert document["reasons"] == {"balanced_accuracy": reason}


@pytest.mark.parametrize(
    ("every", "sentence"),
    [
        (
            of(90, 10, 20, 80),
            "Of 100 unsupported claims it would let about 20 (13 to 29) pass, and of 100 supported "
            "claims it would flag about 10 (6 to 17) wrongly.",
        ),
        (
            of(45, 5, 10, 30, *(judged(NFS, INC) for _ in range(10))),
            "Of 100 unsupported claims it would let about 20 (11 to 33) pass, of 100 supported "
            "claims it would flag about 10 (4 to 21) wrongly, and of 100 claims it would leave "
            "about 10 (6 to 17) open.",
        ),
        (
            of(50, 50, 50, 50),
            "Of 100 unsupported claims it would let about 50 (40 to 60) pass, and of 100 supported "
            "claims it would flag about 50 (40 to 60) wrongly; these pairs do not tell it from a "
            "coin.",
        ),
        (
            of(0, 20, 20, 0),
            "Of 100 unsupported claims it would let about 100 (84 to 100) pass, and of 100 "
            "supported claims it would flag about 100 (84 to 100) wrongly; it is wrong more often "
            "than a coin.",
        ),
        (of(0, 0, 0, 20), "Of 100 unsupported claims it would let about 0 (0 to 16) pass."),
        ([judged(FS, None)], None),
    ],
)
def test_a_sentence_says_what_the_figures_mean(
    every: Sequence[Judged], sentence: str | None
) -> None:
    assert meaning(Figures.of(every)) == sentence


def test_kinds_and_statuses_are_counted_apart() -> None:
    every = [
        judged(FS, FS, "time"),
        judged(FS, NFS, "name"),
        judged(NFS, None, "time"),
        judged(NFS, None, "time", Status.OVER_BUDGET),
    ]
    assert [(kind, one.pairs, one.no_verdict) for kind, one in by_kind(every).items()] == [
        ("time", 3, 2),
        ("name", 1, 0),
    ]
    assert without_verdict(every) == {"failed": 1, "over_budget": 1}
