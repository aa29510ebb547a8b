"""Cancelling a job on its page, and taking it up again.

Apart from other tests of jobs: of the services that work on jobs, one fits into a process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking, pumps
from fakes.model_server import ModelServer
from fakes.page_forms import forms_of, send
from fakes.service_process import ServiceProcess, serving
from fakes.waiting import until


@pytest.fixture
def service(veritrail: Veritrail) -> Iterator[ServiceProcess]:
    """A service whose model takes its time, with claims that it is asked about."""
    with home_beside(veritrail) as own, ModelServer(latency=0.5) as server:
        own("ingest", pumps(own.home.parent / "pump-log.json", 4))
        with serving(own, env={**asking(server), "VERITRAIL_CONCURRENCY": "2"}) as service:
            service.until_ready()
            yield service


def test_a_job_is_cancelled_and_taken_up_again_and_the_price_is_unknown(
    service: ServiceProcess,
) -> None:
    path = "/processes/pump-log/verify"
    cost = send(service.client, service.get(path), path)
    assert "unknown" in cost.text
    assert "Likely" in cost.text
    job = send(service.client, cost, path, step="start").headers["location"]
    page = service.get(job)
    assert 'http-equiv="refresh"' in page.text
    events = re.search(r'data-events="([^"]+)"', page.text)
    assert events is not None
    after = f"{job}/events?after="
    assert events[1].startswith(f"/v1{after}")
    assert service.post(f"{job}/cancel").status_code == 403
    assert "indicative" not in page.text
    assert "No model asked" not in service.get("/jobs").text
    assert "No model was asked" not in service.get("/jobs").text
    until(lambda: "Being checked" in service.get(job).text, pause=0.1)
    assert send(service.client, service.get(job), f"{job}/cancel").status_code == 303
    until(lambda: service.get(f"/v1{job}").json()["status"] == "cancelled", pause=0.1)
    stopped = service.get(job).text
    assert f"{job}/resume" in forms_of(stopped)
    assert "mark-failed" in stopped
    assert "Cancelled" in stopped
    assert 'data-status="cancelled"' in stopped
    assert "live.js" in stopped  # somebody else may take it up again
    assert "$0" not in stopped
    # Right after it stopped it says to come again in a moment.
    resume = f"{job}/resume"
    until(lambda: send(service.client, service.get(job), resume).status_code == 303, pause=0.2)
    assert "4 claims" in service.get(job).text
    until(lambda: f"{job}/cancel" in forms_of(service.get(job).text), pause=0.1)
    until(lambda: "Being verified" in service.get("/").text, pause=0.1)
