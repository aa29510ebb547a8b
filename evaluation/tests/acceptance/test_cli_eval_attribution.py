"""`veritrail eval attribution`: the contract, and what people read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import MODEL, asking
from fakes import attributing
from fakes.entailment import tiny_model
from fakes.model_server import ModelServer

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
GOLD = str(EXAMPLES / "evaluation" / "attribution-gold.jsonl")
PREDICTED = str(EXAMPLES / "evaluation" / "attribution-predicted.json")
SOURCES = str(EXAMPLES / "harbour-summary.json")
KEYS = {
    "sentences", "missing", "macro_precision", "macro_recall", "macro_f1", "iou",
    "kappa_categories",
}  # fmt: skip


@pytest.fixture(scope="module")
def veritrail(tmp_path_factory: pytest.TempPathFactory) -> Veritrail:
    """The command with a home in which nothing is ever made: files are all that it needs."""
    return Veritrail(tmp_path_factory.mktemp("eval") / "home")


def test_the_keys_are_those_of_the_contract(veritrail: Veritrail) -> None:
    ended = veritrail("eval", "attribution", GOLD, PREDICTED, "--json")
    assert ended.json.keys() == KEYS | {"reasons"}
    assert (ended.json["sentences"], ended.json["missing"]) == (21, 1)
    assert ended.json["reasons"].keys() == {"iou"}
    assert "1 sentence(s) ('final:24')" in ended.err
    assert "1 of them failed" in ended.err
    whole = veritrail("eval", "attribution", GOLD, PREDICTED, "--sources", SOURCES, "--json")
    assert whole.json.keys() == KEYS
    assert whole.json["iou"] == pytest.approx(0.723, abs=1e-3)
    same = veritrail("eval", "attribution", PREDICTED, PREDICTED, "--json").json
    assert [same[key] for key in sorted(KEYS - {"sentences", "missing"})] == [1.0] * 5
    assert not veritrail.home.exists()


def test_more_keys_come_with_options_only(veritrail: Veritrail, tmp_path: Path) -> None:
    options = ["--unfaithful", "--labels", "--linked", "--sources", SOURCES, "--intervals"]
    options += ["--compare", GOLD, "--resamples", "200", "-o", str(tmp_path / "out"), "--json"]
    document = veritrail("eval", "attribution", GOLD, PREDICTED, *options).json
    assert document.keys() == KEYS | {"intervals", "unfaithful", "labels", "linked", "comparison"}
    low, high = document["intervals"]["macro_f1"]
    assert low <= document["macro_f1"] <= high
    assert document["labels"]["judged"]["balanced_accuracy"] == 0.875
    assert document["unfaithful"]["sentences"] == 8
    assert document["comparison"]["figures"].keys() == {
        "macro_precision", "macro_recall", "macro_f1"
    }  # fmt: skip
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"figures.csv", "sentences.csv", "tenths.csv", "tenths.svg"}


def test_people_read_the_same_figures(veritrail: Veritrail) -> None:
    options = ["--sources", SOURCES, "--unfaithful", "--labels", "--linked", "--compare", GOLD]
    shown = veritrail("eval", "attribution", GOLD, PREDICTED, *options)
    for text in ("macro_f1", "0.768", "balanced accuracy, judged labels", "tenth 10", "0.0020"):
        assert text in shown.out
    assert "21 sentences, 1 missing." in shown.err


def test_a_judge_is_tried_in_every_set_up(veritrail: Veritrail, tmp_path: Path) -> None:
    gold, sources = str(attributing.GOLD), str(attributing.SAMPLE)
    asked = ["eval", "faithfulness", gold, "--sources", sources]
    sizes = ["--documents", "1", "--documents", "6", "--others", SOURCES]
    with ModelServer(attributing.AttributionReader()) as server:
        ended = veritrail(*asked, *sizes, "--json", "-o", str(tmp_path / "out"), **asking(server))
        sent = len(server.requests)
        shown = veritrail(*asked, *sizes, **asking(server))
        assert len(server.requests) == sent == 4 * 6 + 5
    found = {(one["set_up"], one["documents"]): one for one in ended.json["set_ups"]}
    assert list(found) == [
        ("plain", 1), ("highlighted", 1), ("plain", 6), ("highlighted", 6),
        ("attribution", None), ("mixed", 1),
    ]  # fmt: skip
    assert {one["balanced_accuracy"] for one in found.values()} == {1.0}
    assert (ended.json["judge"], ended.json["sentences"]) == (MODEL, 6)
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"set-ups.csv", "set-ups.svg", "labels.csv"}
    assert "mixed" in shown.out
    texts = [one["text"] for one in json.loads(attributing.SAMPLE.read_text("utf-8"))["nodes"]]
    tiny = {"VERITRAIL_NLI_MODEL": str(tiny_model(tmp_path / "tiny", texts))}
    ended = veritrail(*asked, "--judge-with", "alignscore", "--json", **tiny)
    assert [one["set_up"] for one in ended.json["set_ups"]] == ["plain", "attribution", "mixed"]
    for options, message in (
        (["--documents", "10"], "8 are needed"),
        (["--judge-with", "alignscore", "--mode", "highlighted"], "takes no instructions"),
        (["--judge-threshold", "0.5"], "of a judge with scores"),
        (["--engine", "lexical"], "needs a language model"),
    ):
        assert message in veritrail(*asked, *options, "--json", status=2, **tiny).message
    with ModelServer(attributing.AttributionReader(), key="another") as server:
        refused = veritrail(*asked, "--no-cache", "--json", status=3, **asking(server))
    assert all(one["balanced_accuracy"] is None for one in refused.json["set_ups"][:2])


def test_bad_files_are_violations(veritrail: Veritrail, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "attributed": [["c", -1]]}\n{"id": 1}\n', encoding="utf-8")
    ended = veritrail("eval", "attribution", GOLD, str(bad), "--json", status=2)
    assert [one["where"] for one in ended.violations] == ["line 1, attributed[0]", "line 2"]
    assert "--sources" in veritrail("eval", "attribution", GOLD, GOLD, "--linked", status=2).err
    failed = tmp_path / "failed.jsonl"
    line = {"id": "a", "attributed": [], "status": "failed"}
    failed.write_text(json.dumps(line), encoding="utf-8")
    ended = veritrail("eval", "attribution", str(failed), GOLD, status=2)
    assert "no sentence with an attribution" in ended.err
