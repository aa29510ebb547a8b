"""The action for GitHub: its steps run as a runner runs them, with a `gh` that keeps comments."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from acceptance.command import Veritrail, process_file
from fakes import warm
from fakes.webhook_receiver import Receiver

ACTION = Path(__file__).resolve().parents[2] / "action.yml"
GH = """#!/bin/sh
# Keeps the one comment of a pull request in a file, as the interface of GitHub does.
case "$*" in
  *--paginate*) [ -f "$COMMENT" ] && echo 7 || true ;;
  *) for word in "$@"; do case $word in body=@*) cp "${word#body=@}" "$COMMENT" ;; esac; done
     echo "$2 $3" >> "$COMMENT.calls" ;;
esac
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are of bash"),
]


class Runner:
    """Runs the steps of the action in a folder."""

    def __init__(self, folder: Path, veritrail: Veritrail, **inputs: str) -> None:
        self._document = yaml.safe_load(ACTION.read_text("utf-8"))
        known = {name: one.get("default", "") for name, one in self._document["inputs"].items()}
        assert set(inputs) <= set(known)
        self._values = {f"inputs.{name}": value for name, value in {**known, **inputs}.items()}
        self._values |= {"github.repository": "o/r", "github.event.pull_request.number": "3"}
        self._folder, self._veritrail = folder, veritrail
        self.said: dict[str, str] = {}
        gh = folder / "bin" / "gh"
        gh.parent.mkdir(exist_ok=True)
        gh.write_text(GH, encoding="utf-8")
        gh.chmod(0o755)

    def run(self) -> dict[str, int]:
        """The status of each step that runs something, but the installation."""
        names = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        files = {name: self._folder / name for name in names}
        for file in files.values():
            file.write_text("", encoding="utf-8")
        found = {}
        for step in self._document["runs"]["steps"]:
            if "run" not in step or step["name"] == "Install":
                continue
            environment = self._veritrail.environment({k: str(v) for k, v in files.items()})
            path = f"{self._folder / 'bin'}{os.pathsep}{warm.on_the_path()}"
            path += f"{os.pathsep}{Path(sys.executable).parent}"
            environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
            temp = self._folder / "temp"
            temp.mkdir(exist_ok=True)
            environment |= {"RUNNER_TEMP": str(temp), "COMMENT": str(self.comment)}
            environment["GITHUB_WORKSPACE"] = str(self._folder)
            place = step.get("working-directory", "").replace("${{ runner.temp }}", str(temp))
            for line in files["GITHUB_ENV"].read_text("utf-8").splitlines():
                environment |= dict([line.split("=", 1)])
            for name, value in step.get("env", {}).items():
                key = value.removeprefix("${{ ").removesuffix(" }}")
                environment[name] = self._values.get(key, "")
            ended = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=place or self._folder, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=400, check=False,
            )  # fmt: skip
            assert "Traceback" not in ended.stderr, ended.stderr
            found[step["name"]] = ended.returncode
            self.said[step["name"]] = ended.stderr
            if ended.returncode and step["name"] == "Verify":
                break  # a runner goes on with no step but that of the comment
        self.outputs = dict(
            line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text("utf-8").splitlines()
        )
        return found

    @property
    def comment(self) -> Path:
        return self._folder / "comment.md"


def test_the_action_comments_once_and_writes_sarif(veritrail: Veritrail, tmp_path: Path) -> None:
    def says(claim: str) -> None:
        nodes = [
            {"node_id": "s", "text": "The ferry carries 24 cars."},
            {"node_id": "t", "text": claim},
        ]
        process_file(
            tmp_path / "answer.json",
            process_id="action-ferry",
            nodes=nodes,
            edges=[{"source": "s", "target": "t"}],
            claims=[{"claim_id": "cars", "text": claim}],
        )

    # What a branch may hold, and what must not count: it would end every command.
    (tmp_path / ".env").write_text("VERITRAIL_RPM=many\n", encoding="utf-8")
    says("The ferry carries 42 cars.")
    with Receiver() as receiver:
        hook = {"webhook": receiver.url, "webhook-secret": "a secret that is long enough"}
        runner = Runner(tmp_path, veritrail, process="answer.json", **hook)
        assert runner.run() == {"Folder": 0, "Verify": 0, "Gate": 1, "Comment": 0}
    (message,) = receiver.received
    assert json.loads(message.body)["type"] == "gate.failed"
    assert runner.outputs["outcome"] == "not met"
    assert "VeriTrail gate: not met" in runner.comment.read_text("utf-8")
    document = json.loads(Path(runner.outputs["sarif"]).read_text("utf-8"))
    (result,) = document["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "answer.json"
    line = (tmp_path / "answer.json").read_text("utf-8").splitlines()
    region = place["region"]
    shown = line[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
    assert shown == "The ferry carries 42 cars."
    assert Path(runner.outputs["report"]).stat().st_size > 1_000

    says("The ferry carries 24 cars.")
    assert runner.run() == {"Folder": 0, "Verify": 0, "Gate": 0, "Comment": 0}
    assert runner.outputs["outcome"] == "passed"
    assert "VeriTrail gate: passed" in runner.comment.read_text("utf-8")
    calls = (tmp_path / "comment.md.calls").read_text("utf-8").splitlines()
    assert calls == ["repos/o/r/issues/3/comments -F", "-X PATCH"]


@pytest.mark.parametrize(
    ("holds", "words"),
    [
        ('{"contexts": ["A."], "answer": "A."}\n{"contexts": ["B."], "answer": "B."}\n',
         "This input holds 2 processes, and the action takes one"),
        ('{"nodes": 5}\n', r"log\.jsonl"),
    ],
    ids=["several", "unreadable"],
)  # fmt: skip
def test_what_is_not_one_process_is_refused_in_words(
    veritrail: Veritrail, tmp_path: Path, holds: str, words: str
) -> None:
    (tmp_path / "log.jsonl").write_text(holds, encoding="utf-8")
    runner = Runner(tmp_path, veritrail, process="log.jsonl")
    assert runner.run()["Verify"] == 2
    assert re.search(words, runner.said["Verify"]), runner.said["Verify"]
