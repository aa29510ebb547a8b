"""`veritrail gate` as a pipeline calls it: status, output and files, and that they agree."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from acceptance.command import PATIENCE, Veritrail, process_file, started
from acceptance.model_fixtures import closed_port
from fakes.judged_files import Judged, judged_file
from fakes.webhook_receiver import Receiver
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veritrail_graph.api.cli.app import status

GOOD: Judged = ("a", "A.", "supported", None)
BAD: Judged = ("b", "B.", "not-supported", 3)
ALL: list[Judged] = [
    GOOD,
    BAD,
    ("c", "C.", "not-supported", 2),
    ("d", "D.", "inconclusive", None),
    ("e", "E.", "failed", None),
    ("f", "F.", "unchecked", None),
]


@pytest.mark.parametrize(
    ("claims", "options", "ends", "said"),
    [
        ([GOOD], [], 0, "Gate of p: passed"),
        ([GOOD, BAD], [], 1, "not fully supported: 1, at most 0"),
        ([GOOD, BAD], ["--max-unsupported", "1"], 0, "passed"),
        ([GOOD, BAD], ["--max-rate", "0.5"], 0, "passed"),
        ([GOOD, BAD], ["--max-rate", "0.49"], 1, "share not fully supported: 0.5"),
        ([GOOD, BAD], ["--forbid-error-stage", "2"], 0, "passed"),
        ([GOOD, BAD], ["--forbid-error-stage", "2", "--forbid-error-stage", "3"], 1, "at stage 3"),
        ([GOOD, ALL[3]], [], 0, "inconclusive 1"),
        ([GOOD, ALL[3]], ["--strict"], 1, "inconclusive ones counted: 1"),
        ([GOOD, ALL[4]], [], 1, "What could not be checked is not passed"),
        ([GOOD, ALL[4]], ["--max-failed", "1"], 0, "passed"),
        ([ALL[5]], [], 1, "veritrail verify p"),
        ([ALL[5]], ["--max-unchecked", "1"], 0, "passed"),
        ([], ["--max-unchecked", "1"], 1, "there is nothing to judge"),
    ],
)
def test_a_file_with_verdicts_passes_or_not_by_the_limits_given(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    claims: list[Judged],
    options: list[str],
    ends: int,
    said: str,
) -> None:
    path = judged_file(tmp_path / "p.json", claims)
    monkeypatch.setattr(sys, "argv", ["veritrail", "gate", path, *options])
    assert status() == ends
    assert said in capsys.readouterr().out


def test_a_gate_that_is_not_met_sends_a_message_without_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "a secret that is long enough"
    monkeypatch.setenv("VERITRAIL_WEBHOOK_SECRET", secret)
    monkeypatch.setattr("veritrail_graph.api.work.webhooks.target.WAITS", ())
    good, bad = (judged_file(tmp_path / f"{one[0]}.json", [one]) for one in (GOOD, BAD))
    with Receiver() as receiver:
        for path in (good, bad):
            monkeypatch.setattr(sys, "argv", ["veritrail", "gate", path, "--webhook", receiver.url])
            assert status() == (path is bad)
        (found,) = receiver.received
        receiver.statuses = [500] * 9
        monkeypatch.setenv("VERITRAIL_WEBHOOK_URL", receiver.url)
        monkeypatch.setattr(sys, "argv", ["veritrail", "gate", bad])
        assert status() == 1
    data = json.loads(found.body)["data"]
    assert (data["process_id"], data["counts"]["not-supported"]) == ("b", 1)
    assert data["broken"] == [{"rule": "unsupported", "found": 1, "limit": 0, "claim_ids": ["b"]}]
    assert "B." not in found.body
    said = capsys.readouterr()
    assert "could not be delivered: the receiver answered 500" in said.err
    assert secret not in said.out + said.err
    assert receiver.url not in said.out + said.err


STATES = ("supported", "not-supported", "inconclusive", "failed", "unchecked")
CLAIMS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from(STATES), st.sampled_from((2, 3, None))),
    max_size=5,
    unique_by=lambda one: one[0],
).map(lambda each: [(name, f"Claim {name}.", state, stage) for name, state, stage in each])
OPTIONS = st.lists(
    st.sampled_from(
        [
            ["--max-unsupported", "1"], ["--max-rate", "0.4"], ["--forbid-error-stage", "2"],
            ["--max-failed", "2"], ["--max-unchecked", "2"], ["--strict"], ["--max-failed", "-1"],
            ["--max-rate", "nan"],
        ]
    ),
    max_size=4,
)  # fmt: skip


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(claims=CLAIMS, before=st.none() | CLAIMS, options=OPTIONS, as_json=st.booleans())
def test_what_is_printed_and_the_status_never_differ(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    claims: list[Judged],
    before: list[Judged] | None,
    options: list[list[str]],
    as_json: bool,
) -> None:
    given_options = [part for option in options for part in option]
    if before is not None:
        old = judged_file(tmp_path / "old.json", before)
        make = ["veritrail", "gate", old, "--write-baseline", str(tmp_path / "base.json")]
        monkeypatch.setattr(sys, "argv", make)
        assert status() in (0, 1)
        given_options += ["--baseline", str(tmp_path / "base.json")]
    files = ["--junit", str(tmp_path / "j.xml"), "--summary", str(tmp_path / "s.md")]
    (tmp_path / "s.md").write_text("")
    path = judged_file(tmp_path / "p.json", claims)
    asked = [*given_options, *files, *(["--json"] if as_json else [])]
    monkeypatch.setattr(sys, "argv", ["veritrail", "gate", path, *asked])
    capsys.readouterr()
    ended = status()
    out = capsys.readouterr().out
    if ended == 2:
        assert "passed" not in out
        assert (tmp_path / "s.md").read_text() == ""
        return
    word = {0: "passed", 1: "not met"}[ended]
    if as_json:
        told = json.loads(out)
        assert (told["passed"], told["exit_status"]) == (ended == 0, ended)
        assert all(check["met"] for check in told["checks"]) is told["passed"]
    else:
        assert out.startswith(f"Gate of p: {word}\n")
        assert ("NOT MET" in out) is (ended == 1)
    summary = (tmp_path / "s.md").read_text()
    assert summary.startswith(f"## {'✅' if ended == 0 else '❌'} VeriTrail gate: {word}\n")
    rules = ElementTree.parse(tmp_path / "j.xml").getroot()[1]
    assert (rules.get("failures") != "0") is (ended == 1)


def test_a_junit_file_has_a_case_for_every_rule_and_claim(tmp_path: Path) -> None:
    found = _cases(tmp_path, [])
    assert found == {
        "claims": None, "unchecked": "failure", "failed": "failure", "unsupported": "failure",
        "A.": None, "B.": "failure", "C.": "failure", "D.": "skipped", "E.": "error",
        "F.": "skipped",
    }  # fmt: skip
    strict = _cases(tmp_path, ["--strict"])
    assert (strict["D."], strict["F."]) == ("failure", "error")


def _cases(folder: Path, options: list[str]) -> dict[str, str | None]:
    path = judged_file(folder / "p.json", ALL)
    file = folder / "junit.xml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["veritrail", "gate", path, "--junit", str(file), *options])
        status()
    found: dict[str, str | None] = {}
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        kinds = [child.tag for child in case if child.tag != "properties"]
        found[case.get("name", "")] = kinds[0] if kinds else None
    return found


HOSTILE = (
    "<script>alert(1)</script> | @everyone [a](javascript:x) `b` http://evil.example \u202e**c**"
)


def test_a_summary_shows_hostile_texts_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = judged_file(
        tmp_path / "p.json",
        [("a", HOSTILE, "not-supported", 3)],
        name=HOSTILE,
        stages={"3": HOSTILE},
    )
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setattr(sys, "argv", ["veritrail", "gate", path])
    assert status() == 1
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n## ")
    for part in ("<script", "@everyone", "`b`", "http:", "\u202e", "**c**"):
        assert part not in text
    assert not re.search(r"(?<!\\)\]\(", text)
    lines = [line for line in text.splitlines() if line.startswith("- `a`: ")]
    assert len(lines) == 1
    assert all(line.replace("\\|", "").count("|") in (0, 3) for line in text.splitlines())
    assert "\u202e" not in capsys.readouterr().out


FORGED = "x\n::stop-commands::x\n::error file=a.py::forged\nGate of forge: passed ##[error]forged"


def test_no_text_from_outside_writes_a_line_or_a_command_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tmp_path / "base.json"
    judged: list[Judged] = [("a", FORGED, "not-supported", 3), ("e", FORGED, "failed", None)]
    path = judged_file(tmp_path / "p.json", judged, stages={"3": FORGED})
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    document["verifications"][0]["model"] = document["verifications"][1]["error"] = FORGED
    Path(path).write_text(json.dumps(document), encoding="utf-8")
    base.write_text(
        json.dumps(
            {"format": "veritrail.baseline/1", "process_id": "p", "judges": [FORGED], "claims": []}
        )
    )
    lines = None
    for options in ([], ["--json"]):
        argv = ["veritrail", "gate", path, "--baseline", str(base), *options]
        monkeypatch.setattr(sys, "argv", argv)
        assert status() == 1
        out = capsys.readouterr().out
        assert "forged" in out
        assert "##[" not in out
        lines = lines or out.splitlines()
        assert not [line for line in out.splitlines() if line.lstrip().startswith("::")]
    known = ("Warning: ", "met ", "NOT MET ", " ", "claims", "since the", "stage ", "introduced",
             "├", "└", "│", "Note: ", "2 ", "3 ")  # fmt: skip
    assert [line for line in lines or [] if line and not line.startswith(known)] == [
        "Gate of p: not met"
    ]


def test_a_claim_whose_latest_check_failed_is_not_passed_by_an_older_verdict(
    tmp_path: Path,
) -> None:
    path = Path(judged_file(tmp_path / "p.json", [GOOD, ALL[4]]))
    document = json.loads(path.read_text(encoding="utf-8"))
    failed = document["verifications"][1]
    again = {"claim_id": "a", "claim": "A.", "created_at": "2026-02-01T09:30:00.000000Z"}
    document["verifications"][1] = {**failed, **again}
    document["claims"] = document["claims"][:1]
    path.write_text(json.dumps(document), encoding="utf-8")
    told = _told(tmp_path, str(path), 1)
    assert (told["counts"]["supported"], told["counts"]["failed"]) == (1, 0)
    why = (
        "its latest check by openai a-model failed; what is in force is of another check: "
        "no usable answer after 6 attempts"
    )
    assert told["claims"][0]["latest_check"] == why
    broken = [one["name"] for one in told["checks"] if not one["met"]]
    assert broken == ["failed"]
    assert told["notes"][1].startswith("of 1 claim the latest check by openai a-model ended")
    assert "veritrail verify p --again --engine openai --model a-model" in told["notes"][1]
    words = "could not be checked: 1 (1 with another result in force), at most 0"
    assert words in (tmp_path / "j.xml").read_text(encoding="utf-8")
    assert words.partition(",")[0] in Veritrail(tmp_path / "home")("gate", str(path), status=1).out
    _told(tmp_path, str(path), 0, "--max-failed", "1")
    document["run_of_record"] = document["verifications"][0]["run_id"] = "r-1"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert _told(tmp_path, str(path), 0)["claims"] == []


def _told(folder: Path, path: str, ends: int, *options: str) -> dict[str, Any]:
    told = Veritrail(folder / "home")(
        "gate", path, "--json", "--junit", str(folder / "j.xml"), *options, status=ends
    )
    return dict(told.json)


def test_a_baseline_that_the_process_falls_behind_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tmp_path / "base.json"

    def gate(claims: list[Judged], *options: str) -> int:
        path = judged_file(tmp_path / "p.json", claims)
        monkeypatch.setattr(sys, "argv", ["veritrail", "gate", path, *options])
        return status()

    both = ("--baseline", str(base), "--write-baseline", str(base))
    assert gate([GOOD], "--write-baseline", str(base)) == 0
    accepted = base.read_bytes()
    worse: Judged = ("a", "A.", "not-supported", 3)
    assert gate([worse], *both) == 1
    assert base.read_bytes() == accepted
    assert "was kept" in capsys.readouterr().err
    assert gate([worse], *both) == 1
    assert gate([worse], "--write-baseline", str(base)) == 1  # accepted by hand
    assert gate([worse], *both) == 0


def test_a_broken_file_tells_its_violations(bare: Veritrail, tmp_path: Path) -> None:
    path = process_file(tmp_path / "p.json", edges=[{"source": "a", "target": "z"}])
    told = bare("gate", path, "--json", status=2)
    assert told.violations


def test_a_reader_who_has_had_enough_does_not_change_the_status(
    bare: Veritrail, tmp_path: Path
) -> None:
    file = judged_file(tmp_path / "p.json", [GOOD, BAD])
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = started(
            "gate", file, env=bare.environment({}), stdin=subprocess.DEVNULL, stdout=writing,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        ended.wait(PATIENCE)
    finally:
        os.close(writing)
    assert ended.returncode == 1


def test_a_bug_of_ours_is_not_told_as_not_met(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = judged_file(tmp_path / "p.json", [GOOD])
    monkeypatch.setattr("veritrail_graph.api.cli.gating.rules.judge", lambda *_: 1 // 0)
    monkeypatch.setattr(sys, "argv", ["veritrail", "gate", file])
    monkeypatch.delenv("VERITRAIL_DEBUG", raising=False)
    assert status() == 3
    assert "Internal error" in capfd.readouterr().err


def test_an_engine_that_is_down_ends_with_3_and_is_no_outcome(bare: Veritrail) -> None:
    with closed_port() as port:
        down = {"NEO4J_URI": f"bolt://127.0.0.1:{port}", "VERITRAIL_CONNECT_SECONDS": "0.2"}
        told = bare("gate", "p", "--json", status=3, **down)
        assert list(told.json) == ["error"]
        said = bare("gate", "p", status=3, **down)
    assert said.out == ""
    assert str(port) in said.err
