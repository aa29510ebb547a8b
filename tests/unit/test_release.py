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
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def steps() -> list[dict[str, Any]]:
    return [
        *(step for job in RELEASE["jobs"].values() for step in job["steps"]),
        *ACTION["runs"]["steps"],
    ]


def test_only_what_was_tried_is_published() -> None:
    jobs = RELEASE["jobs"]
    assert jobs["try"]["needs"] == "build"
    assert set(jobs["publish"]["needs"]) == {"try", "image"}
    for name in ("publish", "site"):
        assert jobs[name]["if"] == "github.ref_type == 'tag'"
    tried = "\n".join(step.get("run", "") for step in jobs["try"]["steps"])
    assert "veritrail demo" in tried
    assert RELEASE["permissions"] == {"contents": "read"}


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
