"""Probabilities beside annotators who differ: figures equal slow references, nothing is guessed."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.dataset_files import write_lines
from eval_fakes.judged_runs import FS, INC, NFS, JudgedRun, outcome

from veritrail_eval.annotation.final_labels import shares_of_annotators
from veritrail_eval.datasets.loading import load_dataset
from veritrail_eval.datasets.model import Annotation, AnnotatorLabel, LabelledClaim
from veritrail_eval.figures.options import Resampling
from veritrail_eval.figures.soft_labels import LEAST, SoftLabelFigures, SoftLabelled
from veritrail_eval.reporting.options import ReportOptions
from veritrail_eval.reports.writing import write_report
from veritrail_graph.graph.errors import InputError

FEW = Resampling(50, 0)
SHARES = [(k / n, max(k, n - k) / n) for n in (3, 5) for k in range(n + 1)]


def drawn(seed: int, claims: int = 60) -> list[SoftLabelled]:
    draw = random.Random(seed)
    scores = [k / 3 for k in range(4)]
    return [SoftLabelled(draw.choice(scores), *draw.choice(SHARES)) for _ in range(claims)]


@pytest.mark.parametrize("seed", range(4))
def test_figures_are_those_of_slow_references(seed: int) -> None:
    from scipy.stats import spearmanr
    from sklearn.metrics import roc_auc_score

    claims = drawn(seed)
    found = SoftLabelFigures.of(claims, FEW)
    values = {name: one.value for name, one in found.figures.items()}
    n, mean = len(claims), sum(c.supported for c in claims) / len(claims)
    bounded = [min(max(c.probability, LEAST), 1 - LEAST) for c in claims]
    pairs = list(zip(bounded, (c.supported for c in claims), strict=True))
    own = [-sum(x * math.log(x) for x in (c.supported, 1 - c.supported) if x) for c in claims]
    doubts = [round(min(c.probability, 1 - c.probability), 6) for c in claims]
    differ = [round(1 - c.majority, 6) for c in claims]
    expected = {
        "brier": sum((c.probability - c.supported) ** 2 for c in claims) / n,
        "constant_brier": sum((mean - c.supported) ** 2 for c in claims) / n,
        "cross_entropy": -sum(s * math.log(p) + (1 - s) * math.log(1 - p) for p, s in pairs) / n,
        "constant_cross_entropy": -mean * math.log(mean) - (1 - mean) * math.log(1 - mean),
        "entropy": sum(own) / n,
        "correlation": spearmanr(doubts, differ).statistic,
        "auroc_disagreed": roc_auc_score([one > 0 for one in differ], doubts),
    }
    expected["brier_gain"] = expected["constant_brier"] - expected["brier"]
    assert values == pytest.approx(expected)
    for name, one in found.intervals.items():
        ends = one.as_json()
        assert ends is not None
        assert ends[0] <= values[name] <= ends[1]


def test_the_annotators_own_shares_are_the_best_there_is() -> None:
    claims = [one._replace(probability=one.supported) for one in drawn(0)]
    values = {name: one.value for name, one in SoftLabelFigures.of(claims, FEW).figures.items()}
    assert values["brier"] == 0
    assert values["correlation"] == pytest.approx(1)
    assert values["auroc_disagreed"] == 1
    # One that is certain is charged a little, as a probability is never quite 0 or 1.
    assert values["cross_entropy"] == pytest.approx(values["entropy"], abs=-math.log(1 - LEAST))


def test_a_figure_that_is_not_there_says_why() -> None:
    sure = [SoftLabelled(1.0, 1.0, 1.0), SoftLabelled(1.0, 2 / 3, 2 / 3)]
    assert SoftLabelFigures.of(sure, FEW).figures["correlation"].reason is not None
    agreed = [SoftLabelled(0.8, 1.0, 1.0), SoftLabelled(0.2, 0.0, 1.0)]
    assert SoftLabelFigures.of(agreed, FEW).figures["auroc_disagreed"].reason is not None
    assert {one.value for one in SoftLabelFigures.of([], FEW).figures.values()} == {None}


def test_the_report_takes_scores_and_verdicts_where_there_are_none(tmp_path: Path) -> None:
    run = JudgedRun(
        tmp_path,
        {"data": {"a": FS, "b": NFS, "c": FS, "d": FS}},
        [("s", "veritrail", {"samples": 3}), ("v", "direct", {})],
    )
    path = tmp_path / "run.json"
    record = json.loads(path.read_text("utf-8"))
    shares = {
        "a": {FS: 1.0, NFS: 0.0},
        "b": {FS: 1 / 3, INC: 0.0, NFS: 2 / 3},
        "c": {FS: 0.8, INC: 0.2},
    }
    for claim in record["datasets"][0]["claims"]:
        claim["annotators"] = shares.get(claim["claim_id"])
    path.write_text(json.dumps(record), "utf-8")
    for claim, verdict, score in (
        ("a", FS, 1.0),
        ("b", NFS, 1 / 3),
        ("c", INC, 0.5),
        ("d", FS, 1.0),
    ):
        run.keep(outcome("s", claim, verdict, score=score), outcome("v", claim, verdict))
    found = write_report(tmp_path, ReportOptions(resamples=20))["datasets"][0]["soft_labels"]
    soft, hard = found["rows"]
    assert (found["claims"], found["disputed"]) == (3, 2)
    assert (soft["by_verdict"], soft["claims"], soft["left_out"]) == (False, 3, 0)
    assert soft["brier"] == pytest.approx((0.5 - 0.8) ** 2 / 3)
    assert (hard["by_verdict"], hard["claims"], hard["left_out"]) == (True, 2, 1)
    assert hard["brier"] == pytest.approx((1 / 3) ** 2 / 2)
    assert (hard["cross_entropy"], hard["reasons"]["correlation"]) == (
        None, "verdicts are no probabilities",
    )  # fmt: skip
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "3 claims with several annotators; they differ on 2." in text
    assert "| direct (), by verdicts | 2 | 0.056" in text
    path.write_text(json.dumps(record).replace("0.8", "1.8"), "utf-8")
    with pytest.raises(InputError, match=r"run\.json cannot be read") as raised:
        write_report(tmp_path, ReportOptions(resamples=20))
    assert "claims.2.annotators: the share of 'FULLY_SUPPORTED' is 1.8" in str(
        raised.value.violations[0]
    )


def _claim(*labels: AnnotatorLabel, **more: Any) -> LabelledClaim:
    said = tuple(
        Annotation(annotator=f"a{number}", label=label) for number, label in enumerate(labels)
    )
    return LabelledClaim(process_id="p", claim_id="k", text="It is.", labels=said, **more)


def test_one_annotator_and_labels_of_some_annotators_are_no_distribution(tmp_path: Path) -> None:
    half = {FS: 0.5, INC: 0.0, NFS: 0.5}
    yes, no = AnnotatorLabel.ALL_SUPPORTED, AnnotatorLabel.REFUTED
    assert shares_of_annotators(_claim(yes, no, label_distribution=half)) == half
    assert shares_of_annotators(_claim(label_distribution=half)) == half
    assert shares_of_annotators(_claim(yes, label_distribution={FS: 1.0})) is None
    assert shares_of_annotators(_claim(yes, no)) is None
    said = [{"worker_id": n, "response": "yes" if n else "no"} for n in range(3)]
    row = {"article": "It is.", "summary_sentences": [{"sentence": "It is.", "responses": said}]}
    (claim,) = load_dataset(write_lines(tmp_path / "mturk_ports.jsonl", [row])).claims
    shares = shares_of_annotators(claim)
    assert shares is not None
    assert dict(shares) == pytest.approx({FS: 2 / 3, NFS: 1 / 3, INC: 0})
