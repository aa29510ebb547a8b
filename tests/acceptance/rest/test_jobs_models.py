"""Jobs that ask models: extraction, cost, and an endpoint that refuses the key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, expected, pumps
from acceptance.rest.job_calls import Calls
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.waiting import until

pytestmark = pytest.mark.engine


def test_a_job_with_a_model_comes_to_what_the_command_comes_to(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "judged.json", 3))
    with ModelServer() as model, serving(home, env=asking(model)) as service:
        calls = Calls(service.url)
        job = calls.wait(calls.submit("judged", price="1,2"))
        assert calls.outcome(job) == expected(3)
        assert job["usage"]["calls"] == len(model.requests)
        cost = sum(one["usage"]["cost_usd"] or 0 for one in calls.verifications(job))
        assert job["usage"]["cost_usd"] == pytest.approx(cost)
        assert cost > 0


def test_a_key_that_the_endpoint_refuses_fails_the_job_fast_and_with_one_message(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "refused.json", 12))
    model = ModelServer(key="sk-another")
    with model, serving(home, env=asking(model, VERITRAIL_CONCURRENCY="4")) as service:
        calls = Calls(service.url)
        job = calls.wait(calls.submit("refused"), seconds=20)
        assert job["status"] == "failed"
        assert "key" in job["error"]
        assert "sk-test" not in job["error"]
        assert sum(job["counts"].values()) == 12
        assert set(job["counts"]) <= {"failed", "cancelled"}
        assert len(model.requests) <= 4  # those that were made at once
        model.key = None
        assert service.post(f"/v1/jobs/{job['job_id']}:resume").status_code == 200
        job = calls.wait(job["job_id"])
        assert calls.outcome(job) == expected(12)
        assert job["error"] is None


def test_an_extraction_is_cancelled_within_two_seconds_and_taken_up_again_to_verify_what_it_finds(
    home: Veritrail, tmp_path: Path
) -> None:
    home("ingest", pumps(tmp_path / "halfway.json", 4))
    with ModelServer() as model:
        model.latency = lambda asked: 60.0 if asked.number >= 5 else 0.0
        with serving(home, env=asking(model)) as service:
            calls = Calls(service.url)
            body = {"process_id": "halfway", "extract": True}
            accepted = service.post("/v1/verifications", json=body).json()
            assert accepted["verification_ids"] == []
            job_id = accepted["job_id"]
            until(lambda: len(model.requests) > 5)
            began = time.monotonic()
            assert service.post(f"/v1/jobs/{job_id}:cancel").status_code == 200
            until(lambda: model.in_the_air == 0, seconds=5)
            assert time.monotonic() - began < 2.5
            job = calls.wait(job_id, seconds=10)
            assert (job["status"], job["verification_ids"]) == ("cancelled", [])
            model.latency = 0.0
            assert service.post(f"/v1/jobs/{job_id}:resume").status_code == 200
            job = calls.wait(job_id)
            assert job["status"] == "succeeded", job
            assert job["counts"] == {"succeeded": 4}
            # Their ids appear in the job once they are extracted.
            assert len(job["verification_ids"]) == 4
            assert {one["claim"] for one in calls.verifications(job)} == {
                one["text"] for one in service.get("/v1/processes/halfway/claims").json()["claims"]
            }
            assert model.of("claim_selection")
            events = calls.listed(job_id)
            assert [one.seq for one in events] == list(range(1, len(events) + 1))


def test_a_process_that_was_replaced_since_ends_the_job_with_that_reason(
    home: Veritrail, tmp_path: Path
) -> None:
    file = pumps(tmp_path / "replaced.json", 6)
    home("ingest", file)
    with ModelServer(latency=0.2) as model:
        with serving(home, env=asking(model), args=["--no-worker"]) as service:
            job_id = Calls(service.url).submit("replaced")
        home("ingest", pumps(tmp_path / "replaced.json", 6, filler=3), "--replace")
        with serving(home, env=asking(model)) as service:
            job = Calls(service.url).wait(job_id, seconds=60)
            assert job["status"] == "cancelled"
            assert "replaced" in job["error"]
            assert job["counts"] == {"cancelled": 6}
            assert model.requests == []
