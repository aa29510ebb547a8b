"""What jobs share: budgets over workers, slots of the endpoint, and turns between keys."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Started, Veritrail
from acceptance.model_fixtures import asking, expected, pumps
from acceptance.rest.job_calls import Calls
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.waiting import until

pytestmark = pytest.mark.engine

PRICE = "1000,1000"
"""USD per million tokens, so that a call costs about a dollar."""


def costs(told: list[dict[str, Any]]) -> list[float]:
    return [one["usage"]["cost_usd"] or 0.0 for one in told]


def test_a_job_stops_at_its_number_of_calls_and_goes_on_when_it_is_raised(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "calls.json", 6))
    with ModelServer(latency=0.02) as model, serving(home, env=asking(model)) as service:
        calls = Calls(service.url)
        job = calls.wait(calls.submit("calls", max_calls=10))
        assert len(model.requests) == 10
        assert job["status"] == "failed"
        assert job["counts"]["over_budget"] > 0
        assert job["usage"]["calls"] == 10
        failed = [v for v in calls.verifications(job) if v["status"] == "over_budget"]
        assert all("10 calls" in v["error"] for v in failed)
        path = f"/v1/jobs/{job['job_id']}:resume"
        assert service.post(path).status_code == 200  # there is nothing left for it
        assert calls.wait(job["job_id"])["status"] == "failed"
        assert len(model.requests) == 10
        assert service.post(path, json={"max_calls": 1000}).status_code == 200
        job = calls.wait(job["job_id"])
        assert calls.outcome(job) == expected(6)


def test_the_budget_of_a_key_holds_over_all_of_its_jobs(home: Veritrail, tmp_path: Path) -> None:
    home("ingest", pumps(tmp_path / "key-budget.json", 9))
    made = home("keys", "create", "--name", "poor", "--scope", "verify,read", "--budget", "6",
                "--json").json  # fmt: skip
    env = {"VERITRAIL_PRICE": PRICE, "VERITRAIL_CONCURRENCY": "2"}
    submitted = threading.Event()  # until then the first calls leave money for the other jobs
    model = ModelServer(latency=lambda _: 0.0 if submitted.is_set() else 2.0)
    with model, serving(home, env=asking(model, **env)) as service:
        calls = Calls(service.url, {"Authorization": f"Bearer {made['key']}"})
        jobs = [calls.submit("key-budget", claim_ids=[f"k{n}", f"k{n + 1}"]) for n in (0, 2, 4)]
        submitted.set()
        ended = [calls.wait(one) for one in jobs]
        assert "over_budget" in {status for job in ended for status in job["counts"]}
        spent = sum(job["usage"]["cost_usd"] or 0.0 for job in ended)
        dearest = max(cost for job in ended for cost in costs(calls.verifications(job)))
        assert 6 <= spent <= 6 + 2 * dearest

        def is_refused() -> bool:  # as soon as the worker has told what it spent
            answer = calls.ask("POST", "/v1/verifications", json={"process_id": "key-budget"})
            return answer.status_code == 422 and "budget" in answer.json()["detail"]

        until(is_refused)
        cheap = calls.ask(
            "POST", "/v1/verifications", json={"process_id": "key-budget", "price": "0,0"}
        )
        assert cheap.status_code == 422
    home("keys", "revoke", made.get("key_id", "poor"))


@pytest.mark.soak
def test_two_workers_keep_to_one_number_of_calls(home: Veritrail, tmp_path: Path) -> None:
    home("ingest", pumps(tmp_path / "both.json", 16))
    env = {"VERITRAIL_CONCURRENCY": "8"}
    with ModelServer(latency=0.15) as model:
        settings = asking(model, **env)
        worker: Started = home.start("worker", **settings)
        try:
            with serving(home, env=settings) as service:
                calls = Calls(service.url, key_of(home))
                time.sleep(5)  # both have seen each other
                job = calls.wait(calls.submit("both", max_calls=30))
                assert len(model.requests) <= 30 + 8
                assert job["counts"]["over_budget"] > 0
                assert len(model.requests) >= 26
                assert model.most_at_once <= 8
        finally:
            worker.child.terminate()
            worker.child.communicate(timeout=30)


def key_of(home: Veritrail) -> dict[str, str]:
    """A key, as this home asks for one once any was made."""
    made = home("keys", "create", "--name", f"k{time.monotonic_ns()}", "--scope", "admin", "--json")
    return {"Authorization": f"Bearer {made.json['key']}"}


def test_whoever_asks_for_little_does_not_wait_for_whoever_asked_for_much(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "much.json", 28))
    home("ingest", pumps(tmp_path / "little.json", 2, filler=7))
    much, little = key_of(home), key_of(home)
    env = {"VERITRAIL_CONCURRENCY": "4"}
    with ModelServer(latency=0.1) as model, serving(home, env=asking(model, **env)) as service:
        first = Calls(service.url, much)
        second = Calls(service.url, little)
        long = first.submit("much")
        until(lambda: len(model.requests) >= 8)
        job = second.wait(second.submit("little"))
        assert job["status"] == "succeeded"
        counts = first.job(long)["counts"]
        assert counts.get("succeeded", 0) < 20, counts
        assert first.ask("POST", f"/v1/jobs/{long}:cancel").status_code == 200


@pytest.mark.soak
def test_jobs_that_ended_long_ago_are_forgotten_and_their_verifications_stay(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "old.json", 2))
    key = key_of(home)
    with serving(home) as service:
        calls = Calls(service.url, key)
        job = calls.wait(calls.submit("old", "kept as long as the job"))
    with serving(home, env={"VERITRAIL_JOBS_KEEP": "0s"}) as service:
        calls = Calls(service.url, key)
        path = f"/v1/jobs/{job['job_id']}"
        until(lambda: calls.patiently("GET", path).status_code == 404)
        events = calls.ask("GET", f"{path}/events", headers={"Accept": "application/json"})
        assert events.status_code == 404
        assert len(calls.verifications(job)) == 2
        again = calls.submit("old", "kept as long as the job")
        assert again != job["job_id"]
