"""Calibration: figures by hand, and what chance explains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from veritrail_eval.judge_check.calibration import Calibration, calibration_error, parts_of
from veritrail_eval.judge_check.figures import Judged
from veritrail_eval.judge_check.pairs import own_pairs
from veritrail_graph.graph.model import Status, Verdict, Verification

PAIR = own_pairs()[0]
BASE = Verification(
    verification_id="v", process_id="p", claim_id="k", claim="A claim.", node_id="t", q=1,
    engine="decisions", indicative=False, created_at="2026-11-28T00:00:00Z",
    status=Status.SUCCEEDED,
)  # fmt: skip


def judged(score: float | None, *, supported: bool) -> Judged:
    label = Verdict.FULLY_SUPPORTED if supported else Verdict.NOT_FULLY_SUPPORTED
    found = BASE.model_copy(update={"score": score, "verdict": Verdict.FULLY_SUPPORTED})
    return Judged(replace(PAIR, label=label), found)


def test_brier_score_and_calibration_error_are_those_of_their_formulas() -> None:
    found = Calibration.of([
        judged(0.9, supported=True), judged(0.9, supported=False),
        judged(0.2, supported=False), judged(None, supported=True),
    ])  # fmt: skip
    assert found is not None
    assert found.pairs == 3
    assert found.brier == pytest.approx((0.01 + 0.81 + 0.04) / 3)
    assert found.error == pytest.approx((2 * 0.4 + 0.2) / 3)
    assert [(one.words, one.pairs, one.supported) for one in found.parts] == [
        ("0.2 to 0.3", 1, 0.0),
        ("0.9 to 1.0", 2, 0.5),
    ]


def test_a_judge_without_probabilities_has_no_calibration() -> None:
    assert Calibration.of([judged(None, supported=True)]) is None


@pytest.mark.parametrize(("score", "place"), [(0.0, 0.0), (0.0999, 0.0), (0.1, 0.1), (1.0, 0.9)])
def test_a_probability_lies_in_its_tenth_and_one_in_the_last(score: float, place: float) -> None:
    (part,) = parts_of([score], [True])
    assert part.start == place


def test_an_error_that_chance_explains_is_told_from_one_that_it_does_not() -> None:
    fair = [judged(0.75, supported=place % 4 > 0) for place in range(80)]
    sure = [judged(0.99, supported=place % 4 > 0) for place in range(80)]
    good, bad = Calibration.of(fair), Calibration.of(sure)
    assert good is not None
    assert bad is not None
    assert (good.is_off, bad.is_off) == (False, True)
    assert "within what chance explains" in good.words
    assert bad.error == pytest.approx(0.24)
    assert Calibration.of(fair) == good  # the draws are the same ones


def test_the_bar_is_the_share_that_is_supported_and_the_mark_what_is_said() -> None:
    (part,) = parts_of([0.55, 0.55], [True, False])
    assert part.bar == "██████████·|········"
    assert calibration_error([0.5, 0.5], [True, False]) == 0
