"""Submitting jobs over REST: what is begun, what is refused, and what is not begun twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import pumps
from acceptance.rest.job_calls import Calls
from fakes.service_process import ServiceProcess, serving

pytestmark = pytest.mark.engine

CLAIMS = 3


@pytest.fixture(scope="module")
def home(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Veritrail]:
    folder = tmp_path_factory.mktemp("processes")
    with home_beside(veritrail) as own:
        for name in ("first", "second", "third"):
            own("ingest", pumps(folder / f"{name}.json", CLAIMS))
        yield own


@pytest.fixture(scope="module")
def service(home: Veritrail) -> Iterator[ServiceProcess]:
    """A service without models: the lexical engine judges."""
    with serving(home) as running:
        running.until_ready()
        yield running


def submitted(service: ServiceProcess, key: str | None = None, **body: Any) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return service.post("/v1/verifications", json=body, headers=headers)


def test_a_job_verifies_the_stored_claims_and_leaves_their_trails_in_the_graph(
    service: ServiceProcess, home: Veritrail
) -> None:
    accepted = submitted(service, process_id="first").json()
    assert set(accepted) == {"job_id", "verification_ids"}
    for one in accepted["verification_ids"]:  # they are there from the beginning
        assert service.get(f"/v1/verifications/{one}").json()["verification_id"] == one
    calls = Calls(service.url)
    job = calls.wait(accepted["job_id"])
    assert job["status"] == "succeeded"
    assert job["verification_ids"] == accepted["verification_ids"]
    assert job["counts"] == {"succeeded": CLAIMS}
    told = home("list", "first", "--json").json
    assert [run["run_id"] for run in told["runs"]] == [job["run_id"]]
    claims = [one["claim_id"] for one in calls.verifications(job)]
    assert claims == [f"k{number}" for number in range(CLAIMS)]
    shown = home("show", job["verification_ids"][0], "--json").json
    assert shown == service.get(f"/v1/verifications/{job['verification_ids'][0]}").json()


def test_what_was_verified_with_the_same_settings_belongs_to_the_job_at_once(
    service: ServiceProcess,
) -> None:
    calls = Calls(service.url)
    first = calls.wait(calls.submit("second"))
    again = calls.job(calls.submit("second"))
    assert again["status"] == "succeeded"  # nothing was left to do
    assert again["reused"] == CLAIMS
    assert again["verification_ids"] == first["verification_ids"]
    assert [told.kind for told in calls.listed(again["job_id"])] == ["job.finished"]
    anew = calls.wait(calls.submit("second", again=True))
    assert set(anew["verification_ids"]).isdisjoint(first["verification_ids"])
    other = calls.wait(calls.submit("second", q=1))
    assert other["reused"] == 0


def test_the_same_key_and_body_is_the_same_job_and_another_body_a_conflict(
    service: ServiceProcess,
) -> None:
    body = {"process_id": "third", "claim_ids": ["k1"]}
    first, again = (submitted(service, "the key", **body) for _ in range(2))
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert first.headers["location"] == again.headers["location"]
    # What is said as it is by default anyway is no other request.
    spelt = submitted(service, "the key", **body, q=3, extract=False)
    assert spelt.json() == first.json()
    other = submitted(service, "the key", process_id="third", claim_ids=["k2"])
    assert other.status_code == 409
    assert other.json()["type"] == "urn:veritrail:problem:idempotency-conflict"
    assert submitted(service, None, **body).json()["job_id"] != first.json()["job_id"]


def test_a_key_whose_process_was_deleted_begins_a_new_job(
    service: ServiceProcess, home: Veritrail, tmp_path: Path
) -> None:
    calls, body = Calls(service.url), {"process_id": "fourth"}
    file = pumps(tmp_path / "fourth.json", CLAIMS)
    home("ingest", file)
    first = submitted(service, "deleted", **body).json()
    calls.wait(first["job_id"])
    assert submitted(service, "deleted", **body).json() == first
    assert service.delete("/v1/processes/fourth").status_code == 204
    assert submitted(service, "deleted", **body).status_code == 404
    home("ingest", file)
    with ThreadPoolExecutor(5) as pool:
        answers = [pool.submit(submitted, service, "deleted", **body) for _ in range(5)]
        told = [one.result() for one in answers]
    assert len({one.text for one in told}) == 1
    second = told[0].json()
    assert second["job_id"] != first["job_id"]
    assert set(second["verification_ids"]).isdisjoint(first["verification_ids"])
    assert calls.wait(second["job_id"])["counts"] == {"succeeded": CLAIMS}
    assert submitted(service, "deleted", **body).json() == second
    home("delete", "fourth", "--yes")


def test_two_idempotency_keys_are_refused(service: ServiceProcess) -> None:
    headers = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    answer = service.post("/v1/verifications", json={"process_id": "third"}, headers=headers)
    assert answer.status_code == 422
    assert "is sent twice" in answer.text


def test_only_its_owner_reads_what_the_service_keeps(
    service: ServiceProcess, home: Veritrail
) -> None:
    assert service.get("/readyz").status_code == 200
    files = list(service.home.glob("*.sqlite3*"))
    assert {"jobs.sqlite3", "service.sqlite3"} <= {file.name for file in files}
    assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}
    workers = service.home / "workers"
    assert [path for path in (workers, *workers.iterdir()) if path.stat().st_mode & 0o077] == []


def test_twenty_at_once_under_one_key_are_one_job(service: ServiceProcess) -> None:
    before = len(service.get("/v1/jobs").json()["jobs"])
    with ThreadPoolExecutor(20) as pool:
        body = {"process_id": "third", "claims": ["Pump0 delivered 10000."]}
        answers = [pool.submit(submitted, service, "at-once", **body) for _ in range(20)]
        told = [one.result() for one in answers]
    assert {one.status_code for one in told} == {202}
    assert len({one.text for one in told}) == 1
    assert len(service.get("/v1/jobs").json()["jobs"]) == before + 1


def test_jobs_are_listed_newest_first_by_the_page_and_by_filters(service: ServiceProcess) -> None:
    calls = Calls(service.url)
    made = [
        calls.wait(calls.submit("first", q=number, claim_ids=["k0"]))["job_id"]
        for number in (2, 4, 5)
    ]
    everything = service.get("/v1/jobs").json()["jobs"]
    assert [one["job_id"] for one in everything][:3] == made[::-1]
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = service.get("/v1/jobs", params={"limit": 2, **cursor}).json()
        found += [one["job_id"] for one in page["jobs"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert found == [one["job_id"] for one in everything]
    of_first = service.get("/v1/jobs", params={"process_id": "first"}).json()["jobs"]
    assert {one["process_id"] for one in of_first} == {"first"}
    assert service.get("/v1/jobs", params={"status": "running"}).json()["jobs"] == []
    assert service.get("/v1/jobs", params={"status": "nonsense"}).status_code == 422
    assert service.get("/v1/jobs/j-none").status_code == 404
    assert service.post("/v1/jobs/j-none:cancel").status_code == 404
    assert service.post("/v1/jobs/j-none:resume").status_code == 404
