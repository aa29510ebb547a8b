"""Uploads that meet others: the same at once, a job at work, a limit; and what is said of it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import asking, pumps
from acceptance.rest.job_calls import Calls
from fakes.model_server import ModelServer
from fakes.process_files import as_json, document
from fakes.service_process import ServiceProcess, serving

pytestmark = pytest.mark.engine

LIMIT = 5_000_000


@pytest.fixture(scope="module")
def service(home: Veritrail) -> Iterator[ServiceProcess]:
    env = {"VERITRAIL_UPLOAD_MAX": str(LIMIT)}
    with serving(home, env=env, args=["--no-worker"]) as running:
        running.until_ready()
        yield running


def test_the_same_content_sent_six_times_at_once_is_stored_once_and_unchanged_five_times(
    service: ServiceProcess, tmp_path: Path
) -> None:
    content = Path(pumps(tmp_path / "at-once.json", 60)).read_bytes()
    calls = Calls(service.url)  # each has a connection of its own
    with ThreadPoolExecutor(6) as pool:
        sent = [pool.submit(calls.ask, "POST", "/v1/processes", content=content) for _ in range(6)]
        answers = [one.result() for one in sent]
    told = sorted((one.status_code, one.json().get("status")) for one in answers)
    assert told == [(200, "unchanged")] * 5 + [(201, "created")]


def test_what_a_job_verifies_is_replaced_by_force_only(beside: Veritrail, tmp_path: Path) -> None:
    first = Path(pumps(tmp_path / "in-use.json", 6)).read_bytes()
    other = Path(pumps(tmp_path / "in-use.json", 7)).read_bytes()
    with ModelServer(latency=1.0) as model, serving(beside, env=asking(model)) as service:
        service.until_ready()
        assert service.post("/v1/processes", content=first).status_code == 201
        calls = Calls(service.url)
        job = calls.submit("in-use")
        refused = service.post("/v1/processes", params={"replace": "true"}, content=other)
        assert refused.status_code == 409, refused.text
        assert refused.json()["type"] == "urn:veritrail:problem:process-in-use"
        assert job in refused.json()["detail"]
        same = service.post("/v1/processes", params={"replace": "true"}, content=first)
        assert (same.status_code, same.json()["status"]) == (200, "unchanged")
        assert calls.job(job)["status"] in ("queued", "running")  # nothing was taken from it
        forced = service.post(
            "/v1/processes", params={"replace": "true", "force": "true"}, content=other
        )
        assert (forced.status_code, forced.json()["status"]) == (201, "replaced")
        assert calls.wait(job)["status"] in ("failed", "cancelled")
        assert service.get("/v1/processes/in-use").json()["claims"] == 7


@pytest.mark.parametrize("is_chunked", [False, True])
def test_whoever_sends_too_much_gets_to_read_so(service: ServiceProcess, is_chunked: bool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    body = b" " * (LIMIT + 1_000_000)
    pieces = (body[at : at + 65_536] for at in range(0, len(body), 65_536))
    connection.request("POST", "/v1/processes", body=pieces if is_chunked else body)
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["type"] == "urn:veritrail:problem:body-too-large"
    connection.close()


def test_whoever_is_refused_before_the_body_is_read_gets_to_read_so(
    service: ServiceProcess,
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    for _ in range(2):  # the connection stays good for the next request
        connection.request("POST", "/v1/processes", body=b" " * (LIMIT - 1), headers=headers)
        answer = connection.getresponse()
        assert answer.status == 415
        answer.read()
    connection.close()


@pytest.fixture(scope="module")
def _named(service: ServiceProcess) -> None:
    """A process without claims and one that has some."""
    for name, claims in (("bare", []), ("said", document()["claims"])):
        service.post("/v1/processes", content=as_json(document(process_id=name, claims=claims)))


@pytest.mark.usefixtures("_named")
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/verifications", {"process_id": "nobody"}, 404),
        ("POST", "/v1/verifications", {"process_id": "bare", "extract": True}, 422),
        ("POST", "/v1/verifications", {"process_id": "said", "engine": "openai"}, 422),
        ("POST", "/v1/verifications", {"process_id": "said", "samples": 2}, 422),
        ("POST", "/v1/verifications", {"process_id": "bare", "claims": [" "]}, 422),
        (
            "POST",
            "/v1/verifications",
            {"process_id": "said", "engine": "openai", "model": "m", "budget_usd": 1},
            422,
        ),
        ("POST", "/v1/processes/bare/claims", {"claims": [" "]}, 422),
        ("POST", "/v1/processes/nobody/claims", {"claims": ["x"]}, 404),
        ("GET", "/v1/processes/nobody", None, 404),
        ("GET", "/v1/processes/nobody/nodes", None, 404),
        ("GET", "/v1/processes/said/claims/nobody", None, 404),
        ("GET", "/v1/verifications/nobody", None, 404),
        ("GET", "/v1/jobs/nobody", None, 404),
        ("POST", "/v1/jobs/nobody:resume", None, 404),
        ("POST", "/v1/queries/nobody", {}, 404),
        ("POST", "/v1/queries/provenance", {}, 422),
    ],
)
def test_what_is_refused_is_told_in_the_words_of_rest(
    service: ServiceProcess, method: str, path: str, body: Any, status: int
) -> None:
    told = service.request(method, path, json=body)
    assert told.status_code == status, told.text
    assert "--" not in told.text
    assert "`veritrail" not in told.text
    assert "nothing was verified" not in told.text


def test_another_content_is_refused_in_the_words_of_rest(service: ServiceProcess) -> None:
    made = document(process_id="worded")
    service.post("/v1/processes", content=as_json(made))
    made["nodes"][0]["text"] = "Another text."
    told = service.post("/v1/processes", content=as_json(made)).json()["detail"]
    assert "--" not in told
    assert "?replace=true" in told


def test_a_parameter_is_given_once(service: ServiceProcess) -> None:
    told = service.get("/v1/processes?limit=1&limit=2")
    assert told.status_code == 422
    (fault,) = told.json()["violations"]
    assert (fault["kind"], fault["where"]) == ("repeated_parameter", "query.limit")
