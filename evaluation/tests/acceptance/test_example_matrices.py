"""The matrices of examples/evaluation, run unchanged on both samples: every row of the tables.

Both runs take seconds of processor time, because they hold each configuration of the paper.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES
from acceptance.model_fixtures import asking
from eval_fakes.embedding_server import EmbeddingModelServer
from fakes.entailment import tiny_model
from fakes.model_answers import content_words
from fakes.model_prompts import VERDICT

SAMPLES = {"harbour": "harbour-summary.json", "energy": "graphrag-energy.json"}
TRUE_FALSE = ", True/False"
FS, NFS = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"


@dataclass(frozen=True)
class Ran:
    """A run: what the command printed, its folder, and what the server was asked."""

    told: dict[str, Any]
    folder: Path
    server: EmbeddingModelServer

    def verdicts(self) -> dict[tuple[str, str, int | None], dict[str, str]]:
        """The verdict of each claim by data set, label of the method and k."""
        lines = (self.folder / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
        outcomes = [one for one in map(json.loads, lines) if "outcome" in one]
        key = {row["configuration_id"]: row for row in self.told["configurations"]}
        found: dict[tuple[str, str, int | None], dict[str, str]] = defaultdict(dict)
        for one in outcomes:
            row = key[one["configuration"]]
            name = (one["dataset"], row["label"], row["parameters"].get("k"))
            found[name][one["outcome"]["claim_id"]] = one["outcome"]["verdict"]
        return found


pytestmark = pytest.mark.soak  # 855 outcomes of a paid-model matrix take half a minute


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Veritrail:
    """The command with a home of its own; an evaluation starts no engine."""
    return Veritrail(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def ran(alone: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """`paper.toml` against the scripted server: 855 outcomes, 1,100 calls."""
    folder = tmp_path_factory.mktemp("paper") / "out"
    matrix = str(EXAMPLES / "evaluation" / "paper.toml")
    with EmbeddingModelServer() as server:
        settings = {"VERITRAIL_EMBEDDING_MODEL": "words", "VERITRAIL_EMBEDDING_PRICE": "0.1"}
        asked = ("eval", "run", matrix, "-o", str(folder), "--price", "1,2", "--json")
        ended = alone(*asked, **asking(server), **settings)
    return Ran(ended.json, folder, server)


def sample(name: str) -> dict[str, Any]:
    """A sample file."""
    found: dict[str, Any] = json.loads((EXAMPLES / SAMPLES[name]).read_text(encoding="utf-8"))
    return found


def in_sources(name: str) -> dict[str, str]:
    """What a reader of all source text says by words: whether it holds every word of a claim."""
    process = sample(name)
    texts = [node["text"] for node in process["nodes"] if node["stage"] == 1]
    said = content_words(" ".join(texts))
    return {
        one["claim_id"]: FS if content_words(one["text"]) <= said else NFS
        for one in process["claims"]
        if one["label"] in (FS, NFS)
    }


def test_the_paper_has_all_its_rows_on_both_samples(ran: Ran) -> None:
    plain = [("veritrail", {"q": q}) for q in (1, 3)]
    plain += [("vt_rag", {"k": k}) for k in (5, 15, 25)]
    plain += [("rag", {"k": k}) for k in (1, 3, 5, 10, 15, 20, 25, 30)]
    plain += [("direct", {})]
    words = [("veritrail", {"q": 1}), *(("rag", {"k": k}) for k in (3, 5, 10)), ("direct", {})]
    named = [(name, {**more, "engine": "openai"}) for name, more in plain]
    asked = {"engine": "openai", "prompts": "true_false"}
    named += [(name + TRUE_FALSE, {**more, **asked}) for name, more in words]
    rows = ran.told["configurations"]
    for dataset in SAMPLES:
        own = [row for row in rows if row["dataset"] == dataset]
        assert [(row["label"], row["parameters"]) for row in own] == named
    assert ran.told["judged"] == sum(row["claims"] for row in rows) == len(named) * (23 + 22)
    assert all(row["finished"] == row["scored"] == row["claims"] for row in rows)
    assert not any(row["indicative"] for row in rows)
    # Few chunks: a larger k may ask what a smaller one has asked, and the cache answers.
    assert all(row["processing_cost"] > 0 or row["cached"] == row["finished"] for row in rows)
    assert all(row["cost_per_claim"] > 0 for row in rows)
    for dataset in SAMPLES:
        paid = {
            row["label"] for row in rows if row["dataset"] == dataset if row["preparation_cost"]
        }
        assert paid
        assert paid <= {"vt_rag", "rag", "rag" + TRUE_FALSE}


@pytest.mark.parametrize("name", SAMPLES)
def test_methods_that_read_all_source_text_say_what_it_holds(ran: Ran, name: str) -> None:
    expected = in_sources(name)
    assert set(expected.values()) == {FS, NFS}
    verdicts = ran.verdicts()
    roots = sum(node["stage"] == 1 for node in sample(name)["nodes"])
    same = [(name, "direct", None), (name, "direct" + TRUE_FALSE, None)]
    same += [(name, "rag", k) for k in (1, 3, 5, 10, 15, 20, 25, 30) if k >= roots]
    assert len(same) > 2
    for key in same:
        assert verdicts[key] == expected, key
    # More chunks hold more words, and the reader of words says no other thing of a longer text.
    for fewer, more in ((1, 3), (3, 5), (5, 10), (10, 15)):
        found = [{c for c, v in verdicts[name, "rag", k].items() if v == FS} for k in (fewer, more)]
        assert found[0] <= found[1]
    for k in (3, 5, 10):
        assert verdicts[name, "rag" + TRUE_FALSE, k] == verdicts[name, "rag", k]


def test_figures_are_those_of_the_labels_and_verdicts(ran: Ran) -> None:
    from sklearn.metrics import balanced_accuracy_score, f1_score

    verdicts = ran.verdicts()
    for row in ran.told["configurations"]:
        if row["label"].startswith("veritrail"):
            continue  # q tells them apart, and the key does not hold it
        claims = {one["claim_id"]: one["label"] for one in sample(row["dataset"])["claims"]}
        found = verdicts[row["dataset"], row["label"], row["parameters"].get("k")]
        labels, said = [claims[one] for one in found], list(found.values())
        assert row["macro_f1"] == pytest.approx(f1_score(labels, said, average="macro"))
        assert row["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(labels, said))


def test_the_report_has_the_tables_of_the_paper(ran: Ran) -> None:
    report = (ran.folder / "report.md").read_text(encoding="utf-8")
    for part in ("Hard prediction", "Tracing and selection of evidence", "Parameters", "Cost"):
        assert report.count(f"### {part}") == len(SAMPLES), part
    assert "### Error stages" in report
    for one in ran.server.of(VERDICT):
        assert ("true or false" in one.system.lower()) != ("JSON" in one.system)


def test_the_checkers_run_with_any_entailment_model(alone: Veritrail, tmp_path: Path) -> None:
    texts = [node["text"] for name in SAMPLES for node in sample(name)["nodes"]]
    model = tiny_model(tmp_path / "tiny", texts)
    matrix = str(EXAMPLES / "evaluation" / "checkers.toml")
    asked = ("eval", "run", matrix, "-o", str(tmp_path / "out"), "--json")
    rows = alone(*asked, VERITRAIL_NLI_MODEL=str(model)).json["configurations"]
    counted = Counter((row["dataset"], row["label"]) for row in rows)
    grid = {"infuse": 5, "alignscore": 15 * 5, "minicheck": 5 * 5}
    assert counted == {(name, label): grid[label] for name, label in product(SAMPLES, grid)}
    assert all(row["finished"] == row["claims"] for row in rows)
    assert all(0 <= row["auroc"] <= 1 and not math.isnan(row["auroc"]) for row in rows)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert report.count("### Soft prediction") == len(SAMPLES)


def test_one_run_holds_every_table_of_the_paper(alone: Veritrail, tmp_path: Path) -> None:
    """`all-tables.toml`: language models and checkers in one table, as in Table 1."""
    texts = [node["text"] for name in SAMPLES for node in sample(name)["nodes"]]
    model = tiny_model(tmp_path / "tiny", texts)
    matrix, folder = str(EXAMPLES / "evaluation" / "all-tables.toml"), tmp_path / "out"
    with EmbeddingModelServer() as server:
        settings = {"VERITRAIL_EMBEDDING_MODEL": "words", "VERITRAIL_EMBEDDING_PRICE": "0.1"}
        asked = ("eval", "run", matrix, "-o", str(folder), "--price", "1,2", "--json")
        told = alone(*asked, **asking(server), **settings, VERITRAIL_NLI_MODEL=str(model)).json
    rows = told["configurations"]
    counted = Counter((row["dataset"], row["label"]) for row in rows)
    asking_models = {
        "veritrail": 5, "vt_rag": 3, "rag": 8, "direct": 1, "veritrail, limits": 5,
        "veritrail, three samples": 3, "rag, three samples": 8, "direct, three samples": 1,
        "veritrail" + TRUE_FALSE: 1, "rag" + TRUE_FALSE: 3, "direct" + TRUE_FALSE: 1,
    }  # fmt: skip
    one = {**asking_models, "infuse": 5, "alignscore": 75, "minicheck": 25}
    pairs = {**one, "minicheck": 75}
    expected = {("harbour", name): count for name, count in one.items()}
    assert counted == expected | {("energy", name): count for name, count in pairs.items()}
    checkers = [row for row in rows if row["method"] in ("infuse", "alignscore", "minicheck")]
    assert {(row["dataset"], row["parameters"].get("documents")) for row in checkers} == {
        ("harbour", "one"), ("energy", "all"),
    }  # fmt: skip
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for dataset in report["datasets"]:
        best = {row["title"].partition(" (")[0] for row in dataset["best"]["rows"]}
        assert best == set(one)
        assert dataset["ablation"] is not None
    soft = {row["label"] for row in rows if row["auroc"] is not None}
    assert soft == {name for name in one if "three samples" in name} | {
        "infuse", "alignscore", "minicheck",
    }  # fmt: skip
