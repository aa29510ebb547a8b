"""Claims drawn by lot for reviewers: shares of verdicts, repeatable draws, even assignments."""

from __future__ import annotations

from collections import Counter

import pytest

from veritrail_graph.graph.sampling import assigned, sample_of, shares_of


@pytest.mark.parametrize(
    ("strata", "size", "wanted"),
    [
        ({"a": 80, "b": 20}, 10, {"a": 8, "b": 2}),
        ({"a": 98, "b": 1, "c": 1}, 10, {"a": 8, "b": 1, "c": 1}),
        ({"a": 3, "b": 3}, 100, {"a": 3, "b": 3}),
        ({"a": 5, "b": 4, "c": 1}, 2, {"a": 1, "b": 1}),
        ({"a": 1, "b": 1, "c": 1}, 3, {"a": 1, "b": 1, "c": 1}),
        ({"a": 0, "b": 7}, 3, {"b": 3}),
    ],
)
def test_each_verdict_has_its_share_and_at_least_one(
    strata: dict[str, int], size: int, wanted: dict[str, int]
) -> None:
    assert shares_of(strata, size) == wanted


def test_the_same_seed_draws_the_same_claims_in_the_order_of_the_input() -> None:
    verdicts = {f"k{n}": ("YES" if n % 3 else None) for n in range(90)}
    drawn, strata = sample_of(verdicts, 9, seed=7)
    assert sample_of(verdicts, 9, seed=7) == (drawn, strata)
    assert sample_of(verdicts, 9, seed=8)[0] != drawn
    assert strata == {"none": 3, "YES": 6}
    assert drawn == sorted(drawn, key=list(verdicts).index)
    assert len(set(drawn)) == 9


def test_every_claim_has_as_many_reviewers_and_every_reviewer_as_many_claims() -> None:
    tasks = assigned([f"k{n}" for n in range(9)], ["Ada", "Bo", "Cy"], 2, seed=1)
    assert Counter(claim for claim, _, _ in tasks) == {f"k{n}": 2 for n in range(9)}
    assert set(Counter(reviewer for _, reviewer, _ in tasks).values()) == {6}
    assert len({(claim, reviewer) for claim, reviewer, _ in tasks}) == 18
