"""A field that is added to the noun reaches every place that carries or shows a verification.

The proof is the source itself: a copy of the packages with one more line in the model, and one
more fact in the document of a trail. What computes a field comes on top: the answer of the judge,
the outcome of the walk, and the driver that makes the noun of it.
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
ADDED = {
    "graph/model/trail.py": (
        "class Verification(Noun):",
        "    q: ",
        '    confidence: Text | None = Field(default=None, description="One more field.")\n',
    ),
    "api/show/trail.py": (
        "def _facts(",
        "    if found.run_id:",
        "    if found.confidence is not None:\n"
        '        yield Fact("confidence", (said(found.confidence),))\n',
    ),
}
"""What is added to which file: behind a line, before another one."""


def with_one_more_field(folder: Path) -> Path:
    """The packages, with one more field of a verification, which is shown."""
    # With what is compiled: it fits the copies, which keep the times of the files.
    for name in ("api", "cypher", "graph", "verifier", "veritrail_graph"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for name, (behind, before, lines) in ADDED.items():
        path = folder / name
        source = path.read_text(encoding="utf-8")
        start = source.index(before, source.index(behind))
        path.write_text(source[:start] + lines + source[start:], encoding="utf-8")
    return folder


def test_a_field_in_two_files_reaches_graph_file_rest_client_and_every_writer(
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
    carried = ("graph", "noun", "file", "read back", "REST", "client")
    shown = ("terminal", "Markdown", "assistants", "notebook", "report", "page")
    assert found == dict.fromkeys((*carried, *shown), "rather calm")
