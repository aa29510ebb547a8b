"""Figures equal those of scikit-learn, statsmodels, krippendorff and SciPy, and some by hand."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from veritrail_eval.figures.agreement import Annotation, AnnotatorAgreement
from veritrail_eval.figures.alpha import Level, krippendorff_alpha, unit_of
from veritrail_eval.figures.auroc import auroc
from veritrail_eval.figures.bootstrap import intervals, percentile
from veritrail_eval.figures.confusion import CLASSES, Confusion
from veritrail_eval.figures.divergence import jensen_shannon, spearman
from veritrail_eval.figures.figure import Figure, mean
from veritrail_eval.figures.mcnemar import McNemar, chi2, exact
from veritrail_eval.figures.options import Resampling
from veritrail_graph.graph.agreement import cohen_kappa
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

FS, NFS, INC = Verdict
SEEDS = range(4)


def two_classes(rng: random.Random, skew: float) -> tuple[list[Verdict], list[Verdict]]:
    """Labels and verdicts with claims of both labels."""
    size = rng.randint(2, 80)
    labels = [FS, NFS] + [FS if rng.random() < skew else NFS for _ in range(size)]
    return labels, [FS if rng.random() < skew else NFS for _ in labels]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("skew", [0.1, 0.5, 0.95])
def test_hard_figures_are_those_of_scikit_learn(seed: int, skew: float) -> None:
    from sklearn import metrics

    labels, verdicts = two_classes(random.Random(seed), skew)
    figures = Confusion.of(zip(labels, verdicts, strict=True)).figures()
    about = {"y_true": labels, "y_pred": verdicts}
    assert figures["macro_f1"].value == pytest.approx(
        metrics.f1_score(**about, average="macro", zero_division=0)
    )
    assert figures["balanced_accuracy"].value == pytest.approx(
        metrics.balanced_accuracy_score(**about)
    )
    precision, recall, _, _ = metrics.precision_recall_fscore_support(
        **about, labels=list(CLASSES), zero_division=0
    )
    for place, name in enumerate(CLASSES):
        assert (figures[f"precision.{name}"].value or 0) == pytest.approx(precision[place])
        assert (figures[f"precision.{name}"].value is None) == (name not in verdicts)
        assert figures[f"recall.{name}"].value == pytest.approx(recall[place])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("digits", [0, 1, 6])
def test_auroc_is_that_of_scikit_learn(seed: int, digits: int) -> None:
    from sklearn import metrics

    rng = random.Random(seed)
    supported = [True, False] + [rng.random() < 0.7 for _ in range(rng.randint(0, 60))]
    scores = [round(rng.random(), digits) for _ in supported]
    expected = metrics.roc_auc_score(supported, scores)
    assert auroc(zip(scores, supported, strict=True)).value == pytest.approx(expected)


def test_the_positive_class_is_not_fully_supported_but_for_auroc() -> None:
    cells = Confusion.of(
        [(NFS, NFS), (FS, NFS), (FS, NFS), (FS, FS), (FS, FS), (FS, FS), (NFS, FS)]
    )
    assert cells == Confusion(
        true_positives=1, false_positives=2, true_negatives=3, false_negatives=1
    )
    assert auroc([(0.9, True), (0.1, False)]).value == 1


@pytest.mark.parametrize(
    ("pairs", "reason"), [([], "no claim is scored"), ([(FS, FS), (FS, NFS)], "one class only")]
)
def test_without_both_labels_there_are_no_means_over_classes(
    pairs: list[tuple[Verdict, Verdict]], reason: str
) -> None:
    cells = Confusion.of(pairs)
    assert cells.macro_f1 == cells.balanced_accuracy == Figure(None, reason)
    why = "no claim has the label NOT_FULLY_SUPPORTED" if pairs else reason
    assert cells.recall(NFS) == Figure(None, why)
    assert auroc([(0.5, True)] * len(pairs)) == Figure(None, reason)


def test_a_class_that_is_never_called_has_no_precision_and_an_f1_of_0() -> None:
    cells = Confusion.of([(FS, FS), (FS, FS), (NFS, FS)])
    assert cells.precision(NFS) == Figure(None, "no claim has the verdict NOT_FULLY_SUPPORTED")
    assert cells.macro_f1.value == pytest.approx(0.4)  # (2 * 2 / 5 + 0) / 2


@pytest.mark.parametrize(("b", "c"), [(0, 1), (3, 3), (8, 1), (1, 40), (300, 250), (0, 999)])
def test_mcnemar_is_that_of_statsmodels(b: int, c: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

    table = [[5, b], [c, 7]]
    assert exact(b, c) == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-9)
    expected = statsmodels_mcnemar(table, exact=False, correction=True).pvalue
    assert chi2(b, c) == pytest.approx(expected)
    assert McNemar(b, c).p_value.value == exact(b, c)


def test_mcnemar_says_which_test_it_is() -> None:
    assert McNemar(600, 400).test == "exact"
    assert McNemar(600, 401).test == "chi2"
    assert McNemar(600, 401).p_value.value == chi2(600, 401)
    assert McNemar(0, 0).p_value.reason == "both methods are right and wrong on the same claims"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_alpha_is_that_of_krippendorff(seed: int, level: Level) -> None:
    import krippendorff
    import numpy as np

    rng = random.Random(seed)
    units, labels = rng.randint(3, 30), rng.randint(2, 5)
    values = [  # one row an annotator; -1: no label
        [rng.choice([-1, *range(labels)]) for _ in range(units)] for _ in range(rng.randint(2, 6))
    ]
    values[0][0], values[1][0] = 0, 1  # two labels, at least
    counted = Counter(
        unit_of(value for value in column if value >= 0) for column in zip(*values, strict=True)
    )
    expected = krippendorff.alpha(
        np.where(np.array(values) < 0, np.nan, np.array(values)),
        level_of_measurement=level,
        value_domain=range(labels),
    )
    assert krippendorff_alpha(counted, level).value == pytest.approx(expected)


def test_alpha_by_hand() -> None:
    # Two annotators, four units: aa, aa, bb, ab. Coincidences: aa 4, bb 2, ab and ba 1 each.
    # Observed disagreement 2/8; expected (2 * 5 * 3) / (8 * 7); alpha = 1 - (1/4) / (30/56).
    units = Counter([unit_of([0, 0]), unit_of([0, 0]), unit_of([1, 1]), unit_of([0, 1])])
    assert krippendorff_alpha(units, "nominal").value == pytest.approx(1 - 0.25 / (30 / 56))


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([], "no claim has labels of two annotators"),
        ([unit_of([1])], "no claim has labels of two annotators"),
        ([unit_of([1, 1]), unit_of([2])], "one label only"),
    ],
)
def test_alpha_needs_pairs_and_two_labels(
    units: list[tuple[tuple[int, int], ...]], reason: str
) -> None:
    assert krippendorff_alpha(Counter(units), "nominal") == Figure(None, reason)


@pytest.mark.parametrize("seed", SEEDS)
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    from sklearn import metrics

    rng = random.Random(seed)
    first = ["a", "b", *(rng.choice("abc") for _ in range(30))]
    second = [rng.choice([label, "a", "c"]) for label in first]
    expected = metrics.cohen_kappa_score(first, second)
    assert cohen_kappa(Counter(zip(first, second, strict=True))) == pytest.approx(expected)


def test_kappas_are_over_the_claims_that_both_labelled() -> None:
    given = [
        ("k1", "b", "x"),
        ("k1", "a", "x"),
        ("k2", "a", "y"),
        ("k2", "b", "y"),
        ("k3", "a", "y"),
    ]
    given += [("k4", "c", "x")]
    found = AnnotatorAgreement([Annotation(*one) for one in given], ["x", "y"], "nominal")
    assert found.kappas() == {
        ("a", "b"): Figure(1.0),
        ("a", "c"): Figure(None, "no claim in common"),
        ("b", "c"): Figure(None, "no claim in common"),
    }
    assert found.single == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_divergence_and_correlation_are_those_of_scipy(seed: int) -> None:
    from scipy.spatial.distance import jensenshannon
    from scipy.stats import spearmanr

    rng = random.Random(seed)
    size = rng.randint(2, 7)
    first = [rng.choice([0, 0.2, 0.2, rng.random()]) for _ in range(size)] + [0.3]
    second = [rng.choice([0, 0.2, 0.2, rng.random()]) for _ in range(size)] + [0.1]
    first[0], second[0] = 0.9, 0.8  # neither is the same everywhere
    expected = jensenshannon(first, second, base=2) ** 2
    assert jensen_shannon(first, second).value == pytest.approx(expected)
    assert spearman(first, second).value == pytest.approx(spearmanr(first, second).statistic)


def test_divergence_is_from_0_to_1_and_the_scale_does_not_count() -> None:
    assert jensen_shannon([1, 0], [0, 1]).value == 1
    assert jensen_shannon([0.2, 0.4], [0.4, 0.8]).value == pytest.approx(0)


def test_what_has_no_ranking_has_no_correlation() -> None:
    assert spearman([0.5, 0.5], [0.1, 0.2]) == Figure(None, "the same rate at every stage")
    assert spearman([0.5], [0.1]) == Figure(None, "fewer than two stages")
    assert jensen_shannon([0, 0], [1, 0]) == Figure(None, "all rates are 0")


@pytest.mark.parametrize("at", [0.0, 0.025, 0.5, 0.975, 1.0])
def test_percentiles_are_those_of_numpy(at: float) -> None:
    import numpy as np

    for size in (1, 2, 7, 1_000):
        rng = random.Random(size)
        values = sorted(rng.random() for _ in range(size))
        assert percentile(values, at) == pytest.approx(np.quantile(values, at))


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    # Coverage of the mean of 60 draws of 0 or 1 at 0.6, over 100 samples: 95 %, give or take.
    rng = random.Random(1)
    covered = 0
    for seed in range(100):
        units = [int(rng.random() < 0.6) for _ in range(60)]
        one = intervals(units, _mean_of, Resampling(100, seed))["mean"]
        assert one.low is not None
        assert one.high is not None
        covered += one.low <= 0.6 <= one.high
    assert 0.88 <= covered / 100 <= 0.99


def test_the_same_seed_gives_the_same_interval() -> None:
    units = list(range(40))
    ends = [intervals(units, _mean_of, Resampling(50, seed))["mean"] for seed in (3, 3, 4)]
    assert ends[0] == ends[1] != ends[2]


def test_resamples_without_the_figure_are_counted() -> None:
    def auroc_of(drawn: dict[tuple[float, bool], int]) -> dict[str, Figure]:
        return {"auroc": auroc(Counter(drawn).elements())}

    one = intervals([(0.1, False), (0.9, True)], auroc_of, Resampling(400))["auroc"]
    assert (one.low, one.high) == (1, 1)
    assert 140 < one.undefined < 260  # half of the draws have one class only
    none = intervals([(0.9, True)], auroc_of, Resampling(10))["auroc"]
    assert (none.as_json(), none.undefined) == (None, 10)
    assert intervals([], _mean_of, Resampling(10))["mean"].as_json() is None


def test_at_least_one_resample_is_needed() -> None:
    with pytest.raises(InputError, match="--resamples 0"):
        Resampling(0)


def _mean_of(drawn: dict[int, int]) -> dict[str, Figure]:
    return {"mean": mean(Counter(drawn).elements(), "nothing")}


def test_every_pair_of_label_and_verdict_has_a_cell() -> None:
    cells = Confusion.of(product(CLASSES, CLASSES))
    assert cells == Confusion(1, 1, 1, 1)
    assert cells.claims == 4
