"""Hundreds of claims, an endpoint that fails, kills without end: all is right in the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from acceptance.model_fixtures import (
    asking,
    expected,
    kill_when,
    outcome,
    paid_twice,
    pumps,
    run_id,
    statuses,
)
from fakes.model_faults import INVALID, TRANSPORT, Faults
from fakes.model_server import ModelServer
from fakes.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(1_800)]

CLAIMS = 300
KILLS = (150, 500, 900, 1_300, 1_700, 2_200)
"""After how many calls the command is killed."""
AT_ONCE = 32
OPTIONS = ("--concurrency", str(AT_ONCE), "--max-sentences", "400", "--max-root-sentences", "400")


@pytest.fixture
def veritrail() -> Iterator[Veritrail]:
    with a_home() as veritrail:
        yield veritrail


def test_300_claims_with_30_percent_faults_and_6_kills_all_end_as_without(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    veritrail("ingest", pumps(tmp_path / "many.json", CLAIMS))
    faults = Faults(0.2, TRANSPORT, seed=5, beside=(0.1, INVALID))
    kills: list[float] = []
    finished: set[str] = set()
    with ModelServer(faults=faults, latency=0.05, trickle_seconds=0.5) as server:
        settings = asking(server, VERITRAIL_ATTEMPT_TIMEOUT="5")
        begin: Sequence[str] = ("verify", "many", *OPTIONS)
        for calls in KILLS:
            kill_when(veritrail.start(*begin, "--json", **settings), server, calls)
            kills.append(time.monotonic())
            begin = ("verify", "--resume", run_id(veritrail, "many"), *OPTIONS[:2])
            now = statuses(veritrail, "many")
            assert len(now) == CLAIMS
            assert finished <= {one for one, status in now.items() if status == "succeeded"}
            finished = {one for one, status in now.items() if status == "succeeded"}
        told = veritrail(*begin, "--json", **settings).json
    assert outcome(told) == expected(CLAIMS)
    assert Counter(statuses(veritrail, "many").values()) == {"succeeded": CLAIMS}
    share = sum(server.faults_sent.values()) / len(server.requests)
    assert share == pytest.approx(0.3, abs=0.04)
    # A stalled machine may run into a time-out although the answer was sent.
    assert len(paid_twice(server, kills)) <= len(server.requests) / 100
    until(lambda: server.in_the_air == 0)


def test_a_graph_that_is_lost_in_the_middle_costs_no_answer(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    veritrail("ingest", pumps(tmp_path / "lost.json", 30))
    one_by_one = ("--concurrency", "4", "--json")
    with ModelServer(latency=0.05) as server:
        started = veritrail.start("verify", "lost", *one_by_one, **asking(server))
        until(lambda: len(server.requests) > 60)
        veritrail.kill_engine()
        ended = started.end(1)
        assert "could not be stored" in ended.message
        run = ended.json["run_id"]
        assert f"--resume {run}" in ended.err
        told = veritrail("verify", "--resume", run, "--json", **asking(server)).json
        assert outcome(told) == expected(30)
        assert len(paid_twice(server, [])) <= 4  # whose answers were on their way
