"""The release workflow and the action: what they name exists, and nothing is published untried."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
EXAMPLE = yaml.safe_load((ROOT / "examples" / "ci" / "veritrail.yml").read_text("utf-8"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def steps() -> list[dict[str, Any]]:
    return [
        *(step for job in RELEASE["jobs"].values() for step in job["steps"]),
        *ACTION["runs"]["steps"],
    ]


def test_only_what_was_tried_is_published() -> None:
    jobs = RELEASE["jobs"]
    assert jobs["try"]["needs"] == "build"
    assert set(jobs["publish"]["needs"]) == {"build", "try", "image"}
    for name in ("publish", "site"):
        assert jobs[name]["if"] == "github.ref_type == 'tag'"
    tried = "\n".join(step.get("run", "") for step in jobs["try"]["steps"])
    assert "veritrail demo" in tried
    assert RELEASE["permissions"] == {"contents": "read"}


def test_what_is_published_has_the_sums_of_what_was_built() -> None:
    jobs = RELEASE["jobs"]
    assert jobs["build"]["outputs"]["sums"] == "${{ steps.build.outputs.sums }}"
    (built,) = [step["run"] for step in jobs["build"]["steps"] if step.get("id") == "build"]
    assert "sha256sum" in built
    *_, check, publish = jobs["publish"]["steps"]
    assert check["env"]["SUMS"] == "${{ needs.build.outputs.sums }}"
    assert "sha256sum --check --strict" in check["run"]
    assert publish["uses"].startswith("pypa/gh-action-pypi-publish@")


def test_actions_are_pinned_by_commit_and_leave_no_token_behind() -> None:
    used = [step for step in (*steps(), *EXAMPLE["jobs"]["gate"]["steps"]) if "uses" in step]
    assert len(used) > 10
    for step in used:
        assert re.search(r"@[0-9a-f]{40}$", step["uses"]), step["uses"]
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_the_tag_stands_beside_each_commit() -> None:
    files = (".github/workflows/release.yml", "action.yml", "examples/ci/veritrail.yml")
    for file in files:
        for line in (ROOT / file).read_text("utf-8").splitlines():
            if re.search(r"^[ -]*uses: ", line):
                assert re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_nothing_is_installed_but_by_the_hashes_of_the_locks() -> None:
    """Where something is published, or a job holds a key; `try` installs as anybody does."""
    tried = RELEASE["jobs"]["try"]["steps"]
    for step in steps():
        if step in tried:
            continue
        lines = step.get("run", "").replace("\\\n", " ").splitlines()
        for line in (line for line in lines if "pip install" in line or " -m build" in line):
            by_hash = "--require-hashes" in line and "--only-binary :all:" in line
            assert by_hash or "--no-index" in line or "--no-isolation" in line, line


def test_every_input_of_the_action_is_used_and_every_output_is_set() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    used = set(re.findall(r"\$\{\{[^}]*\binputs\.([a-z-]+)", text))
    assert used == set(ACTION["inputs"])
    set_ = set(re.findall(r'echo "(\w+)=[^"]*"(?:$| >> "\$GITHUB_OUTPUT")', text, re.MULTILINE))
    assert set(ACTION["outputs"]) <= set_


@pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are of bash")
def test_every_step_is_a_script_that_takes_no_input_as_code() -> None:
    for step in steps():
        if "run" not in step:
            continue
        assert "${{" not in step["run"], step.get("name")
        checked = subprocess.run(
            ["bash", "-n"], input=step["run"], text=True, capture_output=True, check=False
        )
        assert checked.returncode == 0, checked.stderr
