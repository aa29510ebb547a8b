"""Neo4j ended and started again under running jobs: every claim ends once, as without it."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from acceptance.homes import a_home
from acceptance.model_fixtures import asking, expected, paid_twice, pumps
from acceptance.rest.job_calls import Calls
from acceptance.rest.test_service_faults import each_ended_once
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.waiting import until
from neo4j_server import launcher

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(3_600)]

ROUNDS = int(os.environ.get("VERITRAIL_SOAK_ROUNDS", "8"))
CLAIMS = 24


def test_a_server_that_ends_and_comes_back_costs_no_claim(tmp_path: Path) -> None:
    chance = random.Random(9)  # a repeatable loop, no secret
    paid = asked = 0
    with launcher.returning() as (neo4j, server), a_home() as home:
        on_server = home.on(server)
        for number in range(ROUNDS):
            name = f"restarted-{number}"
            # Prompts of one round are none of another's.
            on_server("ingest", pumps(tmp_path / f"{name}.json", CLAIMS, filler=number + 1))
            ends: list[float] = []
            with (
                ModelServer(latency=0.3) as model,
                serving(on_server, env=asking(model, VERITRAIL_CONCURRENCY="6")) as service,
            ):
                calls = Calls(service.url)
                job_id = calls.submit(name)
                until(lambda: len(model.requests) >= chance.randint(4, 30))
                ends.append(time.monotonic())
                neo4j.end(in_order=number % 2 == 0)
                time.sleep(chance.uniform(0.0, 6.0))
                neo4j.begin()
                ends.append(time.monotonic())
                job = calls.wait(job_id, seconds=300)
                assert job["counts"] == {"succeeded": CLAIMS}, job
                assert calls.outcome(job) == expected(CLAIMS)
                each_ended_once(calls.listed(job_id), CLAIMS)
                paid += len(paid_twice(model, ends))
                asked += len(model.requests)
            stored = on_server("list", name, "--json").json
            assert len(stored["verifications"]) == CLAIMS, "one of each"
    print(f"{ROUNDS} restarts, {asked} calls, {paid} paid twice")
    assert paid <= ROUNDS * 6, "no more than what was in flight"
