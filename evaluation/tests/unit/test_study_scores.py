"""Answers of studies: time and balanced accuracy by mode, against a slow reference."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

from veritrail_eval.attribution.reading import read_attributions
from veritrail_eval.attribution.study import COLUMNS, read_answers, study_score
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.cells import guarded, unguarded


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(number: int, mode: str = "plain", label: str = "FAITHFUL", **more: Any) -> dict[str, Any]:
    given = {"study_id": "s", "process_id": "p", "reader": "Ada", "document": "n", "mode": mode,
             "sentence": number, "label": label, "seconds": "10.0"}  # fmt: skip
    return {**given, **more}


def slow_figures(rows: list[dict[str, Any]], gold: dict[int, str]) -> dict[str, dict[str, Any]]:
    """The figures as docs/evaluation-figures.md defines them."""
    found = {}
    for mode in ("plain", "highlighted"):
        mine = [one for one in rows if one["mode"] == mode]
        if not mine:
            continue
        accuracies = []
        for unsure in ("FAITHFUL", None):  # as the paper counts, and without these answers
            said = [(one, unsure if one["label"] == "UNSURE" else one["label"]) for one in mine]
            recalls = []
            for label in ("FAITHFUL", "UNFAITHFUL"):
                about = [x for one, x in said if x and gold.get(one["sentence"]) == label]
                recalls.append(about.count(label) / len(about) if about else None)
            accuracies.append(None if None in recalls else pytest.approx(sum(recalls) / 2))
        times = [float(one["seconds"]) for one in mine]
        found[mode] = {
            "answers": len(mine),
            "readers": len({one["reader"] for one in mine}),
            "unsure": sum(one["label"] == "UNSURE" for one in mine),
            "mean_seconds": pytest.approx(mean(times)),
            "median_seconds": pytest.approx(median(times)),
            "balanced_accuracy": accuracies[0],
            "balanced_accuracy_decided": accuracies[1],
        }
    return found


@pytest.mark.parametrize("seed", range(6))
def test_figures_are_those_of_a_slow_reference(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    gold = {n: draw.choice(("FAITHFUL", "UNFAITHFUL")) for n in range(12) if draw.random() < 0.8}
    rows = [
        row(n, draw.choice(("plain", "highlighted")),
            draw.choice(("FAITHFUL", "UNFAITHFUL", "UNSURE")), reader=reader,
            seconds=f"{draw.uniform(1, 99):.3f}")
        for n in range(12) for reader in ("Ada", "Bo", "Cy") if draw.random() < 0.7
    ]  # fmt: skip
    lines = [json.dumps({"id": f"n:{n}", "attributed": [], "label": label})
             for n, label in gold.items()]  # fmt: skip
    right = tmp_path / "gold.jsonl"
    right.write_text("\n".join(lines), encoding="utf-8")
    path = written(tmp_path / "answers.csv", rows)
    score = study_score(read_answers([path], read_attributions(right)), has_gold=True)
    document = score.as_json()
    expected = slow_figures(rows, gold)
    assert [one["mode"] for one in document["modes"]] == [*expected]
    for one in document["modes"]:
        known = expected[one["mode"]]
        assert {name: one[name] for name in known} == known
    assert document["unknown"] == sum(one["sentence"] not in gold for one in rows)
    if len(expected) == 2:
        means = {one["mode"]: one["mean_seconds"] for one in document["modes"]}
        saved = 1 - means["highlighted"] / means["plain"]
        assert document["seconds_saved"] == pytest.approx(saved)


def test_without_right_labels_there_is_time_and_no_accuracy(tmp_path: Path) -> None:
    rows = [row(0), row(1, mode="Plain", label="unsure", seconds="20")]
    path = written(tmp_path / "answers.csv", rows)
    document = study_score(read_answers([path], None), has_gold=False).as_json()
    (plain,) = document["modes"]
    assert (plain["mean_seconds"], plain["balanced_accuracy"]) == (15.0, None)
    assert plain["unsure"] == 1
    assert plain["reasons"]["balanced_accuracy"] == "no file of right labels was given"
    assert document["seconds_saved"] is None


def test_faults_are_listed_with_their_rows(tmp_path: Path) -> None:
    rows = [row(0), row(0), row(1, mode="loud"), row(2, label=""), row(3, seconds="-1"), row(4.5)]
    with pytest.raises(InputError) as refused:
        read_answers([written(tmp_path / "answers.csv", rows)], None)
    assert [one.where for one in refused.value.violations] == [
        "row 3, column sentence", "row 4, column mode", "row 5, column label",
        "row 6, column seconds", "row 7, column sentence",
    ]  # fmt: skip
    with pytest.raises(InputError, match="no rows"):
        read_answers([written(tmp_path / "none.csv", [])], None)


@pytest.mark.parametrize("text", ["n", "=n", "'n", "'=n", "-1", ""])
def test_a_guarded_cell_is_read_as_it_was(text: str) -> None:
    if not text.startswith("'="):  # such a text looks guarded already
        assert unguarded(guarded(text)) == text
