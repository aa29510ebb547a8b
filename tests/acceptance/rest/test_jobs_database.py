"""Somebody else writes into the database of jobs: none of it runs, and jobs end with the reason."""

from __future__ import annotations

import base64
import os
import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import pumps
from acceptance.rest.job_calls import Calls
from fakes.service_process import ServiceProcess, serving

from veritrail_graph.api.auth.database import JOBS_FILE

pytestmark = pytest.mark.engine

PICKLE, OTHER_ROW = "is a pickle", "names the work of another row"
ROWS = {
    PICKLE: "py_pickle",
    OTHER_ROW: "portable_json",
    "internal error": "portable_json",
}


class _Folder:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._path),)


@pytest.fixture(scope="module")
def service(home: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    home("ingest", pumps(tmp_path_factory.mktemp("rows") / "rows.json", 2))
    with serving(home) as running:
        running.until_ready()
        calls = Calls(running.url)
        calls.wait(calls.submit("rows"))  # then the engine has its tables
        yield running


@contextmanager
def written_over(home: Path, serialization: str, arguments: str) -> Iterator[None]:
    """Every row that the service gives its engine meanwhile becomes one of somebody else."""
    names = ("workflow_input", "workflow_status")
    with closing(sqlite3.connect(home / JOBS_FILE, timeout=30)) as database:
        for name in names:
            database.execute(
                f"CREATE TRIGGER other_{name} AFTER INSERT ON {name} BEGIN "
                f"UPDATE workflow_input SET inputs = '{arguments}'; "
                f"UPDATE workflow_status SET serialization = '{serialization}' "
                "WHERE workflow_uuid = NEW.workflow_uuid; END"
            )
        try:
            yield
        finally:
            for name in names:
                database.execute(f"DROP TRIGGER other_{name}")


@pytest.mark.parametrize("why", ROWS)
def test_a_row_of_somebody_else_runs_nothing_and_its_job_ends_with_the_reason(
    service: ServiceProcess, tmp_path: Path, why: str
) -> None:
    arguments = {
        PICKLE: base64.b64encode(pickle.dumps(_Folder(tmp_path / "ran"))).decode(),
        OTHER_ROW: '{"positionalArgs":["j-other","v-other",1],"namedArgs":{}}',
    }.get(why, '{"positionalArgs":[["j-other"],{},null],"namedArgs":{}}')
    calls = Calls(service.url)
    with written_over(service.home, ROWS[why], arguments):
        job = calls.wait(calls.submit("rows", again=True))
    assert (job["status"], job["counts"]) == ("failed", {"failed": 2})
    assert why in job["error"]
    assert not (tmp_path / "ran").exists()
    assert why in calls.verifications(job)[0]["error"]
    resumed = calls.ask("POST", f"/v1/jobs/{job['job_id']}:resume", json={})
    assert resumed.status_code in (200, 202), resumed.text
    assert calls.wait(job["job_id"])["counts"] == {"succeeded": 2}
