"""Export requests in protobuf: spans are found in their bytes, and what they hold is counted."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.datastructures import Headers

from veritrail_graph.api.auth.access import EVERYTHING, Caller
from veritrail_graph.api.service.http import otlp
from veritrail_graph.api.service.http.otlp import ExportBodies
from veritrail_graph.api.service.http.receiving import UploadRefused
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import apart
from veritrail_graph.graph.importers.traces import received
from veritrail_graph.graph.importers.traces.otlp import each_of_protobuf
from veritrail_graph.graph.importers.traces.received import sorted_by_trace
from veritrail_graph.graph.importers.traces.wire import TooManyValues, messages_of_spans

MB = 1_000_000
CALLER = Caller("k1", "nightly", EVERYTHING)


def request(count: int = 3) -> ExportTraceServiceRequest:
    made = ExportTraceServiceRequest()
    for number in range(count):
        scope = made.resource_spans.add().scope_spans.add()
        scope.scope.name = "x" * number
        span = scope.spans.add(
            trace_id=b"\1" * 16, span_id=number.to_bytes(8), name=f"s{number}", kind=3,
            start_time_unix_nano=1_700_000_000_000_000_000,
        )  # fmt: skip
        span.attributes.add(key="n").value.int_value = -number
        inner = span.attributes.add(key="m").value.kvlist_value.values.add(key="k")
        inner.value.array_value.values.add(string_value="é" * 200)
        span.events.add(name="e").attributes.add(key="f").value.double_value = 0.5
        span.links.add(trace_id=b"\2" * 16, flags=7)
        span.status.message = "fine"
    return made


def field(number: int, content: bytes) -> bytes:
    length, left = bytearray(), len(content)
    while left > 0x7F:
        length.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([number << 3 | 2, *length, left]) + content


def wrapped(spans: bytes) -> bytes:
    return field(1, field(2, spans))


def test_the_spans_of_a_request_are_those_that_the_library_finds() -> None:
    made = request(40)
    expected = [
        span.SerializeToString()
        for resource in made.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert [one for one, _ in messages_of_spans(made.SerializeToString())] == expected
    first = next(each_of_protobuf(made.SerializeToString(), "here"))
    assert not isinstance(first, InputError)
    assert (first["name"], first["attributes"]) == ("s0", {"n": 0, "m": {"k": ["é" * 200]}})


@pytest.mark.parametrize(
    "bad",
    [b"\x0a", b"\x0a\x05ab", b"\xff" * 12, b"\x0b", b"\x09abc", wrapped(field(2, b"\x0a\x7f")),
     wrapped(field(2, field(5, b"\xff")))],
)  # fmt: skip
def test_what_is_no_request_is_refused(bad: bytes) -> None:
    with pytest.raises(InputError, match="here holds no OTLP export request in protobuf"):
        list(each_of_protobuf(bad, "here"))


ATTRIBUTE = field(9, b"")
DEEP = field(9, field(2, field(6, field(1, b"") * 60_000)))
MANY = 200_000


@pytest.mark.parametrize(
    "spans",
    [field(2, b"") * MANY, field(2, ATTRIBUTE * MANY),
     field(2, field(11, field(3, b"")) * MANY), field(2, DEEP * 4)],
    ids=["spans", "attributes", "events", "values"],
)  # fmt: skip
def test_a_request_of_very_many_values_is_refused_before_they_are_made(spans: bytes) -> None:
    body = wrapped(spans)
    tracemalloc.start()
    with pytest.raises(TooManyValues, match="fewer spans at once"):
        for _ in messages_of_spans(body, 10_000):
            pass
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5 * MB


def test_a_request_of_very_many_spans_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert received.MOST_SPANS == 100_000
    monkeypatch.setattr(received, "MOST_SPANS", 10_000)
    with pytest.raises(TooManyValues, match="10,000 spans"):
        sorted_by_trace(wrapped(field(2, b"") * 10_001))


@pytest.fixture(autouse=True)
def _child_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child starts slowly where much runs."""
    monkeypatch.setattr(otlp, "WAIT_SECONDS", 60)


class Sent:
    """A body on its way."""

    def __init__(self, body: bytes, kind: str = "application/x-protobuf") -> None:
        self.headers = Headers({"content-type": kind, "content-encoding": "gzip"})
        self._body = body

    async def stream(self) -> AsyncIterator[bytes]:
        yield self._body


async def read(body: Any) -> Any:
    async with ExportBodies(Settings()).read(body, CALLER) as found:
        return found


def test_a_packed_request_may_not_grow_without_bounds() -> None:
    body = gzip.compress(wrapped(field(2, b"") * 8 * MB))
    with pytest.raises(UploadRefused, match="may unpack to") as error:
        asyncio.run(read(Sent(body)))
    assert error.value.status == 413
    plain = request().SerializeToString()
    assert asyncio.run(read(Sent(gzip.compress(plain)))) == sorted_by_trace(plain)


def test_a_request_that_is_not_small_is_read_by_a_child_as_it_would_be_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    ask = apart.Reader.ask

    def asking(reader: apart.Reader, name: str, *given: Any) -> Any:
        asked.append(name)
        return ask(reader, name, *given)

    monkeypatch.setattr(apart.Reader, "ask", asking)
    large = request(400).SerializeToString()
    assert asyncio.run(read(Sent(gzip.compress(large)))) == sorted_by_trace(large)
    assert "request" in asked
    asked.clear()
    assert asyncio.run(read(Sent(gzip.compress(large[:0])))).traces == {}
    assert asked == []


def test_a_request_that_finds_all_readers_at_work_is_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(otlp, "WAIT_SECONDS", 0.1)

    async def busy() -> None:
        async with apart.reader_for(1, soon=True):
            await read(Sent(gzip.compress(request(400).SerializeToString())))

    with pytest.raises(UploadRefused, match="Come again") as error:
        asyncio.run(busy())
    assert (error.value.status, error.value.headers) == (503, {"Retry-After": "5"})


def test_json_of_very_many_values_is_refused() -> None:
    text = b'{"resourceSpans": [' + b"{}," * 2 * MB + b"{}]}"
    sent = Sent(text, "application/json")
    sent.headers = Headers({"content-type": "application/json"})
    with pytest.raises(UploadRefused, match="more than 3,000,000 values") as error:
        asyncio.run(read(sent))
    assert error.value.status == 413
