"""Keys in a PostgreSQL that services share, and the messages while it is down."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import pytest
from acceptance.command import Veritrail
from fakes.ports import free_port
from fakes.service_process import ServiceProcess, serving
from postgres_server.launcher import Server

NOWHERE = {"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}"}
OUTSIDE = "a-key-that-is-long-enough"
OPEN = ("/healthz", "/docs", "/docs/swagger-ui.css", "/openapi.json")
PATIENCE = 30.0
"""Seconds within which a service has noticed that the database is there again."""


def calls(service: ServiceProcess) -> list[tuple[str, str]]:
    """Every call that the service describes."""
    paths = service.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, item in paths.items()
        for method in item
        if path not in OPEN
    ]


@pytest.mark.soak
@pytest.mark.slow
def test_while_the_database_is_down_every_call_says_so_and_nothing_of_where_it_is(
    bare: Veritrail, frail_postgres: Server
) -> None:
    database = frail_postgres.new_database()
    parts = urlsplit(database)
    env = {**NOWHERE, "VERITRAIL_JOBS_URL": database}
    key = bare("keys", "create", "--name", "a", "--scope", "admin", "--json", **env).json["key"]
    with (
        serving(bare, env=env, args=["--no-worker"]) as service,
        serving(bare, env={**env, "VERITRAIL_API_KEY": OUTSIDE}, args=["--no-worker"]) as other,
    ):
        service.client.headers["Authorization"] = f"Bearer {key}"
        assert service.get("/v1/queries").status_code == 200
        assert other.get("/v1/queries", headers=service.client.headers).status_code == 200
        assert "veritrail_job_cost_usd 0.0" in service.get("/metrics").text
        frail_postgres.stop()
        try:
            time.sleep(2.5)  # what is known of keys is two seconds old at most
            for method, path in calls(service):
                begun = time.monotonic()
                answer = service.request(method, path, json={})
                assert time.monotonic() - begun < PATIENCE, path
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), path
                assert answer.json()["type"] == "urn:veritrail:problem:engine-unavailable"
                for secret in (parts.password, f":{parts.port}", parts.path[1:]):
                    assert secret not in answer.text, path
            assert all(service.get(path).status_code == 200 for path in OPEN)
            # The key from outside needs no database, and neither does the query library.
            assert other.get("/v1/queries").status_code == 200
            told = other.get("/metrics")
            assert told.status_code == 200
            assert "veritrail_job" not in told.text
            assert other.get(f"/v1/jobs/j-{0:032x}").status_code == 503
        finally:
            frail_postgres.start()
        until = time.monotonic() + PATIENCE
        while service.get("/v1/queries").status_code != 200:
            assert time.monotonic() < until, service.log[-2000:]
            time.sleep(0.2)
        for one in (service, other):
            assert parts.password not in one.log
            assert f":{parts.port}" not in one.log


def test_a_service_that_starts_without_its_database_answers_once_it_is_there(
    bare: Veritrail, frail_postgres: Server
) -> None:
    database = frail_postgres.new_database()
    frail_postgres.stop()
    env = {**NOWHERE, "VERITRAIL_JOBS_URL": database}
    told = bare("keys", "list", "--json", status=3, **env).message
    assert "does not answer" in told
    assert f"{urlsplit(database).port}" not in told
    with serving(bare, env=env) as service:
        assert service.get("/v1/queries").status_code == 503
        frail_postgres.start()
        until = time.monotonic() + PATIENCE
        while service.get("/v1/queries").status_code != 200:
            assert time.monotonic() < until, service.log[-2000:]
            time.sleep(0.2)
        bare("keys", "create", "--name", "a", "--scope", "read", **env)
        while service.get("/v1/queries").status_code != 401:
            assert time.monotonic() < until + PATIENCE, service.log[-2000:]
            time.sleep(0.2)
