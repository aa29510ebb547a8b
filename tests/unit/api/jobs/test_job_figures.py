"""Figures of jobs: sums over all that are kept, and no price where none is known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from veritrail_graph.api.auth.database import ServiceDatabase
from veritrail_graph.api.jobs.storage.reading import figures
from veritrail_graph.api.jobs.storage.tables import job_claims, jobs
from veritrail_graph.api.service.http.watch import Metrics


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceDatabase]:
    service = ServiceDatabase(f"sqlite:///{tmp_path}/service.sqlite3")
    yield service
    service.close()


def add(service: ServiceDatabase, number: int, status: str, **usage: float | None) -> None:
    needed = [c for c in job_claims.c if not c.nullable and c.server_default is None]
    values = {c.name: c.type.python_type() for c in needed}
    row = {**values, "job_id": "j-1", "verification_id": f"v-{number}", "status": status, **usage}
    service.run_now(lambda connection: connection.execute(job_claims.insert().values(**row)))


def add_job(service: ServiceDatabase, job_id: str, status: str, is_local: bool = False) -> None:
    needed = [c for c in jobs.c if not c.nullable and c.server_default is None]
    values = {c.name: c.type.python_type() for c in needed}
    row = {**values, "job_id": job_id, "status": status, "is_local": is_local}
    service.run_now(lambda connection: connection.execute(jobs.insert().values(**row)))


def told(service: ServiceDatabase, begins: str = "veritrail_job") -> list[str]:
    text = Metrics().text(service.read_now(figures)).decode()
    return [line for line in text.splitlines() if line.startswith(begins)]


def test_nothing_was_asked_for_yet(service: ServiceDatabase) -> None:
    lines = told(service)
    assert "veritrail_job_calls 0.0" in lines
    assert "veritrail_job_cost_usd 0.0" in lines


def test_claims_are_summed_over_all_states(service: ServiceDatabase) -> None:
    add(service, 1, "succeeded", calls=3, input_tokens=100, output_tokens=7, cost_usd=0.25)
    add(service, 2, "succeeded", calls=1, input_tokens=50, cost_usd=0.5)
    add(service, 3, "failed", calls=2, unpriced_calls=2, cost_usd=None)
    lines = told(service)
    assert 'veritrail_job_claims{status="succeeded"} 2.0' in lines
    assert 'veritrail_job_claims{status="failed"} 1.0' in lines
    assert 'veritrail_job_tokens{kind="input"} 150.0' in lines
    assert "veritrail_job_calls 6.0" in lines
    assert "veritrail_job_cost_usd 0.75" in lines
    assert "veritrail_job_unpriced_calls 2.0" in lines


def test_a_price_that_is_not_known_is_not_told_as_nothing(service: ServiceDatabase) -> None:
    add(service, 1, "succeeded", calls=2, unpriced_calls=2, cost_usd=None)
    lines = told(service)
    assert "veritrail_job_unpriced_calls 2.0" in lines
    assert not [line for line in lines if line.startswith("veritrail_job_cost_usd")]


def test_work_to_do_is_what_is_left_to_workers_and_no_command_carries_out(
    service: ServiceDatabase,
) -> None:
    assert told(service, "veritrail_work_to") == ["veritrail_work_to_do 0.0"]
    for number, status in enumerate(("queued", "running", "succeeded", "failed")):
        add(service, number, status)  # of j-1
    add_job(service, "j-1", "running")
    add_job(service, "j-2", "queued")  # its claims are not extracted yet
    add_job(service, "j-3", "succeeded")
    assert told(service, "veritrail_work_to") == ["veritrail_work_to_do 3.0"]
    add_job(service, "j-of-a-command", "running", is_local=True)
    assert told(service, "veritrail_work_to") == ["veritrail_work_to_do 3.0"]
