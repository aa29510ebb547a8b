"""`veritrail eval score`, `agreement` and `localization`: the contract, and what people read."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.command import Veritrail

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "evaluation"
VERDICTS, ANNOTATIONS, STAGES = (
    str(EXAMPLES / f"{name}.csv") for name in ("verdicts", "annotations", "stages")
)
METHOD_KEYS = {
    "method", "claims", "scored", "excluded", "macro_f1", "balanced_accuracy", "precision",
    "recall", "auroc", "auroc_claims", "cost_per_claim",
}  # fmt: skip
CLASSES = {"FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"}


@pytest.fixture(scope="module")
def veritrail(tmp_path_factory: pytest.TempPathFactory) -> Veritrail:
    """The command with a home in which nothing is ever made: files are all that it needs."""
    return Veritrail(tmp_path_factory.mktemp("eval") / "home")


def test_score_has_the_keys_of_the_contract(veritrail: Veritrail) -> None:
    document = veritrail("eval", "score", VERDICTS, "--json").json
    assert document.keys() == {"methods"}
    assert [one["method"] for one in document["methods"]] == ["veritrail", "retrieval"]
    for one in document["methods"]:
        assert one.keys() == METHOD_KEYS
        assert one["excluded"].keys() == {"inconclusive", "no_verdict", "no_label"}
        assert one["precision"].keys() == one["recall"].keys() == CLASSES
        assert one["claims"] == one["scored"] + sum(one["excluded"].values())
    assert not veritrail.home.exists()


def test_inconclusive_claims_are_treated_as_chosen(veritrail: Veritrail) -> None:
    def scored(*options: str) -> list[int]:
        document = veritrail("eval", "score", VERDICTS, "--json", *options).json
        return [one["scored"] for one in document["methods"]]

    assert scored() == scored("--inconclusive", "any") == [37, 36]
    assert scored("--inconclusive", "own") == [38, 37]
    assert scored("--inconclusive", "not-supported") == [39, 38]
    assert "any" in veritrail("eval", "score", VERDICTS, "--inconclusive", "some", status=2).err


def test_more_keys_come_with_options_only(veritrail: Veritrail) -> None:
    options = ["--intervals", "--compare", "--resamples", "50", "--seed", "3", "--json"]
    document = veritrail("eval", "score", VERDICTS, *options).json
    assert document == veritrail("eval", "score", VERDICTS, *options).json
    (compared,) = document["comparisons"]
    assert compared.keys() == {"methods", "claims", "b", "c", "test", "p_value"}
    for one in document["methods"]:
        low, high = one["intervals"]["macro_f1"]
        assert low <= one["macro_f1"] <= high


def test_people_read_the_same_figures(veritrail: Veritrail) -> None:
    shown = veritrail("eval", "score", VERDICTS, "--compare", "--intervals", "--resamples", "20")
    assert "veritrail      37  0.894" in shown.out
    assert "only first right" in shown.out
    assert (
        "retrieval: of 40 claims left out: 2 inconclusive, 1 no_verdict, 1 no_label." in shown.err
    )
    shown = veritrail("eval", "agreement", ANNOTATIONS)
    assert "Krippendorff's alpha (nominal)  0.737" in shown.out
    shown = veritrail("eval", "localization", STAGES, "--resamples", "20")
    assert "all, weighted" in shown.out
    assert "Spearman" in shown.err


def test_a_figure_that_is_missing_is_null_with_its_reason(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    path = tmp_path / "one.csv"
    path.write_text("claim_id,label,verdict\nk,FULLY_SUPPORTED,FULLY_SUPPORTED\n", encoding="utf-8")
    (one,) = veritrail("eval", "score", str(path), "--json").json["methods"]
    assert one["macro_f1"] is one["balanced_accuracy"] is one["auroc"] is None
    assert one["reasons"]["macro_f1"] == "one class only"
    assert one["reasons"]["auroc"] == "no scores"
    assert "macro_f1: one class only" in veritrail("eval", "score", str(path)).err


def test_agreement_has_the_keys_of_the_contract(veritrail: Veritrail) -> None:
    document = veritrail("eval", "agreement", ANNOTATIONS, "--json").json
    keys = {"units", "annotators", "krippendorff_alpha", "level", "cohen_kappa"}
    assert document.keys() == keys
    assert (document["units"], document["annotators"], document["level"]) == (20, 3, "nominal")
    assert document["cohen_kappa"].keys() == {"ann|ben", "ann|cleo", "ben|cleo"}
    ordinal = veritrail("eval", "agreement", ANNOTATIONS, "--level", "ordinal", "--json").json
    assert ordinal["level"] == "ordinal"
    assert ordinal["krippendorff_alpha"] != document["krippendorff_alpha"]


def test_localization_has_the_keys_of_the_contract(veritrail: Veritrail) -> None:
    document = veritrail("eval", "localization", STAGES, "--seed", "4", "--json").json
    assert document.keys() == {"variants", "rates", "unweighted", "intervals", "jsd", "spearman"}
    for one in document["variants"]:
        assert one.keys() == {"variant", "true_positives", "rates"}
        assert one["rates"].keys() == {"2", "3", "4"}
    for stage, (low, high) in document["intervals"].items():
        assert low <= document["rates"][stage] <= high
    assert 0 <= document["jsd"] <= 1
    again = veritrail("eval", "localization", STAGES, "--seed", "5", "--json").json
    assert again.pop("intervals") != document.pop("intervals")
    assert again == document


def test_stages_may_be_named(veritrail: Veritrail) -> None:
    call = ["eval", "localization", STAGES, "--json"]
    assert list(veritrail(*call, "--stages", "2,3,4,5").json["rates"]) == ["2", "3", "4", "5"]
    assert list(veritrail(*call, "--root-stage", "2").json["rates"]) == ["3", "4"]
    assert "must be whole numbers" in veritrail(*call, "--stages", "two", status=2).message


def test_bad_rows_are_violations(veritrail: Veritrail, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("claim_id,label,verdict,score\nk,GOOD,,9\n", encoding="utf-8")
    ended = veritrail("eval", "score", str(path), "--json", status=2)
    places = [one["where"] for one in ended.violations]
    assert places == ["row 2, column label", "row 2, column score"]
    assert "row 2, column label: 'GOOD' is none of" in ended.err
