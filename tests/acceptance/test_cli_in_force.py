"""What counts when a claim was verified more than once, from the command line to the gate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, pumps
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess


@pytest.fixture
def paid(veritrail: Veritrail, tmp_path: Path) -> Iterator[str]:
    """The run in which a language model judged three claims, whose process is `counted`."""
    veritrail("ingest", pumps(tmp_path / "counted.json", 3))
    with ModelServer() as server:
        told = veritrail("verify", "counted", "--json", **asking(server)).json
    assert told["not_in_force"] == []
    yield told["run_id"]
    veritrail("delete", "counted", "--yes")


def engines(veritrail: Veritrail) -> set[str]:
    rows = veritrail("query", "claims", "--param", "process_id=counted", "--json").json
    place = rows["columns"].index("engine")
    return {row[place] for row in rows["rows"]}


def test_a_free_run_replaces_no_paid_verdict_unless_it_is_pinned(
    veritrail: Veritrail, paid: str, shared_service: ServiceProcess
) -> None:
    free = ("verify", "counted", "--engine", "lexical")
    told = veritrail(*free, "--json").json
    assert told["not_in_force"] == ["k0", "k1", "k2"]
    words = veritrail(*free, "--again").err
    assert "3 of these verdicts replace none" in words
    assert "a stronger judge stays in force for k0, k1, k2" in words
    assert engines(veritrail) == {"openai"}
    assert (
        "verdicts in force: 3 claims by openai"
        in veritrail("gate", "counted", "--max-unsupported", "3").out
    )

    checked = veritrail("check", "counted", "--engine", "lexical", status=0)
    assert "counted: 3 of these verdicts replace none: those of openai" in checked.err
    shown = re.search(r"veritrail show (v-[0-9a-f]{32})$", checked.out.rstrip())
    assert shown is not None
    assert "engine lexical" in veritrail("show", shown[1]).out

    run = told["run_id"]
    pinned = veritrail("pin", run, "--json").json
    assert pinned == {"process_id": "counted", "run_of_record": run, "claims": 3}
    assert engines(veritrail) == {"lexical"}
    assert veritrail("pin", paid, "--off", status=2).err.count("is not the run of record") == 1
    assert shared_service.get("/v1/processes/counted").json()["run_of_record"] == run
    assert run in shared_service.get("/processes/counted").text
    ended = shared_service.post(f"/v1/runs/{run}:unpin")
    assert ended.json() == {"process_id": "counted", "run_of_record": None, "claims": 3}
    assert engines(veritrail) == {"openai"}


def test_what_cannot_be_pinned_is_said(veritrail: Veritrail) -> None:
    told = veritrail("pin", "r-unknown", "--json", status=2)
    assert told.message.startswith("No run 'r-unknown' is stored.")
