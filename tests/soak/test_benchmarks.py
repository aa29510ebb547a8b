"""Benchmarks of seconds run once, at a small size: lines with figures, and none that could not run.

What they measure at that size says nothing; that they run is all that is asked.
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
PARTS = ("help", "recorder", "batches", "own-cost")
"""Those that take seconds on a quiet machine at this size, and need one engine at most."""
_FIGURE = re.compile(r"^(?:ok|MISS|info) +\S.*\d", re.MULTILINE)


@pytest.mark.parametrize("part", PARTS)
def test_a_benchmark_runs_and_prints_a_figure(part: str) -> None:
    command = [sys.executable, "-m", "benchmarks", "--only", part, *SMALL]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3_500
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    assert "FAIL" not in ended.stdout, said
    assert _FIGURE.search(ended.stdout), said
