"""Which claims of which methods are scored, error stages over variants, settings and cost."""

from __future__ import annotations

import random

import pytest

from veritrail_eval.figures.confusion import Confusion
from veritrail_eval.figures.cost import (
    ClaimCost,
    cost_per_claim,
    human_cost_per_claim,
    mean_share_verified,
)
from veritrail_eval.figures.figure import Figure
from veritrail_eval.figures.grid import Configuration, best_configurations, grid
from veritrail_eval.figures.localization import Localization, LocatedClaim
from veritrail_eval.figures.options import Inconclusive, Resampling
from veritrail_eval.figures.scores import (
    Excluded,
    MethodScore,
    ScoredClaim,
    comparisons,
    scores,
)
from veritrail_eval.runs.own_nodes import OwnNodes
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.model import Origin, Verdict, share_of_nodes
from veritrail_graph.verifier.held_process import HeldProcess

FS, NFS, INC = Verdict

# claim_id, label, verdict of A, verdict of B
TABLE = [
    ("k1", FS, FS, FS),
    ("k2", FS, INC, FS),
    ("k3", NFS, NFS, FS),
    ("k4", NFS, NFS, None),
    ("k5", INC, FS, FS),
    ("k6", None, FS, INC),
    ("k7", NFS, FS, NFS),
    ("k8", FS, None, INC),
]
CLAIMS = [
    ScoredClaim(claim_id, label, verdicts[place], method, score=0.5, cost_usd=0.25)
    for place, method in enumerate("AB")
    for claim_id, label, *verdicts in TABLE
]


def two(rule: Inconclusive) -> tuple[MethodScore, MethodScore]:
    first, second = scores(CLAIMS, rule)
    return first, second


def test_a_claim_that_any_method_calls_inconclusive_leaves_all() -> None:
    a, b = two(Inconclusive.ANY)
    assert a.excluded == Excluded(no_label=2, no_verdict=1, inconclusive=1)
    assert b.excluded == Excluded(no_label=2, no_verdict=1, inconclusive=2)
    assert list(a.outcomes) == ["k1", "k3", "k4", "k7"]
    assert list(b.outcomes) == ["k1", "k3", "k7"]


def test_or_it_leaves_its_own_method_alone() -> None:
    a, b = two(Inconclusive.OWN)
    assert (a.excluded.inconclusive, b.excluded.inconclusive) == (1, 1)
    assert "k2" in b.outcomes
    assert "k2" not in a.outcomes


@pytest.mark.parametrize(
    ("rule", "counted"),
    [
        (Inconclusive.NOT_SUPPORTED, NFS),
        (Inconclusive.CORRECT, FS),
        (Inconclusive.INCORRECT, NFS),
    ],
)
def test_or_it_counts_as_a_verdict(rule: Inconclusive, counted: Verdict) -> None:
    a, b = two(rule)
    assert a.outcomes["k2"] == b.outcomes["k8"] == (FS, counted)
    assert a.excluded == Excluded(no_label=2, no_verdict=1, inconclusive=0)


def test_every_claim_is_scored_or_counted_as_left_out() -> None:
    for rule in Inconclusive:
        for one in two(rule):
            assert one.claims == len(one.outcomes) + sum(one.excluded.as_json().values())


def test_soft_scoring_keeps_inconclusive_and_leaves_out_what_ended_anywhere_without_verdict() -> (
    None
):
    for one in two(Inconclusive.ANY):
        assert len(one.scored_softly) == 4  # k1, k2, k3, k7


def test_costs_are_of_claims_with_a_verdict() -> None:
    a, _ = two(Inconclusive.ANY)
    assert len(a.costs) == 7
    assert a.cost_per_claim == Figure(0.25)


def test_a_method_without_scores_or_costs_says_so() -> None:
    (one,) = scores([ScoredClaim("a", FS, FS), ScoredClaim("b", NFS, NFS)])
    found = one.as_json()
    assert found["reasons"] == {"auroc": "no scores", "cost_per_claim": "no costs"}
    assert (found["method"], found["auroc"], found["auroc_claims"]) == (None, None, 0)


def test_methods_are_compared_on_the_claims_that_both_are_scored_on() -> None:
    (one,) = comparisons(two(Inconclusive.ANY))
    assert (one.methods, one.claims) == (("A", "B"), 3)
    assert (one.mcnemar.b, one.mcnemar.c) == (1, 1)  # k3 and k7
    assert one.as_json()["p_value"] == 1


def test_intervals_are_of_every_figure_and_hold_it() -> None:
    rng = random.Random(2)
    claims = [
        ScoredClaim(str(n), rng.choice([FS, NFS]), rng.choice([FS, NFS]), "m", rng.random(), n / 9)
        for n in range(60)
    ]
    (one,) = scores(claims)
    found = one.intervals(Resampling(100))
    assert found.keys() == one.figures().keys()
    for name, figure in one.figures().items():
        ends = found[name].as_json()
        assert ends is not None
        assert figure.value is not None
        assert ends[0] < figure.value < ends[1]


def test_the_paper_s_table_1_has_one_confusion_for_infuse() -> None:
    # INFUSE on DiverseSumm+ (Table 1): precision FS 100, recall FS 0.30, recall NFS 100.
    cells = Confusion(true_positives=127, false_positives=390, true_negatives=1, false_negatives=0)
    figures = {
        name: round(one.value * 100, 1) for name, one in cells.figures().items() if one.value
    }
    assert figures["balanced_accuracy"] == 50.1
    assert figures["precision.NOT_FULLY_SUPPORTED"] == 24.6
    assert figures["macro_f1"] == pytest.approx(20.0, abs=0.1)


# variant, claim, label, verdict, stages
LOCATED = [
    LocatedClaim("v", "k1", NFS, NFS, frozenset({2})),
    LocatedClaim("v", "k2", NFS, NFS, frozenset({2, 3})),
    LocatedClaim("v", "k3", NFS, NFS, frozenset()),
    LocatedClaim("v", "k4", FS, NFS, frozenset({4})),
    LocatedClaim("v", "k5", NFS, FS, frozenset()),
    LocatedClaim("w", "k1", NFS, NFS, frozenset({1, 3})),
    LocatedClaim("w", "k2", NFS, NFS, frozenset({1})),
    LocatedClaim("u", "k1", NFS, INC, frozenset()),
]


def test_error_stages_by_hand() -> None:
    found = Localization.of(LOCATED)
    assert found.stages == [2, 3, 4]
    assert {name: len(own) for name, own in found.true_positives.items()} == {
        "v": 2,
        "w": 1,
        "u": 0,
    }
    assert found.unlocated == 2  # k3 of v, k2 of w
    assert found.rates_of("v") == {2: Figure(1.0), 3: Figure(0.5), 4: Figure(0.0)}
    assert found.rates() == {2: Figure(2 / 3), 3: Figure(2 / 3), 4: Figure(0.0)}
    assert found.unweighted() == {2: Figure(0.5), 3: Figure(0.75), 4: Figure(0.0)}


def test_rates_are_weighted_by_true_positives() -> None:
    found = Localization.of(LOCATED)
    sizes = {name: len(own) for name, own in found.true_positives.items() if own}
    for stage, rate in found.rates().items():
        weighted = sum(n * (found.rates_of(name)[stage].value or 0) for name, n in sizes.items())
        assert rate.value == pytest.approx(weighted / sum(sizes.values()))


def test_the_interval_is_that_of_all_true_positives_drawn_together() -> None:
    # The paper: 13 variants of 24 true positives, 0.47 of them at stage 3, gave [0.42, 0.53].
    claims = [
        LocatedClaim(f"v{n % 13}", f"k{n}", NFS, NFS, frozenset({3 if n < 147 else 2}))
        for n in range(312)
    ]
    ends = Localization.of(claims).intervals(Resampling())[3].as_json()
    assert ends == pytest.approx([0.42, 0.53], abs=0.011)


def test_variants_without_true_positives_take_no_part() -> None:
    found = Localization.of(LOCATED).as_json(Resampling(20))
    assert found["variants"][2] == {
        "variant": "u",
        "true_positives": 0,
        "rates": {"2": None, "3": None, "4": None},
        "reasons": {"rates": "no true positives"},
    }
    assert found["jsd"] == pytest.approx(0.459148, abs=1e-6)  # of (2/3, 1/3, 0) and (0, 1, 0)


def test_pairs_of_variants_without_a_ranking_are_counted() -> None:
    flat = [LocatedClaim("x", "k9", NFS, NFS, frozenset({2, 3, 4}))]
    found = Localization.of([*LOCATED, *flat]).as_json(Resampling(5))
    assert found["spearman"] == pytest.approx(0)  # ranks (3, 2, 1) and (1.5, 3, 1.5)
    assert found["reasons"] == {
        "spearman": "left out 2 of 3 pairs of variants: the same rate at every stage"
    }


def test_without_true_positives_every_figure_has_a_reason() -> None:
    found = Localization.of(LOCATED[3:5]).as_json(Resampling(5))
    assert found["rates"] == found["unweighted"] == found["intervals"] == {"4": None}
    assert found["jsd"] is found["spearman"] is None
    assert set(found["reasons"].values()) == {"no true positives"}


def test_one_variant_has_no_consistency() -> None:
    found = Localization.of(LOCATED[:2]).as_json(Resampling(5))
    assert found["reasons"]["jsd"] == "fewer than two variants with true positives"


def test_stages_that_are_possible_but_not_named_count_with_0() -> None:
    found = Localization.of(LOCATED[:2], stages=[1, 2, 3, 4, 5])
    assert found.rates() == {2: Figure(1.0), 3: Figure(0.5), 4: Figure(0.0), 5: Figure(0.0)}
    with pytest.raises(InputError, match=r"Error stages \[3\] are named"):
        Localization.of(LOCATED[:2], stages=[2])


def configuration(value: float | None, dataset: str = "D", method: str = "m", **settings: int):
    return Configuration(dataset, method, settings, {"macro_f1": value})


def test_the_best_configuration_is_that_of_each_method_and_data_set() -> None:
    every = [
        configuration(0.5, q=1),
        configuration(0.7, q=2),
        configuration(0.7, q=3),
        configuration(None, q=4),
        configuration(0.1, "F", q=1),
        configuration(None, "F", "n"),
    ]
    best = best_configurations(every)
    assert best.keys() == {("D", "m"), ("F", "m")}
    assert best["D", "m"].configuration.settings == {"q": 2}
    assert (best["D", "m"].tied, best["D", "m"].without) == (1, 1)


def test_a_grid_has_a_place_for_every_two_settings() -> None:
    every = [configuration(0.1, q=3, limit=20), configuration(0.2, q=1, limit=160)]
    every += [configuration(None, q=1, limit=20), Configuration("D", "m", {"q": 1}, {})]
    found = grid(every, "limit", "q")
    assert (found.columns, found.rows) == ([20, 160, None], [1, 3])
    assert found.values == [[None, 0.2, None], [0.1, None, None]]
    with pytest.raises(InputError, match="Two configurations have q=1 and limit=20"):
        grid([*every, configuration(0.3, q=1, limit=20)], "limit", "q")


def test_cost_is_of_finished_claims_with_everything_that_was_paid() -> None:
    costs = [
        ClaimCost(0.2, retries_usd=0.1),
        ClaimCost(0.4, retries_usd=0.0),
        ClaimCost(0.0, retries_usd=0.0, cached_calls=3),
        ClaimCost(9.0, is_finished=False),
        ClaimCost(None),
    ]
    found = cost_per_claim(costs, extraction_usd=0.5, one_time_usd=0.25)
    assert (found.claims, found.finished, found.unpriced, found.cached) == (5, 4, 1, 1)
    assert found.processing.value == pytest.approx(0.2)
    assert found.uncached.value == pytest.approx(0.3)
    assert found.retries.value == pytest.approx(0.1 / 3)
    assert found.total.value == pytest.approx(0.3 + 0.1 + 0.05)  # as it costs anew


def test_a_cost_that_is_not_known_is_not_0() -> None:
    assert (
        cost_per_claim([ClaimCost(0.2)], one_time_usd=None).total.reason == "the price is unknown"
    )
    assert cost_per_claim([ClaimCost(0.2)]).retries.value is None
    from_cache = cost_per_claim([ClaimCost(0.0, cached_calls=1)])
    assert (from_cache.uncached.value, from_cache.total) == (None, from_cache.uncached)
    assert cost_per_claim([]).total.reason == "no finished claim with a known cost"


def test_the_cost_of_people_is_that_of_footnote_10() -> None:
    human = (human_cost_per_claim(5_200, 3_158).value, human_cost_per_claim(1_350, 560).value)
    assert human == pytest.approx((1.65, 2.41), abs=0.005)


def test_the_share_of_nodes_is_a_mean_over_claims_of_any_process() -> None:
    assert mean_share_verified([(5, 10), (1, 100)]).value == pytest.approx(0.255)
    assert mean_share_verified([(3, 10), (4, 10)]).value == share_of_nodes([3, 4], 10)
    assert mean_share_verified([]).reason == "no verified claim"


def test_an_answer_on_a_shared_index_has_the_nodes_of_the_index_and_its_own() -> None:
    draft = Draft(Header("test", process_id="p", terminals=("a1", "a2")))
    for name in ("r", "c", "m1", "m2", "n2", "a1", "a2", "unused"):
        origin = Origin.SOURCE if name in ("r", "unused") else None
        draft.node(name, f"Text of {name}.", "", origin=origin)
    edges = "r c, c m1, c m2, c n2, m1 a1, m2 a2, n2 a2, r a2"
    for source, target in (one.split() for one in edges.split(", ")):
        draft.edge(source, target, "")
    own = OwnNodes(HeldProcess.read(draft))
    # The index is r, c and unused; one map answer and the answer come on top, or two and theirs.
    assert [own.of(name) for name in ("a1", "m1", "a2", "n2", "c")] == [5, 5, 6, 6, 3]


def test_auroc_is_over_the_claims_that_all_methods_with_scores_give_one() -> None:
    claims = [
        ScoredClaim(name, label, label, method, score)
        for method, last in (("a", 0.1), ("b", None))
        for name, label, score in (("k1", FS, 0.9), ("k2", NFS, 0.2), ("k3", FS, last))
    ]
    hard_only = [ScoredClaim(name, FS, FS, "c") for name in ("k1", "k2", "k3")]
    a, b, c = scores([*claims, *hard_only])
    assert a.scored_softly == b.scored_softly == [(0.9, True), (0.2, False)]
    assert (a.auroc.value, b.auroc.value) == (1.0, 1.0)
    assert not c.has_scores


def test_what_has_no_figure_says_the_true_reason() -> None:
    left, right = scores([ScoredClaim("k1", FS, None, "a"), ScoredClaim("k2", FS, FS, "b")])
    assert {one.reason for one in left.confusion.figures().values()} == {"no claim is scored"}
    assert right.confusion.precision(NFS).reason == "no claim has the verdict NOT_FULLY_SUPPORTED"
    (compared,) = comparisons([left, right])
    assert compared.mcnemar.p_value.reason == "no claim is scored for both methods"
