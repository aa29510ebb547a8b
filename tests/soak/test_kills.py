"""Commands and engines killed again and again: nothing half-visible, and the next run works."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(1_800)]

ROUNDS = 12
NODES = 6_000


@pytest.fixture
def home() -> Iterator[Veritrail]:
    with a_home() as veritrail:
        yield veritrail


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


def test_a_command_killed_anywhere_in_an_ingest(home: Veritrail, tmp_path: Path) -> None:
    path = a_file(tmp_path, "killed")
    home("db", "start")
    chance = random.Random(1)  # a repeatable loop, no secret
    finished = 0
    for _ in range(ROUNDS):
        child = home.start("ingest", str(path), "--json").child
        time.sleep(chance.uniform(0.3, 3.0))
        child.kill()
        child.communicate()
        finished += child.returncode == 0
        listed = home("list", "--json").json["processes"]
        assert [process["nodes"] for process in listed] in ([], [NODES + 1])
        if listed:
            home("delete", "killed", "--yes")
    assert finished < ROUNDS
    assert home("ingest", str(path), "--json").json["status"] in ("created", "unchanged")
    assert home("db", "clean", "--json").json == {"cleaned": []}


def test_an_engine_killed_anywhere_in_a_verification(home: Veritrail, tmp_path: Path) -> None:
    home("ingest", str(a_file(tmp_path, "verified", claims=30)))
    chance = random.Random(2)
    for _ in range(ROUNDS):
        child = home.start("verify", "verified", "--json").child
        time.sleep(chance.uniform(0.5, 6.0))
        pid = home.engine_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        out, err = child.communicate()
        assert b"Traceback" not in out + err
        assert child.returncode in {0, 1, 3}
        told = json.loads(out)
        assert "verifications" in told or "error" in told
        listed = home("list", "verified", "--json").json
        assert len(listed["claims"]) == 30
        for verification in listed["verifications"]:
            assert (verification["verdict"] is None) == (verification["status"] != "succeeded")
    told = home("verify", "verified", "--json").json
    assert {v["status"] for v in told["verifications"]} == {"succeeded"}
    for found in told["verifications"][:5]:
        assert home("show", found["verification_id"], "--json").json == found


def test_first_commands_at_once_share_one_engine(home: Veritrail) -> None:
    for _ in range(ROUNDS):
        children = [home.start("list", "--json") for _ in range(3)]
        assert [child.end(0).json for child in children] == [{"processes": []}] * 3
        assert home.engine_pid() is not None
        home("db", "stop")
