"""`veritrail serve --capture FILE`: what is received is in the file, in a form that can be read."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from fakes import exported_spans

from veritrail_graph.api.server.capture import Capture, open_capture
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.registry import find_processes

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
