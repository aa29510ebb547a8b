"""Requests of kilobytes that would take gigabytes, eight at a time: others notice nothing."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from fakes.service_process import ServiceProcess, serving

from veritrail_graph.api.service.http.otlp import PATH

pytestmark = [
    pytest.mark.engine,
    pytest.mark.soak,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

AT_ONCE = 8
SECONDS = 40.0
MB = 1_000_000
EXAMPLES = Path(__file__).parents[2] / "examples"
Bomb = tuple[str, str, bytes, dict[str, str]]
"""What it is called, where it is sent, its body and headers."""


@pytest.fixture
def home() -> Iterator[Veritrail]:
    with a_home() as veritrail:
        yield veritrail


def field(number: int, content: bytes) -> bytes:
    length, left = bytearray(), len(content)
    while left > 0x7F:
        length.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([number << 3 | 2, *length, left]) + content


def table(length: int, rows: int) -> bytes:
    """A parquet file of one text that every cell has in common."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    contexts = pa.array([["a" * length]] * rows, pa.list_(pa.string()))
    made = pa.table({"question": ["?"] * rows, "answer": ["."] * rows, "contexts": contexts})
    held = io.BytesIO()
    pq.write_table(made, held, compression="zstd", dictionary_pagesize_limit=2 * length)
    return held.getvalue()


def one_letter(count: int) -> bytes:
    """A trace whose texts are one letter, each longer than the one before."""

    def attributes(**given: str) -> list[dict[str, Any]]:
        named = {"openinference.span.kind": "LLM"} | {f"{key}.value": given[key] for key in given}
        return [{"key": key, "value": {"stringValue": text}} for key, text in named.items()]

    spans = [
        {
            "traceId": os.urandom(16).hex(), "spanId": f"{number:016x}", "name": "s",
            "startTimeUnixNano": str(number), "endTimeUnixNano": str(number),
            "attributes": attributes(input="a" * number, output="a" * (count + number)),
        }
        for number in range(1, count + 1)
    ]  # fmt: skip
    for span in spans:
        span["traceId"] = spans[0]["traceId"]
        if span is not spans[0]:
            span["parentSpanId"] = spans[0]["spanId"]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def bombs() -> list[Bomb]:
    empty = (
        b'{"format": "veritrail.process/1", "nodes": [' + b"{}," * 10_000_000 + b'{}], "edges": []}'
    )
    some = b'{"nodes": [' + b"{}," * 700_000 + b'{}], "edges": []}'
    few = b"[" + b"{}," * MB + b"{}]"
    objects = b"[" + b"{}," * 10_000_000 + b"{}]"
    spans = field(1, field(2, field(2, b"") * 8_000_000))
    resources = b'{"resourceSpans": [' + b"{}," * 5_000_000 + b"{}]}"
    protobuf = {"Content-Type": "application/x-protobuf"}
    packed = {"Content-Encoding": "gzip"}
    in_json = {"Content-Type": "application/json"}
    return [
        ("spans", PATH, gzip.compress(spans), protobuf | packed),
        ("spans, not packed", PATH, field(1, field(2, field(2, b"") * MB)), protobuf),
        ("resources", PATH, gzip.compress(resources), in_json | packed),
        ("resources, not packed", PATH, resources, in_json),
        ("nodes", "/v1/processes", gzip.compress(empty), in_json | packed),
        ("nodes, not packed", "/v1/processes", some, in_json),
        ("objects", "/v1/processes?format=langfuse", gzip.compress(objects), in_json | packed),
        ("objects, not packed", "/v1/processes?format=langfuse", few, in_json),
        ("parquet", "/v1/processes?format=rag", table(8 * MB, 100), {}),
        ("trace", "/v1/processes?format=otlp", one_letter(700), in_json),
        ("spans of one letter", PATH, one_letter(500), in_json),
        ("lists", PATH, b'{"a": [' + b"[]," * 1_400_000 + b"[]]}", in_json),
    ]  # fmt: skip


def memory(pid: int) -> int:
    """Bytes that a process and its children but the engine have in memory."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,rss=,comm="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()]
    wanted, total = {pid}, 0
    for process, parent, rss, name in rows:
        if (int(process) in wanted or int(parent) in wanted) and "arcadedb" not in name:
            wanted.add(int(process))
            total += int(rss) * 1024
    return total


def repeated(until: threading.Event, each: Callable[[], float], pause: float) -> list[float]:
    found = []
    while not until.is_set():
        found.append(each())
        time.sleep(pause)
    return found


def timed(client: httpx2.Client, path: str) -> float:
    begun = time.monotonic()
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return time.monotonic() - begun


def told(name: str, times: list[float]) -> str:
    inner = statistics.quantiles(times, n=100)
    return (
        f"{name}: {len(times)} answers, median {inner[49] * 1000:.0f} ms, "
        f"99 of 100 within {inner[98] * 1000:.0f} ms, longest {max(times) * 1000:.0f} ms"
    )


def looked(service: ServiceProcess, until: threading.Event) -> dict[str, list[float]]:
    """Read at once what others read, until it is said; gives the seconds of each answer."""
    paths = {"healthz": ("/healthz", 0.05), "export": ("/v1/processes/harbour-summary/export", 0.2),
             "claims": ("/v1/processes/harbour-summary/claims", 0.1)}  # fmt: skip
    found: dict[str, list[float]] = {"memory": []}

    def look(name: str) -> None:
        path, pause = paths[name]
        with httpx2.Client(base_url=service.url, timeout=60.0, trust_env=False) as client:
            found[name] = repeated(until, lambda: timed(client, path), pause)

    def weigh() -> None:
        found["memory"] = repeated(until, lambda: float(memory(service.pid)), 0.2)

    threads = [threading.Thread(target=look, args=(name,)) for name in paths]
    threads.append(threading.Thread(target=weigh))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_eight_bombs_at_once_leave_the_service_to_others(home: Veritrail) -> None:
    home("ingest", str(EXAMPLES / "harbour-summary.json"))
    sent = bombs()
    for name, _, body, _ in sent:
        print(f"{name}: {len(body):,} bytes")
    answers: Counter[tuple[str, int]] = Counter()
    slowest: dict[str, float] = {}
    lock = threading.Lock()
    with serving(home, args=["--no-worker"], child=True) as service:
        service.until_ready()
        alone = threading.Event()
        threading.Timer(10.0, alone.set).start()
        before = looked(service, alone)
        numbers = itertools.count()
        enough = threading.Event()

        def attack() -> None:
            with httpx2.Client(base_url=service.url, timeout=300.0, trust_env=False) as client:
                while not enough.is_set():
                    name, path, body, headers = sent[next(numbers) % len(sent)]
                    begun = time.monotonic()
                    answer = client.post(path, content=body, headers=headers)
                    assert answer.status_code < 500 or answer.status_code == 503, answer.text
                    assert "Traceback" not in answer.text
                    with lock:
                        answers[name, answer.status_code] += 1
                        took = time.monotonic() - begun
                        slowest[name] = max(took, slowest.get(name, 0.0))

        attackers = [threading.Thread(target=attack) for _ in range(AT_ONCE)]
        for thread in attackers:
            thread.start()
        threading.Timer(SECONDS, enough.set).start()
        during = looked(service, enough)
        for thread in attackers:
            thread.join()
    for name in before:
        if name == "memory":
            for when, found in (("before", before), ("meanwhile", during)):
                print(f"memory {when}: at most {max(found[name]) / MB:,.0f} MB")
        else:
            print(told(f"{name} before", before[name]))
            print(told(f"{name} meanwhile", during[name]))
    for (name, status), count in sorted(answers.items()):
        print(f"{name}: {status} {count} times, longest {slowest[name]:.1f} s")
    assert max(during["memory"]) < 1_000 * MB
    assert statistics.quantiles(during["healthz"], n=100)[94] < 0.2
    taken = {"spans of one letter", "trace", "lists"}
    refused = (207, 400, 413, 422, 503)  # 207: of many processes none could be read
    assert {one for one in answers if one[1] not in refused} <= {
        (name, status) for name in taken for status in (200, 201)
    }
