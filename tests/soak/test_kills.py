"""Commands and engines killed again and again: nothing half-visible, and the next run works."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(1_800)]

ROUNDS = 12
NODES = 6_000


@pytest.fixture
def home() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="vt-soak-", dir="/tmp"))
    yield path
    veritrail(path, "db", "stop", "--json")
    shutil.rmtree(path, ignore_errors=True)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "veritrail_graph.api.cli.main", *arguments]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "VERITRAIL_HOME": str(home)}


def veritrail(home: Path, *arguments: str) -> tuple[int, Any]:
    done = subprocess.run(
        command(*arguments), env=environment(home), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr + done.stdout
    return done.returncode, json.loads(done.stdout) if done.stdout else None


def a_file(folder: Path, name: str, claims: int = 0) -> Path:
    nodes = [
        {"node_id": f"n{number}", "text": f"Gauge {number} read {number * 3} at noon. " * 4}
        for number in range(NODES)
    ]
    document = {
        "format": "veritrail.process/1",
        "process_id": name,
        "nodes": [*nodes, {"node_id": "t", "text": "All gauges were read at noon."}],
        "edges": [{"source": node["node_id"], "target": "t"} for node in nodes],
        "claims": [
            {"claim_id": f"k{number}", "text": f"Gauge {number} read {number * 3} at noon."}
            for number in range(claims)
        ],
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def engine_pid(home: Path) -> int | None:
    pid: int | None = veritrail(home, "db", "status", "--json")[1]["pid"]
    return pid


def test_a_command_killed_anywhere_in_an_ingest(home: Path, tmp_path: Path) -> None:
    path = a_file(tmp_path, "killed")
    veritrail(home, "db", "start", "--json")
    chance = random.Random(1)  # a repeatable loop, no secret
    finished = 0
    for _ in range(ROUNDS):
        child = subprocess.Popen(
            command("ingest", str(path), "--json"),
            env=environment(home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.3, 3.0))
        child.kill()
        finished += child.wait() == 0
        status, listed = veritrail(home, "list", "--json")
        assert status == 0
        assert [p["nodes"] for p in listed["processes"]] in ([], [NODES + 1])
        if listed["processes"]:
            assert veritrail(home, "delete", "killed", "--json")[0] == 0
    assert finished < ROUNDS
    status, report = veritrail(home, "ingest", str(path), "--json")
    assert (status, report["status"]) in ((0, "created"), (0, "unchanged"))
    assert veritrail(home, "db", "clean", "--json")[1] == {"cleaned": []}


def test_an_engine_killed_anywhere_in_a_verification(home: Path, tmp_path: Path) -> None:
    path = a_file(tmp_path, "verified", claims=30)
    assert veritrail(home, "ingest", str(path), "--json")[0] == 0
    chance = random.Random(2)
    for _ in range(ROUNDS):
        child = subprocess.Popen(
            command("verify", "verified", "--json"),
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(chance.uniform(0.5, 6.0))
        pid = engine_pid(home)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        out, err = child.communicate()
        assert "Traceback" not in out + err
        assert child.returncode in {0, 1, 3}
        told = json.loads(out)
        assert "verifications" in told or "error" in told
        status, listed = veritrail(home, "list", "verified", "--json")
        assert status == 0
        assert len(listed["claims"]) == 30
        for verification in listed["verifications"]:
            assert (verification["verdict"] is None) == (verification["status"] != "succeeded")
    status, told = veritrail(home, "verify", "verified", "--json")
    assert status == 0
    assert {v["status"] for v in told["verifications"]} == {"succeeded"}
    for found in told["verifications"][:5]:
        status, shown = veritrail(home, "show", found["verification_id"], "--json")
        assert (status, shown) == (0, found)


def test_two_first_commands_at_once_share_one_engine(home: Path) -> None:
    for _ in range(ROUNDS):
        children = [
            subprocess.Popen(
                command("list", "--json"),
                env=environment(home),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        for child in children:
            out, err = child.communicate()
            assert child.returncode == 0, err
            assert json.loads(out) == {"processes": []}
        assert engine_pid(home) is not None
        veritrail(home, "db", "stop", "--json")
