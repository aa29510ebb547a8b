"""Two workers on one PostgreSQL share a job; what a dead one had begun, the other takes over."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from acceptance.command import Started, Veritrail
from acceptance.model_fixtures import asking, expected, paid_twice, pumps
from acceptance.rest.job_calls import Calls, Told, by_claim
from acceptance.rest.test_service_faults import each_ended_once
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.waiting import until
from postgres_server.launcher import Server

from veritrail_graph.api.jobs.model import EventKind

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

CLAIMS = 12
TAKEN_OVER_SECONDS = 30.0
"""How long the claims of a dead worker may wait for another one, on a machine that is busy too."""
SLOW = 0.4


@dataclass
class Worker:
    """A worker that works."""

    command: Started
    worker_id: str


@contextmanager
def working(home: Veritrail, database: str, **env: str) -> Iterator[Worker]:
    """`veritrail worker`, from when it takes what there is until the end of the block."""
    command = home.start("worker", VERITRAIL_JOBS_URL=database, **env)
    try:
        yield Worker(command, command.until_said(r"Working as (\S+)\n"))
        if command.child.poll() is None:
            command.child.terminate()
            command.end(0)
    finally:
        if command.child.poll() is None:
            command.child.kill()
            command.child.communicate()


def asked(database: str, query: str) -> list[Any]:
    """Rows of a query; none as long as there are no tables."""
    with psycopg.connect(database) as connection:
        try:
            return connection.execute(query.encode()).fetchall()
        except psycopg.errors.UndefinedTable:
            return []


def holders(database: str) -> Counter[str]:
    """How many claims each worker has."""
    query = "SELECT worker_id FROM job_claims WHERE status = 'running'"
    return Counter(row[0] for row in asked(database, query))


@dataclass(frozen=True)
class Crew:
    """A service that works on nothing, and two workers that share its database and a model."""

    calls: Calls
    model: ModelServer
    database: str
    workers: tuple[Worker, Worker]

    def begin(self, process_id: str, calls: int) -> str:
        """Submit a job; a number of calls of it are made when this returns."""
        asked = len(self.model.requests)
        job_id = self.calls.submit(process_id)
        until(lambda: len(self.model.requests) >= asked + calls)
        return job_id

    def busier(self) -> Worker:
        held = holders(self.database)
        return max(self.workers, key=lambda worker: held[worker.worker_id])

    def ended_well(self, job_id: str) -> list[Told]:
        """Wait for the end of a job whose claims all have their verdict, once; gives its events."""
        job = self.calls.wait(job_id)
        assert job["counts"] == {"succeeded": CLAIMS}
        assert self.calls.outcome(job) == expected(CLAIMS)
        events = self.calls.listed(job_id)
        each_ended_once(events, CLAIMS)
        return events


@pytest.fixture(scope="module")
def crew(
    home: Veritrail, postgres_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crew]:
    """The last test of this module that takes it kills one of the workers."""
    folder, database = tmp_path_factory.mktemp("crew"), postgres_server.new_database()
    for filler, name in enumerate(("turns", "still", "shared"), 2):
        home("ingest", pumps(folder / f"{name}.json", CLAIMS, filler))
    with ModelServer(latency=SLOW) as model:
        env = asking(model, VERITRAIL_CONCURRENCY="8")
        jobs_env = {**env, "VERITRAIL_JOBS_URL": database}
        with (
            serving(home, env=jobs_env, args=["--no-worker"]) as service,
            working(home, database, **env) as one,
            working(home, database, **env) as other,
        ):
            yield Crew(Calls(service.url), model, database, (one, other))


def test_two_workers_at_one_job_do_nothing_twice_and_share_the_limit_of_the_endpoint(
    crew: Crew,
) -> None:
    events = crew.ended_well(crew.calls.submit("turns"))
    assert crew.model.most_at_once <= 8  # of all workers together
    assert all(worker.command.child.poll() is None for worker in crew.workers)
    started = [told.count(EventKind.CLAIM_STARTED) for told in by_claim(events).values()]
    assert started == [1] * CLAIMS
    assert paid_twice(crew.model, []) == []


@pytest.mark.soak
def test_a_worker_that_stood_still_is_replaced_and_does_no_harm_when_it_goes_on(
    crew: Crew,
) -> None:
    job_id = crew.begin("still", calls=20)
    asked, still = len(crew.model.requests), crew.busier()
    # As a machine that sleeps: only its beat shows that it has stopped.
    still.command.child.send_signal(signal.SIGSTOP)
    stood = time.monotonic()
    try:
        until(lambda: holders(crew.database)[still.worker_id] == 0, TAKEN_OVER_SECONDS)
        until(lambda: len(crew.model.requests) >= asked + 10)
        print(f"taken over {time.monotonic() - stood:.1f} s after it stood still")
    finally:
        still.command.child.send_signal(signal.SIGCONT)
    crew.ended_well(job_id)
    assert len(paid_twice(crew.model, [stood])) <= 8  # what it had in flight


def test_a_killed_worker_is_replaced_by_the_other_one_without_a_person(crew: Crew) -> None:
    sent = len(crew.model.requests)
    job_id = crew.calls.submit("shared")
    # Neither takes all of it, while the other has nothing to do.
    both = {worker.worker_id for worker in crew.workers}
    until(lambda: set(holders(crew.database)) == both)
    until(lambda: len(crew.model.requests) >= sent + 20)
    dead = crew.busier()
    dead.command.child.kill()
    killed = time.monotonic()
    dead.command.child.communicate()
    until(lambda: holders(crew.database)[dead.worker_id] == 0, TAKEN_OVER_SECONDS)
    until(lambda: set(holders(crew.database)) == both - {dead.worker_id}, TAKEN_OVER_SECONDS)
    print(f"taken over {time.monotonic() - killed:.1f} s after the kill")
    events = crew.ended_well(job_id)
    again = [told.count(EventKind.CLAIM_STARTED) for told in by_claim(events).values()]
    assert max(again) == 2  # some were begun by the one and ended by the other
    # What had just come when it was killed is asked again.
    del crew.model.requests[:sent]
    assert len(paid_twice(crew.model, [killed])) <= 1


@pytest.mark.soak
def test_a_job_waits_for_a_worker_and_a_worker_that_ends_hands_back_what_it_had(
    home: Veritrail, tmp_path: Path, postgres_url: str
) -> None:
    home("ingest", pumps(tmp_path / "waits.json", 12, filler=3))
    with ModelServer(latency=SLOW) as model:
        env = asking(model)
        jobs_env = {**env, "VERITRAIL_JOBS_URL": postgres_url}
        with serving(home, env=jobs_env, args=["--no-worker"]) as service:
            calls = Calls(service.url)
            job_id = calls.submit("waits")
            time.sleep(1.5)
            assert calls.job(job_id)["status"] == "queued"
            assert model.requests == []
            with working(home, postgres_url, **env) as first:
                until(lambda: len(model.requests) >= 10)
                began = time.monotonic()
                first.command.child.terminate()
                first.command.end(0)
                assert time.monotonic() - began < 12
                ended = time.monotonic()
            with working(home, postgres_url, **env):
                job = calls.wait(job_id)
            assert calls.outcome(job) == expected(12)
            each_ended_once(calls.listed(job_id), 12)
            assert len(paid_twice(model, [began, ended])) <= 1
