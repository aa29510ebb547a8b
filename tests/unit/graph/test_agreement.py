"""Agreement between reviewers and model: figures that were computed by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.agreement import FEW, agreement_of, figures
from veritrail_graph.graph.model import Review, ReviewVerdict, Verdict
from veritrail_graph.graph.model.agreement import Agreement, AgreementFigures
from veritrail_graph.graph.model.listed import JudgedReview

FS, NFS, INC = Verdict
PAIRS = st.lists(st.tuples(st.sampled_from(Verdict), st.sampled_from(Verdict)), max_size=60)


def of(found: Iterable[tuple[Verdict, Verdict]]) -> AgreementFigures:
    return AgreementFigures(**figures(found))


def table(figures: AgreementFigures) -> dict[tuple[Verdict, Verdict], int]:
    """The pairs that there are."""
    return {
        (Verdict(one), Verdict(other)): count
        for one, row in figures.table.items()
        for other, count in row.items()
        if count
    }


def pairs(**counts: int) -> AgreementFigures:
    """Pairs by name, such as `fs_nfs=2`."""
    names = {"fs": FS, "nfs": NFS, "inc": INC}
    found = []
    for name, count in counts.items():
        one, other = name.split("_")
        found += [(names[one], names[other])] * count
    return of(found)


def test_kappa_of_two_verdicts_by_hand() -> None:
    # Of 50: 20 both yes, 15 both no, 5 and 10 apart. Observed 0.7; expected 0.5 * 0.6 + 0.5 * 0.4.
    found = pairs(fs_fs=20, fs_nfs=5, nfs_fs=10, nfs_nfs=15)
    assert (found.pairs, found.agreed) == (50, 35)
    assert found.share == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert not found.small


def test_kappa_of_three_verdicts_by_hand() -> None:
    # Rows 10, 6, 4; columns 9, 8, 3; observed 14 / 20; expected (90 + 48 + 12) / 400 = 0.375.
    found = pairs(fs_fs=8, fs_nfs=2, nfs_fs=1, nfs_nfs=4, nfs_inc=1, inc_nfs=2, inc_inc=2)
    assert found.share == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.325 / 0.625)
    assert found.small


def test_the_interval_of_a_share_by_hand() -> None:
    # 8 of 10, z = 1.96: (0.8 + 0.192) / 1.384 -+ 1.96 * sqrt(0.016 + 0.0096) / 1.384.
    low, high = pairs(fs_fs=8, fs_nfs=2).interval or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert pairs(fs_fs=1).interval == pytest.approx((0.2065, 1.0), abs=1e-4)
    assert pairs(fs_nfs=1).interval == pytest.approx((0.0, 0.7935), abs=1e-4)


def test_without_a_pair_there_are_no_figures() -> None:
    found = of([])
    assert (found.pairs, found.agreed, found.small) == (0, 0, True)
    assert (found.share, found.kappa, found.interval) == (None, None, None)


def test_one_verdict_throughout_leaves_kappa_open() -> None:
    found = pairs(nfs_nfs=7)
    assert (found.share, found.kappa) == (1.0, None)


def test_one_verdict_each_but_another_is_no_agreement_at_all() -> None:
    found = pairs(nfs_fs=7)
    assert (found.share, found.kappa) == (0.0, 0.0)


def test_one_judge_who_never_changes_agrees_by_chance_only() -> None:
    found = pairs(fs_fs=6, fs_nfs=2)
    assert (found.share, found.kappa) == (0.75, 0.0)


def test_always_the_opposite_is_worse_than_chance() -> None:
    assert pairs(fs_nfs=5, nfs_fs=5).kappa == pytest.approx(-1.0)
    assert pairs(fs_fs=5, nfs_nfs=5).kappa == pytest.approx(1.0)


def test_few_pairs_are_called_few() -> None:
    assert pairs(fs_fs=FEW - 1).small
    assert not pairs(fs_fs=FEW).small


@given(PAIRS)
def test_figures_stay_within_their_bounds_and_do_not_care_who_is_first(
    found: list[tuple[Verdict, Verdict]],
) -> None:
    one = of(found)
    other = of((second, first) for first, second in found)
    assert one.kappa == pytest.approx(other.kappa) if one.kappa is not None else True
    if one.share is not None and one.interval is not None:
        low, high = one.interval
        assert 0 <= low <= one.share + 1e-12
        assert one.share - 1e-12 <= high <= 1
    if one.kappa is not None:
        assert -1 - 1e-9 <= one.kappa <= 1 + 1e-9
        assert (one.kappa > 1 - 1e-9) == (one.agreed == one.pairs)


def review(number: int, claim_id: str, reviewer: str, model: Any, said: str) -> JudgedReview:
    """The numberth review; `model` is None where the claim had no verdict."""
    made = Review(
        review_id=f"review-{number:02}",
        process_id="p",
        claim_id=claim_id,
        claim=f"Claim {claim_id}.",
        verdict=ReviewVerdict(said),
        reviewer=reviewer,
        created_at=f"2026-01-{number:02}T00:00:00.000000Z",
        reason="why",
        overrides=model and f"v-{claim_id}",
        model_verdict=model,
    )
    engine = None if model is None else ("lexical" if claim_id == "k9" else "openai")
    return JudgedReview(made, engine, "judge-1" if engine == "openai" else None)


def report(*found: JudgedReview) -> Agreement:
    return agreement_of("p", [*found][::-1])


def test_the_latest_review_of_each_reviewer_counts_and_the_latest_of_all_for_the_claim() -> None:
    made = report(
        review(1, "k1", "Ada", NFS, "NOT_FULLY_SUPPORTED"),
        review(2, "k1", "Bo", NFS, "FULLY_SUPPORTED"),
        review(3, "k1", "Ada", NFS, "INCONCLUSIVE"),
        review(4, "k2", "Bo", FS, "FULLY_SUPPORTED"),
    )
    assert (made.reviews, made.claims, made.unclear, made.disputed) == (4, 2, 0, 1)
    assert table(made.overall) == {(NFS, INC): 1, (FS, FS): 1}
    by_name = {one.reviewer: one for one in made.reviewers}
    assert (by_name["Ada"].reviews, table(by_name["Ada"])) == (2, {(NFS, INC): 1})
    assert table(by_name["Bo"]) == {(NFS, FS): 1, (FS, FS): 1}
    (pair,) = made.between_reviewers
    assert (pair.reviewers, table(pair)) == (["Ada", "Bo"], {(INC, FS): 1})


def test_unclear_claims_are_counted_apart() -> None:
    made = report(
        review(1, "k1", "Ada", NFS, "UNCLEAR"),
        review(2, "k2", "Ada", None, "UNCLEAR"),
        review(3, "k2", "Bo", None, "UNCLEAR"),
        review(4, "k3", "Bo", FS, "FULLY_SUPPORTED"),
        review(5, "k3", "Ada", FS, "UNCLEAR"),
    )
    assert (made.claims, made.unclear, made.disputed) == (3, 3, 1)
    assert made.overall.pairs == 0
    (pair,) = made.between_reviewers
    assert (pair.unclear, pair.pairs) == (2, 0)
    assert [(one.reviewer, one.unclear, one.pairs) for one in made.reviewers] == [
        ("Ada", 3, 0),
        ("Bo", 1, 1),
    ]


def test_engines_are_told_apart() -> None:
    made = report(
        review(1, "k1", "Ada", NFS, "NOT_FULLY_SUPPORTED"),
        review(2, "k9", "Ada", FS, "NOT_FULLY_SUPPORTED"),
    )
    assert made.overall.agreed == 1
    assert [(judge.engine, judge.model, table(judge)) for judge in made.judges] == [
        ("lexical", None, {(FS, NFS): 1}),
        ("openai", "judge-1", {(NFS, NFS): 1}),
    ]


def test_reviewers_who_share_no_claim_are_not_compared() -> None:
    other_words = review(2, "k1", "Bo", NFS, "FULLY_SUPPORTED")
    made = report(
        review(1, "k1", "Ada", NFS, "NOT_FULLY_SUPPORTED"),
        JudgedReview(
            Review(
                review_id="x",
                process_id="p",
                claim_id="k1",
                claim="Edited.",
                verdict=ReviewVerdict(FS),
                reviewer="Cy",
                created_at="2026-02-01T00:00:00Z",
                reason="",
                overrides="v",
                model_verdict=FS,
            ),
            "openai",
            "m",
        ),
        review(3, "k2", "Bo", FS, "FULLY_SUPPORTED"),
    )
    assert made.between_reviewers == []
    assert report(review(1, "k1", "Ada", NFS, "NOT_FULLY_SUPPORTED"), other_words).between_reviewers


def test_nothing_reviewed_is_a_report_too() -> None:
    made = report()
    assert (made.reviews, made.claims, made.overall.pairs) == (0, 0, 0)
    told = made.json_object()
    assert told["overall"] == {
        "pairs": 0,
        "agreed": 0,
        "share": None,
        "interval": None,
        "kappa": None,
        "small": True,
        "table": {one.value: {other.value: 0 for other in Verdict} for one in Verdict},
    }
    assert (told["judges"], told["reviewers"], told["between_reviewers"]) == ([], [], [])
