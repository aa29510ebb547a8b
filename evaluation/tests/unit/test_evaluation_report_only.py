"""A report of some methods of a run: the others take no claim away from its tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from eval_fakes.judged_runs import random_run
from unit.test_evaluation_report import FEW, judged, rows_of

from veritrail_eval.figures.scores import scores
from veritrail_eval.reports.writing import write_report
from veritrail_graph.graph.errors import InputError


def test_a_report_of_some_methods_knows_nothing_of_the_others(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    random_run(folder)
    document = write_report(folder, FEW)
    before = (folder / "report.json").read_bytes()
    label = document["configurations"][0]["label"]
    kept = [one for one in document["configurations"] if one["label"] == label]
    assert 0 < len(kept) < len(document["configurations"])
    found = write_report(folder, FEW.replace(only=(label,)), tmp_path / "one")
    assert {one["label"] for one in found["configurations"]} == {label}
    names = {one["configuration_id"] for one in kept}
    expected = {one.method: one for one in scores(judged(rows_of(folder), names))}
    for one in found["configurations"]:
        assert one["excluded"] == expected[one["configuration_id"]].excluded.as_json()
        assert one["macro_f1"] == expected[one["configuration_id"]].confusion.macro_f1.value
    assert Path(found["report"]) == tmp_path / "one" / "report.html"
    assert (folder / "report.json").read_bytes() == before
    with pytest.raises(InputError, match="No method of the run is labelled 'nope'; there are"):
        write_report(folder, FEW.replace(only=("nope",)), tmp_path / "none")
    assert not (tmp_path / "none").exists()
