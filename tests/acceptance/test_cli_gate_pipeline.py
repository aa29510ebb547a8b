"""The workflow file of the documentation, its steps run as a runner runs them.

A scratch repository with a pipeline that writes a process file; the steps come from
`examples/ci/veritrail.yml` as it stands there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from acceptance.command import Veritrail
from acceptance.model_fixtures import closed_port
from fakes import warm

WORKFLOW = Path(__file__).resolve().parents[2] / "examples" / "ci" / "veritrail.yml"
PIPELINE = """
import json, sys
source = "The ferry Lady Brae was built in 1998. She carries 180 passengers and 24 cars."
said = sys.stdin.read() or "{answer}"
claims = [{{"text": one.strip() + "."}} for one in said.split(".") if one.strip()]
json.dump({{
    "format": "veritrail.process/1",
    "nodes": [{{"node_id": "source", "text": source, "stage": 1}},
              {{"node_id": "answer", "text": said, "stage": 4}}],
    "edges": [{{"source": "source", "target": "answer"}}],
    "claims": claims,
}}, open(sys.argv[2], "w"))
"""
TRUE = "The ferry Lady Brae was built in 1998. The ferry Lady Brae carries 180 passengers."
WRONG = "The ferry Lady Brae was built in 1889. The ferry Lady Brae carries 180 passengers."

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are of bash"),
]


@dataclass
class Runner:
    """Runs the steps of a workflow in a repository, as a runner of a forge does."""

    repository: Path
    veritrail: Veritrail

    def push(self, answer: str) -> None:
        """Change what the pipeline says."""
        text = PIPELINE.format(answer=answer)
        (self.repository / "pipeline.py").write_text(text, encoding="utf-8")

    def run(self, **settings: str) -> dict[str, int | None]:
        """Run the workflow; give the status of every step by name, None: it was skipped."""
        job = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["gate"]
        (self.repository / "summary.md").write_text("")
        found: dict[str, int | None] = {}
        for step in job["steps"]:
            if "run" not in step or step["name"] == "Install":
                continue
            is_skipped = any(found.values()) and "cancelled()" not in step.get("if", "")
            found[step["name"]] = None if is_skipped else self._step(step, job["env"], settings)
        return found

    def _step(self, step: dict[str, Any], env: dict[str, str], settings: dict[str, str]) -> int:
        script = self.repository / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        named = {key: value for key, value in env.items() if "${{" not in value}
        environment = self.veritrail.environment({**named, **settings})
        folders = (warm.on_the_path(), str(Path(sys.executable).parent), environment["PATH"])
        environment["PATH"] = os.pathsep.join(folders)
        environment["GITHUB_STEP_SUMMARY"] = str(self.repository / "summary.md")
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.repository, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        assert "Traceback" not in ended.stdout + ended.stderr, ended.stderr
        self.told = ended.stdout + ended.stderr if step["name"] == "Gate" else self.told
        return ended.returncode

    told: str = ""

    @property
    def summary(self) -> str:
        return (self.repository / "summary.md").read_text(encoding="utf-8")


@pytest.mark.soak
def test_the_workflow_passes_fails_and_tells_when_the_graph_is_down(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    runner = Runner(tmp_path, veritrail)
    runner.push(TRUE)
    assert runner.run() == {"Run the pipeline": 0, "Verify": 0, "Gate": 0, "Report": 0}
    assert "VeriTrail gate: passed" in runner.summary
    assert (tmp_path / "veritrail.html").stat().st_size > 1000
    shutil.copy(tmp_path / "new-baseline.json", tmp_path / "veritrail-baseline.json")

    runner.push(WRONG)
    assert runner.run() == {"Run the pipeline": 0, "Verify": 0, "Gate": 1, "Report": 0}
    assert "Gate of answers: not met" in runner.told
    assert "not fully supported and not in the baseline: 1" in runner.told
    assert "VeriTrail gate: not met" in runner.summary

    with closed_port() as port:
        down = {"NEO4J_URI": f"bolt://127.0.0.1:{port}", "VERITRAIL_CONNECT_SECONDS": "0.2"}
        ended = runner.run(**down)
    assert (ended["Verify"], ended["Gate"]) == (3, None)
    assert "VeriTrail gate" not in runner.summary


@pytest.mark.parametrize("ended", [0, 1, 2, 3, 130])
def test_only_a_claim_without_a_verdict_goes_on_to_the_gate(tmp_path: Path, ended: int) -> None:
    steps = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["gate"]["steps"]
    verify = next(step["run"] for step in steps if step.get("name") == "Verify")
    page = (WORKFLOW.parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")
    line = next(one for one in page.splitlines() if one.startswith("veritrail verify answers"))
    stands_in = f'veritrail() {{ [ "$1" != verify ] || return {ended}; }}\n'
    for script in (verify, line):
        told = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", stands_in + script],
            cwd=tmp_path, check=False,
        )  # fmt: skip
        assert told.returncode == (0 if ended == 1 else ended)
