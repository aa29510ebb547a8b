"""`veritrail eval build` and `eval formats`: what people read, and what programs read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES

ROWS = [
    {"article": "The quay opened in 1901.", "summary_sentences": [
        {"sentence": "It opened in 1901.", "responses": [{"worker_id": 1, "response": "yes"}]},
        {"sentence": "It is of oak.", "responses": [{"worker_id": 1, "response": "no"}]},
    ]},
    {"article": "", "summary_sentences": []},
]  # fmt: skip


@pytest.fixture(scope="module")
def veritrail(tmp_path_factory: pytest.TempPathFactory) -> Veritrail:
    """The command with a home in which nothing is ever made: files are all that it needs."""
    return Veritrail(tmp_path_factory.mktemp("eval") / "home")


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "mturk_ports.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return path


def test_a_bad_row_ends_it_and_says_how_to_go_on(veritrail: Veritrail, labels: Path) -> None:
    output = labels.with_name("out.jsonl")
    arguments = ("eval", "build", "--from", str(labels), "-o", str(output))
    told = veritrail(*arguments, status=2)
    assert "line 2: article: is empty" in told.err
    assert "--skip-bad" in told.err
    assert not output.exists()
    shown = veritrail(*arguments, "--skip-bad")
    assert "Not Fully Supported" in shown.out
    assert "QAGS (qags): claims 2, processes 1, nodes 2, labels of annotators 2" in shown.err
    assert "one row is bad and left out" in shown.err
    document = veritrail(*arguments, "--skip-bad", "--format", "qags", "--json").json
    assert document["labels"]["FULLY_SUPPORTED"] == 1
    assert document["remarks"][0].startswith("one row is bad")
    assert not veritrail.home.exists()


def test_what_is_missing_is_named(veritrail: Veritrail, tmp_path: Path) -> None:
    output = str(tmp_path / "out.jsonl")
    assert "--from" in veritrail("eval", "build", "-o", output, status=2).err
    absent = veritrail("eval", "build", "--from", "absent", "-o", output, status=2)
    assert "no such file or folder" in absent.err
    strange = tmp_path / "strange.tsv"
    strange.write_text("knowledge\tmessage\nA.\tB.\n", encoding="utf-8")
    told = veritrail("eval", "build", "--from", str(strange), "-o", output, status=2).err
    assert "qags (" in told
    assert "begin (" in told
    assert "'begin_label'" in told


def test_formats_are_listed(veritrail: Veritrail) -> None:
    listed = veritrail("eval", "formats", "--json").json["formats"]
    names = [one["name"] for one in listed]
    assert (names[0], names[-1]) == ("vista", "processes")
    assert names.index("rgm-contradictions") < names.index("veritrail")
    shown = veritrail("eval", "formats").out
    assert all(one["source"] in shown for one in listed)


def test_dialogues_become_a_file_of_labelled_turns(veritrail: Veritrail, tmp_path: Path) -> None:
    header = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label"
    rows = ["t5\twow\tThe quay is old.\tIs it?\tIt is.\tFully attributable",
            "t5\twow\tThe quay is old.\tIs it?\tIt is red.\tPerhaps"]  # fmt: skip
    source, output = tmp_path / "begin.tsv", tmp_path / "gold.jsonl"
    source.write_text("\n".join([header, *rows]), encoding="utf-8")
    arguments = ("eval", "build", "--from", str(source), "-o", str(output))
    told = veritrail(*arguments, status=2)
    assert "row 3" in told.err
    assert "begin_label" in told.err
    assert not output.exists()
    shown = veritrail(*arguments, "--skip-bad")
    assert "BEGIN (begin, licence CC BY 4.0" in shown.err
    assert "dialogues 1, labelled turns 1" in shown.err
    document = veritrail(*arguments, "--skip-bad", "--json").json
    assert (document["format"], document["labels"]["VERIFIED"]) == ("begin", 1)
    assert [next(iter(json.loads(line))) for line in output.read_text().splitlines()] == [
        "dialogue",
        "turn",
    ]


def test_a_sample_is_drawn_of_a_benchmark_and_not_of_labelled_turns_or_claims(
    veritrail: Veritrail, labels: Path
) -> None:
    gold = EXAMPLES / "evaluation" / "dialogue-gold.jsonl"
    for source, said in ((gold, "is a file of labelled turns already"), (labels, "holds none")):
        drawn = ("--sample", "1", "-o", str(labels.with_name("out.jsonl")))
        assert said in veritrail("eval", "build", "--from", str(source), *drawn, status=2).err
