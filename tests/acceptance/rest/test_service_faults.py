"""The service killed, its engine and its database lost, jobs cancelled and processes deleted.

Whatever happens, every claim ends once, with the verdict that it has without faults, and no call
is paid twice beyond those in flight.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import QUICK_FAULTS, asking, expected, paid_twice, pumps
from acceptance.rest.job_calls import Calls, Told, by_claim
from fakes.model_faults import INVALID, QUICK, Faults
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.waiting import until
from postgres_server.launcher import Server

from veritrail_graph.api.jobs.model import EventKind

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

CLAIMS = 8
KILLED_AFTER = 20
"""Calls of the model; `make soak` kills the service 20 times."""
FEW = 8
"""Claims of the other tests."""
FAULTY = Faults(0.2, QUICK, seed=7, beside=(0.1, INVALID))


@pytest.fixture(scope="module")
def home(other_home: Veritrail) -> Iterator[Veritrail]:
    """A home that these tests may harm; the answers of one are not those of another."""
    with home_beside(other_home) as own:
        yield own


def each_ended_once(events: list[Told], count: int) -> None:
    """Numbers without a gap, one end for every claim, and the end of the job last."""
    assert [one.seq for one in events] == list(range(1, len(events) + 1))
    kinds = by_claim(events)
    assert len(kinds) == count
    for told in kinds.values():
        assert told.count(EventKind.CLAIM_FINISHED) == 1
        assert told[-1] == EventKind.CLAIM_FINISHED
    assert events[-1].kind == EventKind.JOB_FINISHED


# Killed.


def test_a_service_that_was_killed_ends_every_claim_once_and_pays_nothing_twice(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "killed.json", CLAIMS))
    kills: list[float] = []
    followed: list[Told] = []
    model = ModelServer(faults=FAULTY, latency=0.05)
    with model, serving(home, env=asking(model, **QUICK_FAULTS), child=True) as service:
        calls = Calls(service.url)
        job_id = calls.submit("killed", key="once")
        follower = threading.Thread(
            target=lambda: followed.extend(calls.followed(job_id, seconds=280))
        )
        follower.start()
        until(lambda: len(model.requests) >= KILLED_AFTER)
        service.kill()
        kills.append(time.monotonic())
        service.start()
        assert calls.submit("killed", key="once") == job_id
        job = calls.wait(job_id)
        follower.join(60)
        assert job["status"] == "succeeded"
        assert job["counts"] == {"succeeded": CLAIMS}
        assert calls.outcome(job) == expected(CLAIMS)
        events = calls.listed(job_id)
    each_ended_once(events, CLAIMS)
    assert [one.seq for one in followed] == [one.seq for one in events]
    assert len(paid_twice(model, kills)) <= 1  # a stalled machine may time out an answer
    assert job["usage"]["calls"] + job["usage"]["cached_calls"] > 0


def test_an_engine_that_is_lost_in_a_job_costs_no_claim(home: Veritrail, tmp_path: Path) -> None:
    home("ingest", pumps(tmp_path / "lost.json", FEW, filler=2))
    engine = home.engine_pid()
    assert engine is not None
    # Few at a time, so that the engine is missed before the last claim has all that it needs.
    env = {"VERITRAIL_CONCURRENCY": "4"}
    with ModelServer(latency=0.2) as model, serving(home, env=asking(model, **env)) as service:
        calls = Calls(service.url)
        job_id = calls.submit("lost")
        until(lambda: len(model.requests) >= FEW)
        os.kill(engine, signal.SIGKILL)
        job = calls.wait(job_id)
        assert job["counts"] == {"succeeded": FEW}
        assert calls.outcome(job) == expected(FEW)
        each_ended_once(calls.listed(job_id), FEW)
        assert len(paid_twice(model, [])) <= 4  # whose answers were on their way
    assert home.engine_pid() not in (None, engine)


def test_a_database_that_is_down_for_a_while_costs_no_claim(
    home: Veritrail, tmp_path: Path, frail_postgres: Server
) -> None:
    home("ingest", pumps(tmp_path / "down.json", FEW, filler=3))
    database = frail_postgres.new_database()
    with ModelServer(latency=0.2) as model:
        env = asking(model, VERITRAIL_JOBS_URL=database)
        with serving(home, env=env) as service:
            calls = Calls(service.url)
            job_id = calls.submit("down")
            followed: list[Told] = []
            follower = threading.Thread(
                target=lambda: followed.extend(calls.followed(job_id, seconds=280))
            )
            follower.start()
            until(lambda: len(model.requests) >= FEW)
            frail_postgres.stop()
            try:
                answer = calls.ask("GET", f"/v1/jobs/{job_id}")
                assert answer.status_code == 503
                assert int(answer.headers["retry-after"]) > 0
                assert frail_postgres.password not in answer.text
                time.sleep(1.5)
                assert calls.ask("GET", "/healthz").status_code == 200
            finally:
                frail_postgres.start()
            job = calls.wait(job_id)
            follower.join(60)
            assert job["counts"] == {"succeeded": FEW}
            assert calls.outcome(job) == expected(FEW)
            each_ended_once(calls.listed(job_id), FEW)
            assert [one.seq for one in followed] == list(range(1, len(followed) + 1))
            assert frail_postgres.password not in service.log
        assert len(paid_twice(model, [])) <= 4


# Stopped.


def test_a_cancelled_job_stops_its_calls_within_two_seconds_and_twice_does_no_harm(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "cancelled.json", FEW, filler=4))

    with ModelServer() as model:
        model.latency = lambda asked: 60.0 if asked.number >= 20 else 0.05
        with serving(home, env=asking(model)) as service:
            calls = Calls(service.url)
            job_id = calls.submit("cancelled")
            until(lambda: len(model.requests) > 20)
            time.sleep(0.5)
            assert model.in_the_air > 0
            began = time.monotonic()
            with ThreadPoolExecutor(2) as pool:
                path = f"/v1/jobs/{job_id}:cancel"
                both = [pool.submit(calls.ask, "POST", path) for _ in range(2)]
                statuses = [one.result().status_code for one in both]
            assert set(statuses) <= {200, 202}
            until(lambda: model.in_the_air == 0, seconds=5)
            assert time.monotonic() - began < 2.5
            job = calls.wait(job_id, seconds=10)
            assert job["status"] == "cancelled"
            asked = len(model.requests)
            assert calls.ask("POST", path).status_code in (200, 202)
            counts = Counter(one["status"] for one in calls.verifications(job))
            assert counts["cancelled"] > 0
            assert set(counts) <= {"cancelled", "succeeded"}
            assert counts == job["counts"]
            events = calls.listed(job_id)
            each_ended_once(events, FEW)
            assert events[-1].data["status"] == "cancelled"
            time.sleep(1)
            assert len(model.requests) == asked
            model.latency = 0.0
            resumed = calls.ask("POST", f"/v1/jobs/{job_id}:resume")
            assert resumed.status_code in (200, 202)
            job = calls.wait(job_id)
            assert calls.outcome(job) == expected(FEW)
            again = calls.listed(job_id)
            assert [one.seq for one in again] == list(range(1, len(again) + 1))
            assert [one.seq for one in events] == [one.seq for one in again[: len(events)]]
            assert again[-1].data["status"] == "succeeded"


def test_a_process_deleted_while_it_is_verified_ends_the_job_in_good_order(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "deleted.json", FEW, filler=5))
    with ModelServer(latency=0.3) as model, serving(home, env=asking(model)) as service:
        calls = Calls(service.url)
        job_id = calls.submit("deleted")
        until(lambda: len(model.requests) >= FEW)
        answer = calls.ask("DELETE", "/v1/processes/deleted")
        if answer.status_code == 409:  # as jobs of it are open
            answer = calls.ask("DELETE", "/v1/processes/deleted?force=true")
        assert answer.status_code == 204, answer.text
        job = calls.wait(job_id, seconds=30)
        assert job["status"] in ("failed", "cancelled")
        assert sum(job["counts"].values()) == FEW
        until(lambda: model.in_the_air == 0, seconds=10)
        asked = len(model.requests)
        assert calls.ask("GET", "/v1/processes/deleted").status_code == 404
        events = calls.listed(job_id)
        each_ended_once(events, FEW)
        time.sleep(1)
        assert len(model.requests) == asked
    assert "deleted" not in home.stored()


@pytest.mark.soak
def test_a_service_that_is_told_to_end_hands_back_what_runs_and_the_next_one_goes_on(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "ended.json", FEW, filler=6))
    ends: list[float] = []
    model = ModelServer(latency=0.3)
    with model, serving(home, env=asking(model), child=True) as service:
        calls = Calls(service.url)
        job_id = calls.submit("ended")
        until(lambda: len(model.requests) >= FEW)
        began = time.monotonic()
        assert service.stop() == 0
        ends += [began, time.monotonic()]
        assert ends[-1] - began < 15
        service.start()
        job = calls.wait(job_id)
        assert calls.outcome(job) == expected(FEW)
        each_ended_once(calls.listed(job_id), FEW)
        assert len(paid_twice(model, ends)) <= 1
