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


def test_words_do_not_make_good_a_failed_check_of_a_model_and_the_advice_does(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    veritrail("ingest", pumps(tmp_path / "dropped.json", 2))
    asked = ("verify", "dropped", "--engine", "openai")
    with ModelServer(key="another") as server:
        veritrail(*asked, status=3, **asking(server))
        first = veritrail("gate", "dropped", status=1).out
        veritrail("verify", "dropped", "--engine", "lexical")
        by_words = veritrail("gate", "dropped", "--max-unsupported", "2", status=1).out
        for said in (first, by_words):
            assert "the latest check by openai scripted ended without a verdict" in said
        assert by_words.count("could not be checked: 2 (2 with another result in force)") == 1
        assert "could not be checked 2 (2 with another result in force)" in by_words
        server.key = None
        (advised,) = re.findall(r"To go on: veritrail (verify --resume r-\w+)$", by_words, re.M)
        veritrail(*advised.split(), **asking(server))
    assert "could not be checked: 0," in veritrail("gate", "dropped", "--max-unsupported", "1").out
    veritrail("delete", "dropped", "--yes")


def test_what_cannot_be_pinned_is_said(veritrail: Veritrail) -> None:
    told = veritrail("pin", "r-unknown", "--json", status=2)
    assert told.message.startswith("No run 'r-unknown' is stored.")
