"""The service and its workers killed again and again in a job, under a model that fails."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from acceptance.model_fixtures import asking, expected, paid_twice, pumps
from acceptance.rest.job_calls import Calls, Told
from acceptance.rest.test_service_faults import each_ended_once
from fakes.model_faults import INVALID, TRANSPORT, Faults
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.soak, pytest.mark.timeout(1_800)]

CLAIMS = 50
KILLS = 20
WORKER_KILLS = 10
FAULTY = Faults(0.2, TRANSPORT, seed=11, beside=(0.1, INVALID))
PATIENT = {"VERITRAIL_ATTEMPT_TIMEOUT": "3"}


@pytest.fixture
def home() -> Iterator[Veritrail]:
    with a_home() as veritrail:
        yield veritrail


def asked_at_least(model: ModelServer, number: int) -> Callable[[], bool]:
    return lambda: len(model.requests) >= number


def follow(calls: Calls, job_id: str, found: list[Told]) -> None:
    found += calls.followed(job_id, seconds=1_500)


def test_a_service_killed_20_times_in_a_job_of_50_claims_under_a_faulty_model(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "many.json", CLAIMS))
    kills: list[float] = []
    followers: list[list[Told]] = [[] for _ in range(5)]
    chance = random.Random(3)
    model = ModelServer(faults=FAULTY, latency=0.05, trickle_seconds=0.5)
    with model, serving(home, env=asking(model, **PATIENT), child=True) as service:
        calls = Calls(service.url)
        job_id = calls.submit("many", key="once")
        threads = [
            threading.Thread(target=follow, args=(calls, job_id, found)) for found in followers
        ]
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            until(asked_at_least(model, len(model.requests) + chance.randint(4, 16)))
            assert calls.job(job_id)["status"] in ("queued", "running")
            service.kill()
            kills.append(time.monotonic())
            time.sleep(chance.uniform(0.0, 0.5))
            service.start()
            assert calls.submit("many", key="once") == job_id
        job = calls.wait(job_id, seconds=300)
        for thread in threads:
            thread.join(60)
        assert job["counts"] == {"succeeded": CLAIMS}
        assert calls.outcome(job) == expected(CLAIMS)
        events = calls.listed(job_id)
    twice = paid_twice(model, kills)
    print(f"{len(model.requests)} calls, {len(twice)} paid twice, {len(events)} events")
    each_ended_once(events, CLAIMS)
    for found in followers:
        assert [one.seq for one in found] == [one.seq for one in events]
    assert len(twice) <= len(model.requests) / 100


def test_two_workers_killed_in_turn_under_a_faulty_model(
    home: Veritrail, tmp_path: Path, postgres_url: str
) -> None:
    home("ingest", pumps(tmp_path / "turns.json", CLAIMS))
    kills: list[float] = []
    chance = random.Random(4)
    with ModelServer(faults=FAULTY, latency=0.3, trickle_seconds=0.5) as model:
        env = asking(model, VERITRAIL_JOBS_URL=postgres_url, VERITRAIL_CONCURRENCY="8", **PATIENT)
        with serving(home, env=env, args=["--no-worker"]) as service:
            calls = Calls(service.url)
            workers = [home.start("worker", **env) for _ in range(2)]
            try:
                job_id = calls.submit("turns")
                for number in range(WORKER_KILLS):
                    until(asked_at_least(model, len(model.requests) + chance.randint(8, 25)))
                    dead = workers[number % 2]
                    dead.child.kill()
                    kills.append(time.monotonic())
                    dead.child.communicate()
                    workers[number % 2] = home.start("worker", **env)
                job = calls.wait(job_id, seconds=300)
            finally:
                for worker in workers:
                    worker.child.kill()
                    worker.child.communicate()
            assert job["counts"] == {"succeeded": CLAIMS}
            assert calls.outcome(job) == expected(CLAIMS)
            each_ended_once(calls.listed(job_id), CLAIMS)
    twice = paid_twice(model, kills)
    print(f"{len(model.requests)} calls, {len(twice)} paid twice")
    assert len(twice) <= len(model.requests) / 100
