"""Exports over HTTP: what the command writes, as a download."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator

import pytest
from fakes.process_files import as_json, document
from fakes.service_process import ServiceProcess

from veritrail_graph.api.app.exporting import FORMATS
from veritrail_graph.graph.exporters.verdicts import FORMATS as VERDICTS

pytestmark = pytest.mark.engine


@pytest.fixture
def stored(shared_service: ServiceProcess) -> Iterator[str]:
    """A process that came as a process file."""
    name = "export-plain"
    sent = shared_service.post("/v1/processes", content=as_json(document(process_id=name)))
    assert sent.status_code == 201
    yield name
    shared_service.delete(f"/v1/processes/{name}")


def test_every_format_is_a_download(shared_service: ServiceProcess, stored: str) -> None:
    for name in FORMATS:
        got = shared_service.get(f"/v1/processes/{stored}/export", params={"format": name})
        if name in VERDICTS:
            assert got.status_code == 422, name
            assert "was read from a process file" in got.json()["detail"]
            continue
        assert got.status_code == 200, got.text
        assert len(got.content) > 0
        assert got.headers["content-disposition"].startswith('attachment; filename="export-plain')
        if name.endswith("csv"):
            assert zipfile.ZipFile(io.BytesIO(got.content)).testzip() is None
    plain = shared_service.get(f"/v1/processes/{stored}/export")
    again = shared_service.post("/v1/processes", content=plain.content)
    assert (again.status_code, again.json()["status"]) == (200, "unchanged")
    left = [one for one in (shared_service.home / "uploads").rglob("export*") if one.is_file()]
    assert left == []


def test_scores_of_a_trace_are_a_download(shared_service: ServiceProcess) -> None:
    made = document(process_id="export-scores", source_format="langfuse")
    made["nodes"][-1]["metadata"] = {"call": "o5", "trace": "tern-refit"}
    claim = {**made["claims"][0], "node_id": made["nodes"][-1]["node_id"]}
    made["claims"] = [{key: claim[key] for key in ("claim_id", "text", "node_id")}]
    made["verifications"] = [
        {
            "verification_id": "v-export-scores",
            "process_id": "export-scores",
            "claim_id": claim["claim_id"],
            "claim": claim["text"],
            "node_id": claim["node_id"],
            "q": 1,
            "engine": "openai",
            "model": "m",
            "indicative": False,
            "created_at": "2026-01-01T00:00:00Z",
            "status": "failed",
            "error": "The endpoint was gone.",
        }
    ]
    try:
        sent = shared_service.post("/v1/processes", content=as_json(made))
        assert sent.status_code == 201, sent.text
        got = shared_service.get(
            "/v1/processes/export-scores/export", params={"format": "langfuse-scores"}
        )
        assert got.status_code == 200, got.text
        (event,) = json.loads(got.text)["batch"]
        body = event["body"]
        assert (body["traceId"], body["observationId"]) == ("tern-refit", "o5")
        assert (body["name"], body["value"]) == ("veritrail.status", "failed")
    finally:
        shared_service.delete("/v1/processes/export-scores")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("export-plain/export?format=no-such", 422),
        ("export-plain/export?format=process&spreadsheet=true", 422),
        ("no-such/export", 404),
    ],
)
def test_what_cannot_be_exported_is_a_problem(
    shared_service: ServiceProcess, stored: str, path: str, status: int
) -> None:
    assert stored
    got = shared_service.get(f"/v1/processes/{path}")
    assert got.status_code == status, got.text
    assert got.headers["content-type"] == "application/problem+json"
    assert str(shared_service.home) not in got.text
