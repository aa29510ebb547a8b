"""The OTLP receiver over HTTP: encodings, keys, limits, quiet, late spans, restarts."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from fakes.exported_spans import (
    ANSWER,
    NOTE,
    SOURCE,
    as_json,
    as_protobuf,
    generation,
    retrieval,
    root,
    trace,
)
from fakes.service_process import ServiceProcess, serving
from fakes.waiting import until

pytestmark = pytest.mark.engine

DOOR = "/v1/otlp/v1/traces"
PROTOBUF, JSON = "application/x-protobuf", "application/json"
KEY = "a-key-for-tests-that-is-long-enough"
LOGS = Path(__file__).parents[2] / "unit/graph/traces_of_libraries/traceloop-logs.jsonl.gz"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "traces" / "otlp.json"


@pytest.fixture(scope="module")
def service(home: Veritrail) -> Iterator[ServiceProcess]:
    env = {"VERITRAIL_OTLP_QUIET": "1s", "VERITRAIL_UPLOAD_MAX": "200kB"}
    with serving(home, env=env, args=["--no-worker"]) as running:
        running.until_ready()
        yield running


def send(service: ServiceProcess, body: bytes, kind: str = JSON, **headers: str) -> Any:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return service.post(DOOR, content=body, headers={"Content-Type": kind, **given})


def stored(service: ServiceProcess, trace_id: str) -> dict[str, Any]:
    """The process of a trace, once it is there."""
    until(lambda: service.get(f"/v1/processes/{trace_id}").status_code == 200)
    found: dict[str, Any] = service.get(f"/v1/processes/{trace_id}").json()
    return found


def texts(service: ServiceProcess, trace_id: str) -> set[str]:
    page = service.get(f"/v1/processes/{trace_id}/nodes?fields=text").json()
    return {node["text"] for node in page["nodes"]}


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("kind", [JSON, PROTOBUF])
def test_a_whole_trace_is_a_process(service: ServiceProcess, kind: str, is_packed: bool) -> None:
    trace_id = uuid.uuid4().hex
    body = (as_json if kind == JSON else as_protobuf)(*trace(trace_id))
    headers = {"Content-Encoding": "gzip"} if is_packed else {}
    told = send(service, gzip.compress(body, mtime=0) if is_packed else body, kind, **headers)
    assert (told.status_code, told.headers["content-type"]) == (200, kind)
    assert told.content == (b"{}" if kind == JSON else b"")
    assert stored(service, trace_id)["nodes"] == 2
    assert texts(service, trace_id) == {SOURCE, ANSWER}


def test_what_models_wrote_may_come_as_log_records(service: ServiceProcess) -> None:
    trace_id = uuid.uuid4().hex
    spans, logs = gzip.decompress(LOGS.read_bytes()).splitlines()
    old = json.loads(spans)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"].encode()
    spans, logs = (one.replace(old, trace_id.encode()) for one in (spans, logs))
    kind = {"Content-Type": JSON}
    told = service.post("/v1/otlp/v1/logs", content=logs, headers=kind)
    assert (told.status_code, told.json()) == (200, {})
    assert send(service, spans).json() == {}
    assert stored(service, trace_id)["nodes"] == 4


def test_the_example_is_stored_under_the_id_of_its_trace(service: ServiceProcess) -> None:
    assert send(service, EXAMPLE.read_bytes(), f"{JSON}; charset=utf-8").json() == {}
    assert stored(service, "5b8efff798038103d269b633813fc60c")["nodes"] == 6


@pytest.mark.parametrize("kind", [JSON, PROTOBUF])
def test_spans_that_are_none_are_a_partial_success(service: ServiceProcess, kind: str) -> None:
    trace_id = uuid.uuid4().hex
    bad = {**generation(trace_id, 7), "traceId": "00" * 16}
    told = send(service, (as_json if kind == JSON else as_protobuf)(*trace(trace_id), bad), kind)
    assert told.status_code == 200
    if kind == JSON:
        partial = told.json()["partialSuccess"]
        count, message = int(partial["rejectedSpans"]), partial["errorMessage"]
    else:
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        response = trace_service_pb2.ExportTraceServiceResponse.FromString(told.content)
        count = response.partial_success.rejected_spans
        message = response.partial_success.error_message
    assert count == 1
    assert "traceId" in message
    assert stored(service, trace_id)["nodes"] == 2


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"no json", {}, 400),
        (b"[]", {}, 400),
        (b'{"resourceSpans": 5}', {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"{}", {"Content-Encoding": "gzip"}, 400),
        (gzip.compress(b"{}", mtime=0)[:-4], {"Content-Encoding": "gzip"}, 400),
        (gzip.compress(b"{}", mtime=0) * 2, {"Content-Encoding": "gzip"}, 400),
        (b"{}", {"Content-Encoding": "br"}, 415),
        (b"no protobuf", {"Content-Type": PROTOBUF}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": ""}, 415),
        (b" " * 200_001, {}, 413),
        (gzip.compress(b" " * 200_001, mtime=0), {"Content-Encoding": "gzip"}, 413),
        (gzip.compress(b"\0" * 50_000_000, mtime=0), {"Content-Encoding": "gzip"}, 413),
    ],
)
def test_what_cannot_be_taken_is_refused_as_a_problem_or_as_a_status(
    service: ServiceProcess, body: bytes, headers: dict[str, str], status: int
) -> None:
    told = send(service, body, **{"Content-Type": JSON, **headers})
    assert told.status_code == status, told.text
    if headers.get("Content-Type") == PROTOBUF:
        assert told.headers["content-type"] == PROTOBUF
        assert told.content.startswith(b"\x12")
        assert len(told.content) == told.content[1] + 2
        assert b"protobuf" in told.content
    else:
        assert told.json()["status"] == status
        assert told.headers["content-type"] == "application/problem+json"


def test_an_empty_request_is_taken(service: ServiceProcess) -> None:
    assert send(service, b"", PROTOBUF).status_code == 200
    assert send(service, b"{}").json() == {}
    assert send(service, b'{"resourceSpans": [], "somethingNew": 1}').json() == {}
    refused = send(service, b'{"somethingNew": 1}')
    assert refused.status_code == 400
    assert "holds 'somethingNew'" in refused.json()["detail"]
    assert service.post(f"{DOOR}?replace=true", json={}).status_code == 422
    assert service.get(DOOR).status_code == 405


def test_a_chunked_body_is_bounded_too(service: ServiceProcess) -> None:
    pieces = (b" " * 50_000 for _ in range(10))
    told = service.post(DOOR, content=pieces, headers={"Content-Type": JSON})
    assert told.status_code == 413


def test_the_root_comes_last_or_not_at_all_and_late_spans_are_added(
    service: ServiceProcess,
) -> None:
    trace_id = uuid.uuid4().hex
    for one in (retrieval(trace_id), generation(trace_id)):
        assert send(service, as_protobuf(one), PROTOBUF).status_code == 200
    assert service.get(f"/v1/processes/{trace_id}").status_code == 404
    assert stored(service, trace_id)["nodes"] == 2  # it was quiet
    send(service, as_protobuf(root(trace_id)), PROTOBUF)
    send(service, as_json(generation(trace_id, 4, made=NOTE, at=2)))
    until(lambda: NOTE in texts(service, trace_id))


def test_figures_count_spans_and_traces_and_the_log_holds_no_text(
    service: ServiceProcess,
) -> None:
    trace_id = uuid.uuid4().hex
    send(service, as_json(*trace(trace_id), None))
    stored(service, trace_id)
    until(lambda: trace_id in service.log)
    figures = dict(
        line.rsplit(" ", 1)
        for line in service.get("/metrics").text.splitlines()
        if line.startswith("veritrail_otlp")
    )
    assert float(figures['veritrail_otlp_spans_total{result="taken"}']) >= 3
    assert float(figures['veritrail_otlp_spans_total{result="rejected"}']) >= 1
    assert float(figures['veritrail_otlp_traces_total{result="created"}']) >= 1
    assert "veritrail_otlp_waiting_traces" in figures
    assert "lighthouse" not in service.log
    assert "SECRET-HOST" not in service.log


def test_a_key_that_may_write_is_needed_where_keys_are(beside: Veritrail) -> None:
    weak = beside(
        "keys", "create", "--name", "reader", "--scope", "read", "--json"
    ).json["key"]  # fmt: skip
    good = beside(
        "keys", "create", "--name", "exporter", "--scope", "ingest", "--json"
    ).json["key"]  # fmt: skip
    trace_id = uuid.uuid4().hex
    body = as_protobuf(*trace(trace_id))
    with serving(beside, args=["--no-worker"]) as service:
        told = send(service, body, PROTOBUF)
        assert (told.status_code, told.headers["content-type"]) == (401, PROTOBUF)
        assert told.headers["www-authenticate"] == "Bearer"
        assert send(service, as_json()).json()["status"] == 401
        assert send(service, body, PROTOBUF, Authorization=f"Bearer {weak}").status_code == 403
        assert send(service, body, PROTOBUF, Authorization=f"Bearer {good}").status_code == 200
        service.client.headers["Authorization"] = f"Bearer {weak}"
        assert stored(service, trace_id)["nodes"] == 2


def test_a_service_that_was_killed_takes_up_what_waited(beside: Veritrail) -> None:
    trace_id = uuid.uuid4().hex
    env = {"VERITRAIL_OTLP_QUIET": "2s"}
    with serving(beside, env=env, args=["--no-worker"], child=True) as service:
        for one in (retrieval(trace_id), generation(trace_id)):
            assert send(service, as_json(one)).status_code == 200
        service.kill()
        service.start()
        assert stored(service, trace_id)["nodes"] == 2
        service.kill()
        service.start()  # what is kept for late spans is there again
        service.until_ready()
        send(service, as_json(root(trace_id), generation(trace_id, 4, made=NOTE, at=2)))
        until(lambda: NOTE in texts(service, trace_id))
