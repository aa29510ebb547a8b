"""An ingest in a process of its own, killed with SIGKILL: once, in the soak again and again."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from fakes.graph_dump import dump

from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.store import DatabaseAddress, Store

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1_800)]

ROOT = Path(__file__).resolve().parents[2]


def a_file(folder: Path, name: str, nodes: int) -> Path:
    """Layers of nodes in which every node has several sources, and one that many feed."""
    chance = random.Random(nodes)  # the same each time
    lines: list[dict[str, Any]] = [{"format": "veritrail.process/1", "process_id": name}]
    lines += [
        {"node": {"node_id": f"n{n}", "text": f"Gauge {n} read {n * 3}."}} for n in range(nodes)
    ]
    for target in range(nodes // 4, nodes):
        for source in chance.sample(range(max(0, target - 300), target), 3):
            lines.append({"edge": {"source": f"n{source}", "target": f"n{target}"}})
    lines += [{"node": {"node_id": "t", "text": "All gauges."}}]
    lines += [{"edge": {"source": f"n{n}", "target": "t"}} for n in range(nodes)]
    lines += [{"claim": {"claim_id": "k", "text": "All gauges.", "node_id": "t"}}]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def ingest_and_kill(address: DatabaseAddress, path: Path, after: int, *, replace: bool) -> str:
    """Run an ingest and kill it after a number of batches, or (0) never; its last line."""
    child = subprocess.Popen(
        [sys.executable, "-m", "fakes.ingest_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps({"login": asdict(address), "file": str(path), "replace": replace}))
    child.stdin.close()
    last = ""
    for number, line in enumerate(child.stdout, start=1):
        last = line.strip()
        if number == after:
            child.kill()
            break
    child.stdout.close()
    child.wait()
    return last


def kill_loop(
    address: DatabaseAddress,
    store: Store,
    arun: Any,
    path: Path,
    name: str,
    nodes: int,
    replace: bool,
    most: int,
) -> int:
    """Kill ingests of a file until one ends; how often it went on. The result is as if at once."""
    source = ProcessFileImporter().open(path, ImportOptions())
    arun(ingest(store, source))
    whole = arun(dump(store, name, "created_at", "first_stored_at"))
    arun(store.processes.delete(name))
    if replace:
        first = ProcessFileImporter().open(a_file(path.parent, "first", 40), ImportOptions())
        arun(ingest(store, first, process_id=name))
    chance = random.Random(nodes)
    kills = 0
    while not (last := ingest_and_kill(
        address,
        path,
        chance.randint(1, 14 if nodes > 400 else 20) if kills < most else 0,
        replace=replace,
    )).startswith("done"):  # fmt: skip
        kills += 1
        assert kills < 200
        if kills % 3 == 0 or kills == most:
            kept = arun(store.processes.state(name))
            assert (kept.status if kept else None) == ("ready" if replace else "loading")
    assert last.split()[2] == "True"
    assert arun(dump(store, name, "created_at", "first_stored_at")) == whole
    return kills


@pytest.mark.parametrize(
    ("nodes", "replace", "least", "most"),
    [
        (400, True, 1, 1),
        pytest.param(400, True, 1, 200, marks=pytest.mark.soak),
        pytest.param(400, False, 1, 200, marks=pytest.mark.soak),
        pytest.param(5_000, True, 20, 200, marks=pytest.mark.soak),
        pytest.param(5_000, False, 20, 200, marks=pytest.mark.soak),
    ],
)
def test_killed_once_or_again_and_again_an_ingest_ends_as_if_nobody_had(
    address: DatabaseAddress,
    store: Store,
    arun: Any,
    process_id: str,
    tmp_path: Path,
    nodes: int,
    replace: bool,
    least: int,
    most: int,
) -> None:
    path = a_file(tmp_path, process_id, nodes)
    assert kill_loop(address, store, arun, path, process_id, nodes, replace, most) >= least
