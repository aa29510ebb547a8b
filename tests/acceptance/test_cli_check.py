"""`veritrail check`: an answer against plain texts, and logs of answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking
from fakes.model_server import ModelServer

pytestmark = pytest.mark.engine

ANSWER = "The ferry carries 48 cars. The harbour fee rises to 4 euros in May.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "fees.md").write_text("The harbour fee rises to 4 euros in May.", encoding="utf-8")
    (docs / "ferry.md").write_text("The ferry carries 42 cars.", encoding="utf-8")
    (tmp_path / "a.txt").write_text(ANSWER, encoding="utf-8")
    return tmp_path


def test_without_a_model_each_sentence_is_a_claim(veritrail: Veritrail, folder: Path) -> None:
    docs = [str(path) for path in sorted((folder / "docs").iterdir())]
    call = ["check", "--answer", str(folder / "a.txt"), "--sources", *docs, "--question", "What?"]
    done = veritrail(*call, "--json").json
    assert (done["name"], done["status"], done["stages"]) == ("What?", "created", {"1": 2, "2": 1})
    found = done["verification"]
    assert found["indicative"]
    assert [one["verdict"] for one in found["verifications"]] == [
        "NOT_FULLY_SUPPORTED",
        "FULLY_SUPPORTED",
    ]
    (evidence,) = found["verifications"][0]["iterations"][0]["evidence"]
    assert (evidence["node_id"], evidence["text"]) == ("ferry.md#1", "The ferry carries 42 cars.")
    again = veritrail(*call[:-2], "--question", "What?")
    assert "(unchanged)" in again.out
    assert "Next: veritrail verify" not in again.err  # that was done


def test_the_answer_comes_from_stdin_and_sources_from_a_folder(
    veritrail: Veritrail, folder: Path
) -> None:
    call = ["check", "--answer", "-", str(folder / "docs"), "--process-id", "check-stdin"]
    done = veritrail(*call, "--q", "1", "--json", typed=ANSWER).json
    assert (done["process_id"], done["name"]) == ("check-stdin", "stdin")
    assert {one["q"] for one in done["verification"]["verifications"]} == {1}


def test_a_log_is_checked_row_by_row(veritrail: Veritrail, tmp_path: Path) -> None:
    rows = [
        {"question": "Cars?", "contexts": ["The ferry carries 42 cars."], "answer": f"It is {n}."}
        for n in (42, 48)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = veritrail("check", str(log), "--json").json
    assert (done["created"], done["failed"]) == (2, 0)
    claims = [one["verification"]["verifications"][0]["claim"] for one in done["processes"]]
    assert claims == ["It is 42.", "It is 48."]


def test_a_model_extracts_the_claims(veritrail: Veritrail, folder: Path) -> None:
    call = ["check", "--answer", str(folder / "a.txt"), "--sources", str(folder / "docs")]
    with ModelServer() as server:
        done = veritrail(*call, "--process-id", "check-model", "--json", **asking(server)).json
    found = done["verification"]
    assert (found["engine"], found["indicative"]) == ("openai", False)
    assert found["extraction"]
    assert [(one["claim"], one["verdict"]) for one in found["verifications"]] == [
        ("The ferry carries 48 cars.", "NOT_FULLY_SUPPORTED"),
        ("The harbour fee rises to 4 euros in May.", "FULLY_SUPPORTED"),
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "Name an answer and its sources"),
        (["--answer", "{a}"], "Name what the answer was made from"),
        (["--sources", "{docs}"], "Name the answer to check"),
        (["--question", "What?", "{docs}"], "Name the answer to check"),
        (["--answer", "{docs}", "--sources", "{docs}"], "cannot be read"),
        (["--answer", "{a}", "--sources", "{none}"], "cannot be read"),
        (["--answer", "{a}", "{docs}", "--process-id", "no id"], "--process-id"),
        (["{a}"], "is in no format|no column|not JSON|rag"),
        (["--answer", "{a}", "{docs}", "--budget", "1", "--model", "unknown"], "price"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    veritrail: Veritrail, folder: Path, arguments: list[str], problem: str
) -> None:
    places = {"a": folder / "a.txt", "docs": folder / "docs", "none": folder / "none.txt"}
    given = [one.format(**places) for one in arguments]
    refused = veritrail("check", *given, status=2, OPENAI_API_KEY="sk-x")
    assert re.search(problem, refused.err), refused.err
