"""`veritrail eval simulate`: rows as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from acceptance import in_process

ROOT = Path(__file__).resolve().parents[3]
HARBOUR = ROOT / "examples/harbour-summary.json"


@pytest.fixture
def simulate(tmp_path: Path) -> Any:
    environment = {**os.environ, "VERITRAIL_HOME": str(tmp_path / "home")}

    def call(*arguments: str) -> tuple[int, str, str]:
        given = ["eval", "simulate", *arguments]
        status, out, err = in_process.call(given, environment)
        return status, out.decode(), err.decode()

    return call


def test_a_grid_has_a_row_for_each_combination(simulate, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    arguments = ("--shape", "rag", "--nodes", "15", "--claims", "40", "--q", "1,2")
    arguments += ("--recall", "0.7,1", "--price", "2,8", "-o", str(file))
    status, out, _ = simulate(*arguments, "--json")
    assert status == 0
    found = json.loads(out)
    assert found["process"] | {"edges": 14} == found["process"]
    assert [(row["q"], row["recall"]) for row in found["rows"]] == [
        (1, 0.7), (1, 1.0), (2, 0.7), (2, 1.0),
    ]  # fmt: skip
    assert all(row["cost_per_claim"] > 0 and row["claims"] == 40 for row in found["rows"])
    with file.open(newline="") as lines:
        written = list(csv.DictReader(lines))
    assert [float(row["accuracy"]) for row in written] == [row["accuracy"] for row in found["rows"]]

    status, table, notes = simulate(*arguments)
    assert status == 0
    assert "macro F1" in table.splitlines()[0]
    assert len(table.splitlines()) == 5
    assert "no model was asked" in notes
    assert all(sentence in notes for sentence in found["meaning"])


def test_a_process_in_a_file_gives_its_shape_and_no_texts(simulate) -> None:
    status, out, _ = simulate("--like", str(HARBOUR), "--claims", "20", "--q", "1", "--json")
    assert status == 0
    process = json.loads(HARBOUR.read_text())
    found = json.loads(out)
    assert found["process"]["nodes"] == len(process["nodes"])
    assert found["process"]["edges"] == len(process["edges"])
    assert found["rows"][0]["nodes_share"] <= 1


def test_one_of_several_processes_of_a_path_is_chosen_by_its_id(simulate, tmp_path: Path) -> None:
    whole = json.loads(HARBOUR.read_text())
    (tmp_path / "runs").mkdir()
    for name, process in (("a", whole), ("b", whole | {"process_id": "other"})):
        (tmp_path / "runs" / f"{name}.json").write_text(json.dumps(process))
    small = {"format": "veritrail.process/1", "process_id": "small",
             "nodes": [{"node_id": "r", "text": "One."}, {"node_id": "t", "text": "Two."}],
             "edges": [{"source": "r", "target": "t"}]}  # fmt: skip
    (tmp_path / "runs" / "c.json").write_text(json.dumps(small))
    (tmp_path / "runs" / "d.json").write_text('{"format": "veritrail.process/1"}')
    arguments = ("--like", str(tmp_path / "runs"), "--claims", "5", "--q", "1", "--json")

    status, out, _ = simulate(*arguments)
    message = json.loads(out)["error"]["message"]
    assert status == 2
    assert f"{whole['process_id']}, other, small. Choose one with --process." in message
    assert "1 process cannot be read: " in message

    status, out, _ = simulate(*arguments, "--process", "small")
    assert status == 0
    assert json.loads(out)["process"] | {"name": "small", "nodes": 2} == json.loads(out)["process"]
    status, out, _ = simulate(*arguments, "--process", "none")
    assert status == 2
    assert "holds no process 'none'. It holds: " in json.loads(out)["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give either --like PATH or --shape"),
        (("--shape", "rag", "--like", str(HARBOUR)), "give either --like PATH or --shape"),
        (("--shape", "rag", "--q", "1,x"), "--q 1,x: 'x' is no whole number"),
        (("--shape", "rag", "--recall", "1.5"), "recall=1.5: a probability"),
        (("--shape", "rag", "--flip-at", "3"), "write STAGE=P"),
        (("--shape", "rag", "--flip-at", "2=0,5"), "write STAGE=P"),
        (("--shape", "rag", "--flip-at", "99=0.5"), "no node has that stage"),
        (("--shape", "rag", "--max-sentences", "0"), "max_sentences=0"),
        (("--shape", "rag", "--claims", "0"), "claims=0"),
        (("--shape", "rag", "--price", "cheap"), "price 'cheap'"),
        (("--shape", "rag", "--workers", "0"), "workers=0"),
        (("--shape", "rag", "--node", "t"), "use it with --like"),
        (("--shape", "rag", "-o", "nowhere/rows.csv"), "it cannot be written"),
        (("--shape", "rag", "--process", "p"), "use it with --like FILE"),
        (("--like", str(HARBOUR), "--process", "p2"), "holds no process 'p2'"),
        (("--like", "p1", "--process", "p2"), "p1' is no file"),
        (("--like", str(HARBOUR), "--nodes", "9"), "--like takes the sizes"),
        (("--like", str(HARBOUR), "--node", "zz"), "it has no node 'zz'"),
        (("--like", str(ROOT / "nowhere.json")), "no such file"),
        (("--like", str(HARBOUR), "--sentences", "1,2,3,4,5,6,7"), "stages"),
    ],
)
def test_wrong_use_ends_with_one_message(simulate, arguments, words: str) -> None:
    status, out, err = simulate(*arguments, "--json")
    assert status == 2
    assert words in json.loads(out)["error"]["message"]
    assert "Traceback" not in err


def test_a_data_set_is_no_process(simulate, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for line in ('{"format": "veritrail.dataset/1", "name": "x"}', '{"process": {}}'):
        path.write_text(line, encoding="utf-8")
        status, out, _ = simulate("--like", str(path), "--json")
        assert status == 2
        assert "this is a data set" in json.loads(out)["error"]["message"]


def test_a_stored_process_gives_the_same_shape_as_its_file(veritrail: Any, simulate) -> None:
    process_id = veritrail("ingest", HARBOUR, "--json").json["process_id"]
    arguments = ("--claims", "20", "--q", "2", "--json")
    stored = veritrail("eval", "simulate", "--like", process_id, *arguments).json
    _, out, _ = simulate("--like", str(HARBOUR), *arguments)
    assert stored["rows"] == json.loads(out)["rows"]
