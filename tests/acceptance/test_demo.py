"""The demo, as a newcomer runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.engine


def test_the_demo_shows_verdicts_beside_labels_a_path_and_an_error() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    try:
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        for sample in ("harbour-summary", "graphrag-energy"):
            assert f"$ veritrail verify {sample}" in done.stdout
        assert done.stdout.count("verdicts agree with the labels") == 2
        assert "differs" in done.stdout  # disagreements are shown, not hidden
        assert "indicative" in done.stdout
        path = done.stdout.split("Where did that come from?")[1]
        places = [path.index(f"{node}  stage {stage}") for node, stage in
                  (("c02", 1), ("s02", 2), ("g1", 3), ("final", 4))]  # fmt: skip
        assert places == sorted(places)
        error = done.stdout.split("Where did it go wrong?")[1]
        assert "introduced in s03  stage 2" in error
        assert "carried on by g1, final" in error
    finally:
        subprocess.run(
            [sys.executable, "-m", "api.cli.main", "db", "stop"], cwd=ROOT, check=False, timeout=60
        )
