"""`veritrail eval run`, `eval report` and `eval review` as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from acceptance.command import Veritrail, process_file
from eval_fakes.judged_runs import FS, NFS, JudgedRun

MATRIX = Path(__file__).resolve().parents[3] / "examples" / "evaluation" / "matrix.toml"
FILES = {"report.html", "report.md", "figures.csv", "verdicts.csv", "report.json"}


@pytest.fixture(scope="module")
def veritrail(tmp_path_factory: pytest.TempPathFactory) -> Veritrail:
    """The command with a home in which nothing is made but a cache."""
    return Veritrail(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def folder(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example matrix, run once."""
    made = tmp_path_factory.mktemp("run") / "out"
    ended = veritrail("eval", "run", str(MATRIX), "-o", str(made), "--json")
    assert ended.status == 0, ended.err
    document = ended.json
    assert document["report"] == str(made / "report.html")
    assert document["judged"] == sum(row["claims"] for row in document["configurations"])
    assert {row["dataset"] for row in document["configurations"]} == {"harbour", "energy"}
    assert all(row["indicative"] for row in document["configurations"])
    return made


def test_a_run_ends_with_its_report(veritrail: Veritrail, folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} >= FILES
    again = veritrail("eval", "run", str(MATRIX), "-o", str(folder))
    assert again.status == 0
    assert again.out.splitlines()[0].split()[:3] == ["data", "set", "best"]
    assert again.out.count("(indicative)") == 4
    assert " 3 of 23 " in again.out
    assert "of 22 claims" in again.err


def test_a_report_is_made_again_from_the_folder_alone(veritrail: Veritrail, folder: Path) -> None:
    ended = veritrail("eval", "report", str(folder), "--json", "--human-cost", "1350/560")
    assert ended.status == 0
    assert {Path(name).name for name in ended.json["files"]} == FILES
    assert [one["human_cost_per_claim"] for one in ended.json["datasets"]] == [1350 / 560] * 2
    assert json.loads((folder / "report.json").read_text())["options"]["human_cost"] == ["1350/560"]


def test_the_verdicts_of_a_run_are_scored_alike(veritrail: Veritrail, folder: Path) -> None:
    report = veritrail("eval", "report", str(folder), "--json").json["configurations"]
    scored = veritrail("eval", "score", str(folder / "verdicts.csv"), "--json").json["methods"]
    assert [one["macro_f1"] for one in scored] == [one["macro_f1"] for one in report]
    assert [one["scored"] for one in scored] == [one["scored"] for one in report]


def test_errors_are_drawn_and_read_again(veritrail: Veritrail, tmp_path: Path) -> None:
    folder, matrix = tmp_path / "out", '[[method]]\nmethod = "veritrail"\nengine = "lexical"\n'
    for year, label in (("1901", NFS), ("1902", FS)):  # words say the opposite of both labels
        claims = [{"text": f"The harbour opened in {year}.", "node_id": "t", "label": label}]
        data = process_file(tmp_path / f"data-{year}.json", claims=claims)
        matrix += f"[[dataset]]\nname = '{year}'\npath = '{data}'\n"
    (tmp_path / "matrix.toml").write_text(matrix)
    veritrail("eval", "run", str(tmp_path / "matrix.toml"), "-o", str(folder))
    sheet = folder / "errors.csv"
    ended = veritrail("eval", "review", str(folder), "-o", str(sheet), "--count", "4", "--json")
    assert ended.status == 0
    assert [sum(kinds.values()) for kinds in ended.json["datasets"].values()] == [1, 1]
    assert ended.json["cases"] == 2
    read = veritrail("eval", "review", str(folder), "--read", str(sheet))
    assert read.status == 0
    for name, kinds in ended.json["datasets"].items():
        assert f"{name}: 0 of {sum(kinds.values())} cases have a cause." in read.err
    assert "review" in json.loads((folder / "report.json").read_text())["datasets"][0]
    sheet.write_text(sheet.read_text().replace(",,,,,,,", ",maybe,,,,,,", 1))
    wrong = veritrail("eval", "review", str(folder), "--read", str(sheet), "--json", status=2)
    assert [one["where"] for one in wrong.violations] == ["row 2, column invalid inference"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "FOLDER/none"], "holds no evaluation"),
        (["report", "FOLDER", "--human-cost", "much"], "--human-cost 'much'"),
        (["review", "FOLDER"], "Name a sheet"),
        (["review", "FOLDER", "-o", "a.csv", "--read", "b.csv"], "Name a sheet"),
        (["review", "FOLDER", "-o", "a.pdf"], "a sheet is .csv or .xlsx"),
        (["review", "FOLDER", "-o", "a.csv", "--configuration", "x"], "none of this id"),
        (["review", "FOLDER", "--read", "FOLDER/none.csv"], "none.csv"),
    ],
)
def test_wrong_use_is_said(
    veritrail: Veritrail, folder: Path, arguments: list[str], said: str
) -> None:
    given = [one.replace("FOLDER", str(folder)) for one in arguments]
    ended = veritrail("eval", *given, "--json", status=2)
    assert said in ended.message


def test_no_errors_make_no_sheet(veritrail: Veritrail, tmp_path: Path) -> None:
    run = JudgedRun(tmp_path, {"data": {"a": FS, "b": NFS}}, [("v", "veritrail", {"q": 1})])
    run.judged("v", {"a": FS, "b": NFS})
    ended = veritrail(
        "eval", "review", str(tmp_path), "-o", str(tmp_path / "s.csv"), "--json", status=2
    )
    assert "holds no wrong verdict" in ended.message
    assert not (tmp_path / "s.csv").exists()


def test_a_sample_that_is_larger_than_the_data_set_is_told(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    matrix, made = tmp_path / "m.toml", tmp_path / "out"
    data = (MATRIX.parents[1] / "harbour-summary.json").as_posix()
    matrix.write_text(
        f'[[dataset]]\nname = "harbour"\npath = "{data}"\n'
        'sample = { by = "document", count = 6 }\n'
        '[[method]]\nmethod = "veritrail"\nengine = "lexical"\n'
    )
    words = (
        "The sample asks for 6 documents, and only 1 with a labelled claim can be drawn from: all "
        "are taken."
    )
    estimated = veritrail("eval", "run", str(matrix), "-o", str(made), "--estimate", "--json")
    assert estimated.json["notes"] == [f"harbour: {words}"]
    ended = veritrail("eval", "run", str(matrix), "-o", str(made))
    assert f"harbour: {words}" in " ".join(ended.err.split())
    (dataset,) = json.loads((made / "report.json").read_text())["datasets"]
    assert dataset["remarks"] == [words]
    for name in ("report.md", "report.html"):
        assert words[:40] in (made / name).read_text()
