"""Every benchmark run once, at a small size: lines with figures, and none that could not run.

What they measure at that size says nothing; that they run is all that is asked. Left out is `peers`
alone: it fetches the libraries that it is held against.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(3_600)]

ROOT = Path(__file__).parents[2]
SMALL = ("--engine", "embedded", "--scale", "0.01", "--repeat", "1", "--claims", "20")
SIZES = ("--nodes", "500")
PARTS = (
    "help", "recorder", "imports", "simulation", "batches", "ingest", "walk", "trail", "verify",
    "queries", "provenance", "reading", "cost", "own-cost", "schedule", "many", "money", "since",
    "attribution", "dialogues", "check", "jobs", "service", "pages", "growth", "workers",
)  # fmt: skip
LEFT_OUT = {"peers"}
_FIGURE = re.compile(r"^(?:ok|MISS|info) +\S.*\d", re.MULTILINE)


@pytest.mark.parametrize("part", PARTS)
def test_a_benchmark_runs_and_prints_a_figure(part: str) -> None:
    command = [sys.executable, "-m", "benchmarks", "--only", part, *SMALL, *SIZES]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3_500
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    assert "FAIL" not in ended.stdout, said
    assert _FIGURE.search(ended.stdout), said


def test_every_benchmark_is_run_but_those_that_are_left_out() -> None:
    command = [sys.executable, "-m", "benchmarks", "--help"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    choices = re.search(r"--only \{([\w,\s-]+)\}", ended.stdout)
    assert choices is not None, ended.stdout
    assert set(re.sub(r"\s", "", choices[1]).split(",")) == {*PARTS} | LEFT_OUT
