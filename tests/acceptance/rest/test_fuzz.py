"""Requests made up from the description of the service: no fault, no undescribed status,
and nothing that the description forbids is accepted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from fakes.process_files import as_json, document
from fakes.service_process import ServiceProcess, serving

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(600)]

KEY = "a-key-for-tests-that-is-long-enough"
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_headers_conformance,response_schema_conformance,negative_data_rejection,ignored_auth"
)
# Statuses of what the description forbids; 431: an address that is too long.
REFUSED = [400, 401, 403, 404, 408, 411, 413, 415, 421, 422, 431]


def fuzzed(service: ServiceProcess, folder: Path, examples: int, phases: str, *more: str) -> None:
    """Run schemathesis over the whole description but the streams."""
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"{service.url}/openapi.json",
        "--checks",
        CHECKS,
        "--exclude-path-regex",
        "/events$",  # a stream ends with its job
        "--phases",
        phases,
        "--max-examples",
        str(examples),
        "--seed",
        "20240304",
        "--request-timeout",
        "60",
        "--no-color",
        *more,
    ]
    settings = f"[checks.negative_data_rejection]\nexpected-statuses = {REFUSED}\n"
    (folder / "schemathesis.toml").write_text(settings, encoding="utf-8")
    done = subprocess.run(
        command, cwd=folder, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def stored(service: ServiceProcess) -> None:
    """Something to ask about, under the ids of the examples."""
    service.until_ready()
    body = as_json(document(process_id="harbour-summary"))
    assert service.post("/v1/processes", content=body).status_code == 201


def test_made_up_requests_meet_no_fault_and_no_undocumented_status(
    frail: Veritrail, tmp_path: Path
) -> None:
    with serving(frail, env={"VERITRAIL_API_KEY": KEY}) as service:
        stored(service)
        fuzzed(service, tmp_path, 1, "fuzzing", "--header", f"Authorization: Bearer {KEY}")
        assert service.get("/healthz").status_code == 200


@pytest.mark.soak
def test_very_many_made_up_requests(tmp_path: Path) -> None:
    with a_home() as home, serving(home) as service:
        stored(service)
        fuzzed(service, tmp_path, 60, "coverage,fuzzing")
