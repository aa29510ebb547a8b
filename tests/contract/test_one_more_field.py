"""A field that is added to the noun reaches every place that carries a verification.

The proof is the source itself: a copy of the packages with one more line in the model.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
LINE = '    mood: Text | None = Field(default=None, description="One more field.")\n'
BEHIND = "class Verification(Noun):"


def with_one_more_field(folder: Path) -> Path:
    """The packages, with one more field in the model of a verification."""
    skipped = shutil.ignore_patterns("__pycache__")
    for name in ("api", "cypher", "graph", "verifier", "veritrail_graph"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=skipped)
    path = folder / "graph" / "model" / "trail.py"
    source = path.read_text(encoding="utf-8")
    start = source.index("    q: ", source.index(BEHIND))
    path.write_text(source[:start] + LINE + source[start:], encoding="utf-8")
    return folder


def test_a_field_of_the_model_reaches_the_graph_the_file_rest_and_the_client(
    store: Store, tmp_path: Path
) -> None:
    copy = with_one_more_field(tmp_path / "copy")
    asked: dict[str, Any] = {
        "address": asdict(store.database.address),
        "home": str(tmp_path / "home"),
        "file": str(tmp_path / "process.json"),
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "fakes" / "one_more_field.py")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(copy)},
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    found = json.loads(done.stdout)
    assert found.pop("source").startswith(str(copy))
    assert found == dict.fromkeys(("graph", "noun", "file", "read back", "REST", "client"), "calm")
