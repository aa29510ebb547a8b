"""`veritrail serve --capture FILE`: what is received is in the file, in a form that can be read."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from fakes import exported_spans
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from veritrail_graph.api.cli.serve import received
from veritrail_graph.api.server.capture import Capture, open_capture
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.registry import find_processes

LOGS = "traceloop-logs.jsonl.gz"
LIBRARIES = Path(__file__).parents[2] / "graph" / "traces_of_libraries"
TRACE, OTHER = "a1" * 16, "b2" * 16
JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}


def sent(
    requests: Sequence[tuple[dict[str, str], bytes]], path: str = "/v1/traces"
) -> tuple[Capture, list[httpx.Response], bytes]:
    """Send requests one after the other; give their answers, and what is in the file."""
    file = BytesIO()
    capture = Capture(file)

    async def send() -> list[httpx.Response]:
        transport = httpx.ASGITransport(capture.app())
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return [await client.post(path, content=body, headers=how) for how, body in requests]

    return capture, asyncio.run(send()), file.getvalue()


def test_what_is_received_in_every_form_is_read_from_the_file(tmp_path: Path) -> None:
    retrieval, generation, root = exported_spans.trace(TRACE)
    packed = gzip.compress(exported_spans.as_json(root), mtime=0)
    capture, answers, content = sent([
        (JSON, exported_spans.as_json(retrieval)),
        (PROTOBUF, exported_spans.as_protobuf(generation)),
        (JSON | {"Content-Encoding": "gzip"}, packed),
    ])  # fmt: skip

    assert [one.status_code for one in answers] == [200, 200, 200]
    assert (capture.spans, capture.traces) == (3, {TRACE})
    path = tmp_path / "spans.jsonl"
    path.write_bytes(content)
    whole = tmp_path / "whole.json"
    whole.write_bytes(exported_spans.as_json(retrieval, generation, root))
    (captured,), (direct,) = find_processes(path), find_processes(whole)
    assert list(captured.open().records()) == list(direct.open().records())


def test_log_records_are_in_the_file_beside_their_spans(tmp_path: Path) -> None:
    lines = gzip.decompress((LIBRARIES / LOGS).read_bytes()).splitlines()
    ordinary = {"body": {"stringValue": "The desk opened."}, "timeUnixNano": "1"}
    capture, answers, content = sent(
        [(JSON, lines[1]), (PROTOBUF, as_protobuf_logs(json.loads(lines[1])))], "/v1/logs"
    )
    assert [one.status_code for one in answers] == [200, 200]
    assert capture.spans == 16
    first, second = map(json.loads, content.splitlines())
    assert list(logs_of(second)) == list(logs_of(first))  # whatever it was sent in

    path = tmp_path / "both.jsonl"
    path.write_bytes(b"\n".join((*content.splitlines()[:1], *lines[:1])))
    (captured,), (direct,) = find_processes(path), find_processes(LIBRARIES / LOGS)
    assert list(captured.open().records()) == list(direct.open().records())

    nothing = {"resourceLogs": [{"scopeLogs": [{"logRecords": [ordinary]}]}]}
    wrong = {"eventName": "gen_ai.choice", **ordinary}
    _, answers, content = sent([(JSON, json.dumps(nothing).encode())], "/v1/otlp/v1/logs")
    assert (answers[0].json(), content) == ({}, b"")
    nothing["resourceLogs"][0]["scopeLogs"][0]["logRecords"] = [wrong]
    _, (answer,), _ = sent([(JSON, json.dumps(nothing).encode())], "/v1/otlp/v1/logs")
    assert answer.json()["partialSuccess"]["rejectedLogRecords"] == "1"


def logs_of(request: Any) -> Iterator[Any]:
    for resource in request["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            yield from scope["logRecords"]


def as_protobuf_logs(request: Any) -> bytes:
    for one in logs_of(request):
        for key in ("traceId", "spanId"):
            one[key] = base64.b64encode(bytes.fromhex(one[key])).decode()
    found: bytes = ParseDict(request, ExportLogsServiceRequest()).SerializeToString()
    return found


def test_ids_of_protobuf_are_hexadecimal_in_the_file() -> None:
    _, _, content = sent([(PROTOBUF, exported_spans.as_protobuf(exported_spans.root(TRACE)))])
    (resource,) = json.loads(content)["resourceSpans"]
    assert resource["scopeSpans"][0]["spans"][0]["traceId"] == TRACE


def test_what_is_no_request_is_refused_and_not_written() -> None:
    good = exported_spans.as_json(*exported_spans.trace(OTHER))
    _, answers, content = sent([
        (JSON, b'{"resourceSpans": 7}'),
        (JSON, b"[]"),
        (PROTOBUF, b"\xff\xff"),
        (JSON | {"Content-Encoding": "gzip"}, b"no gzip"),
        (JSON | {"Content-Encoding": "br"}, good),
        ({"Content-Type": "text/plain"}, good),
        (JSON, b"{}"),
    ])  # fmt: skip
    assert [one.status_code for one in answers] == [400, 400, 400, 400, 415, 415, 200]
    assert content == b""


def test_a_span_that_is_none_is_counted_and_left_to_who_reads_the_file() -> None:
    bad = {**exported_spans.root(TRACE), "traceId": "0"}
    capture, (answer,), content = sent([(JSON, exported_spans.as_json(bad))], "/v1/otlp/v1/traces")
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert (capture.spans, len(content.splitlines())) == (0, 1)


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text("kept", encoding="utf-8")
    for where, said in ((path, "is there already"), (tmp_path / "spans.txt", "ends in .jsonl")):
        with pytest.raises(InputError, match=said):
            open_capture(where)
    with pytest.raises(InputError, match="cannot be written"):
        open_capture(tmp_path / "none" / "spans.jsonl")
    assert path.read_text(encoding="utf-8") == "kept"


def test_the_last_lines_say_what_came_where_it_is_and_what_was_refused(tmp_path: Path) -> None:
    retrieval, generation, _ = exported_spans.trace(TRACE)
    path = tmp_path / "my spans.jsonl"
    nothing, *_ = sent([])
    assert list(received(path, nothing)) == [
        "No span came that could be read, so no file was left."
    ]
    capture, *_ = sent(
        [(JSON, exported_spans.as_json(retrieval, generation)), (JSON, b'{"foo": 1}')]
    )
    first, command, refused = received(path, capture)
    assert first == f"{path} holds 2 spans and log records of 1 trace. Next:"
    assert command == f"  veritrail check '{path}'"
    assert refused.startswith("A request was refused: ")
    assert "'foo'" in refused
