"""Commands that verify at the same time find what one after the other finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import EXAMPLES

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(600)]

SAMPLE = EXAMPLES / "harbour-summary.json"


@pytest.fixture(params=["embedded", "neo4j"])
def either(request: pytest.FixtureRequest, beside: Veritrail) -> Iterator[Veritrail]:
    """The command on the embedded engine, and on a real Neo4j."""
    if request.param == "embedded":
        yield beside
        return
    command = beside.on(request.getfixturevalue("neo4j_server"))
    yield command
    for process_id in ("together-1", "together-2"):
        command("delete", process_id, "--yes", "--json")


def found(result: Any) -> list[Any]:
    """What was found, without the ids and times of the run that found it."""
    own = ("verification_id", "created_at", "run_id", "process_id")
    return [{k: v for k, v in each.items() if k not in own} for each in result["verifications"]]


def test_runs_at_once_over_one_process_and_over_two(either: Veritrail, tmp_path: Path) -> None:
    content = json.loads(SAMPLE.read_text(encoding="utf-8"))
    content["claims"] = content["claims"][:8]
    for name in ("together-1", "together-2"):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps({**content, "process_id": name}), encoding="utf-8")
        either("ingest", str(file), "--json")
    alone = found(either("verify", "together-1", "--json").json)
    assert len(alone) > 1
    assert {each["status"] for each in alone} <= {"succeeded", "undecided"}
    names = ("together-1", "together-1", "together-2")
    runs = [either.start("verify", name, "--again", "--json") for name in names]
    ended = [run.end(0).json for run in runs]
    assert [found(one) for one in ended] == [alone, alone, alone]
    assert len({one["run_id"] for one in ended}) == len(names)
    for name, one in zip(names, ended, strict=True):
        last = one["verifications"][-1]
        assert last["process_id"] == name
        assert either("show", last["verification_id"], "--json").json == last
