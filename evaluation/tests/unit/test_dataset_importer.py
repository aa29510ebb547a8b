"""A data set as an input: each of its processes, from its line or from a file beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.dataset import DatasetImporter
from veritrail_graph.graph.importers.registry import find_processes, importers
from veritrail_graph.verifier.held_process import HeldProcess

HEADER = {
    "format": "veritrail.dataset/1", "name": "Quays", "description": "Two.", "licence": "MIT",
}  # fmt: skip
CLAIM = {"process_id": "quay", "claim_id": "k1", "text": "It is old.", "label": "FULLY_SUPPORTED"}


def process(process_id: str) -> dict[str, Any]:
    return {
        "process_id": process_id,
        "nodes": [
            {"node_id": "c", "text": "The quay opened in 1901."},
            {"node_id": "t", "text": "The quay is from 1901.", "metadata": {"model": "m"}},
        ],
        "edges": [{"source": "c", "target": "t"}],
    }


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "set.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_each_process_of_a_data_set_is_one_to_ingest(tmp_path: Path) -> None:
    beside = {"format": "veritrail.process/1", **process("mole")}
    (tmp_path / "mole.json").write_text(json.dumps(beside), encoding="utf-8")
    path = written(
        tmp_path, HEADER, {"process": process("quay")}, {"claim": CLAIM}, {"process": "mole.json"}
    )
    fits = [one.name for one in importers() if one.detect(path) is None]
    assert fits[0] == "dataset"
    found = list(find_processes(path))
    assert [one.where for one in found] == [f"{path}#2", f"{path}#4"]
    for one, name in zip(found, ("quay", "mole"), strict=True):
        assert HeldProcess.read(one.open()).process_id == name
        assert HeldProcess.read(one.open()).texts["c"] == "The quay opened in 1901."


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"process": "../elsewhere.json"}, "leads out of the folder"),
        ({"process": "set.jsonl"}, "is a data set; name a process"),
        ({"process": 3}, "must be a process or the path of one"),
        (
            {"process": {**process("a"), "format": "veritrail.dialogue/1"}},
            "the format of a process",
        ),
        ({"processes": []}, 'must have the one key "process" or "claim"'),
    ],
)
def test_a_wrong_line_fails_alone(tmp_path: Path, value: Any, words: str) -> None:
    path = written(tmp_path, HEADER, value, {"process": process("quay")})
    wrong, right = find_processes(path)
    with pytest.raises(InputError, match=words):
        wrong.open()
    assert HeldProcess.read(right.open()).process_id == "quay"


def test_other_files_are_no_data_sets(tmp_path: Path) -> None:
    inside = {"format": "veritrail.process/1", "metadata": {"format": "veritrail.dataset/1"}}
    assert DatasetImporter().detect(written(tmp_path, inside)) is not None
    later = written(tmp_path, {**HEADER, "format": "veritrail.dataset/2"})
    assert DatasetImporter().detect(later) is None
    with pytest.raises(InputError, match="must be the header of a data set"):
        list(find_processes(later))
