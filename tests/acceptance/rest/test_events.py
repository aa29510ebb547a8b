"""The events of a job over HTTP: as a stream, after a loss, by the page, for many and slow ones."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from acceptance.command import Veritrail
from acceptance.homes import home_beside
from acceptance.model_fixtures import asking, pumps
from acceptance.rest.job_calls import Calls, Told, by_claim, timed, told_by
from fakes.model_server import ModelServer
from fakes.service_process import ServiceProcess, serving
from fakes.settings_of import settings_of
from fakes.waiting import until

from veritrail_graph.api.auth.database import ServiceDatabase, service_url
from veritrail_graph.api.jobs.model import EventKind
from veritrail_graph.api.jobs.storage.events import EventLog

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

CLAIMS = 6
HEARTBEAT = 0.5
EVENTS = 7_500
"""A number of texts of 2 kB that the buffers on the way to a reader cannot hold."""


@pytest.fixture(scope="module")
def veritrail(veritrail: Veritrail) -> Iterator[Veritrail]:
    """A home of its own: services of other tests, with other models, would take its jobs."""
    with home_beside(veritrail) as own:
        yield own


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def service(veritrail: Veritrail, model: ModelServer) -> Iterator[ServiceProcess]:
    env = asking(model, VERITRAIL_EVENTS_HEARTBEAT=str(HEARTBEAT))
    with serving(veritrail, env=env, child=True) as service:
        service.until_ready()
        yield service


@pytest.fixture(scope="module")
def calls(service: ServiceProcess) -> Calls:
    return Calls(service.url)


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("events") / "pumps-events.json"
    veritrail("ingest", pumps(path, CLAIMS, filler=3))
    return path.stem


@pytest.fixture(scope="module")
def streamed(calls: Calls, process: str) -> tuple[str, list[Told]]:
    """A job, and its events as they came."""
    job_id = calls.submit(process, again=True)
    return job_id, list(calls.stream(job_id))


@pytest.fixture(scope="module")
def ended(streamed: tuple[str, list[Told]]) -> str:
    """A job that has ended."""
    return streamed[0]


@pytest.fixture
def endless(calls: Calls, model: ModelServer, process: str) -> Iterator[str]:
    """A job whose calls hang, so that it works until the test ends."""
    model.latency = 60.0
    asked = len(model.requests)
    job_id = calls.submit(process, again=True, use_cache=False)
    until(lambda: len(model.requests) >= asked + CLAIMS)  # no event of its own comes later
    yield job_id
    model.latency = 0.0
    calls.ask("POST", f"/v1/jobs/{job_id}:cancel")
    calls.wait(job_id)


def written(veritrail: Veritrail, job_id: str, count: int, text: str, last: bool = False) -> None:
    """Write events beside the service, as a worker in another process does."""
    database = ServiceDatabase(service_url(settings_of({"VERITRAIL_HOME": str(veritrail.home)})))
    log = EventLog(database)
    for start in range(0, count, 1_000):
        events: list[tuple[str, dict[str, Any]]] = [
            ("test.event", {"number": number, "text": text})
            for number in range(start, min(count, start + 1_000))
        ]
        database.run_now(lambda it, events=events: log.append_all_in(it, job_id, events))
    if last:
        database.run_now(lambda it: log.append_in(it, job_id, EventKind.JOB_FINISHED, {}))
    database.close()


# One client.


def test_a_stream_tells_of_every_claim_and_ends_with_the_job(
    calls: Calls, streamed: tuple[str, list[Told]]
) -> None:
    job_id, events = streamed
    job = calls.job(job_id)
    assert job["status"] == "succeeded"
    assert [one.seq for one in events] == list(range(1, len(events) + 1))
    kinds = by_claim(events)
    assert len(kinds) == CLAIMS
    for told in kinds.values():
        assert told[0] == EventKind.CLAIM_STARTED
        assert set(told[1:-1]) == {EventKind.ITERATION_FINISHED}
        assert told[-1] == EventKind.CLAIM_FINISHED
    last = events[-1]
    assert (last.kind, last.data["status"]) == (EventKind.JOB_FINISHED, "succeeded")
    assert last.data["counts"] == job["counts"] == {"succeeded": CLAIMS}
    assert last.data["usage"]["calls"] + last.data["usage"]["cached_calls"] > 0
    finished = [one.data for one in events if one.kind == EventKind.CLAIM_FINISHED]
    assert {one["verification_id"] for one in finished} == set(job["verification_ids"])
    assert {one["verdict"] for one in finished} == {"FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"}


def test_interim_verdicts_tell_the_round_and_what_the_claim_has_cost_so_far(
    calls: Calls, ended: str
) -> None:
    events = calls.listed(ended)
    first = next(one.data["claim_id"] for one in events if one.kind == EventKind.ITERATION_FINISHED)
    rounds = [
        one.data
        for one in events
        if one.kind == EventKind.ITERATION_FINISHED and one.data["claim_id"] == first
    ]
    assert [one["iteration"] for one in rounds] == list(range(1, len(rounds) + 1))
    asked = [one["usage"]["calls"] + one["usage"]["cached_calls"] for one in rounds]
    assert asked == sorted(asked)
    assert asked[0] > 0
    end = next(
        one.data
        for one in events
        if one.kind == EventKind.CLAIM_FINISHED and one.data["claim_id"] == first
    )
    assert end["usage"]["calls"] + end["usage"]["cached_calls"] == asked[-1]
    assert end["verdict"] == rounds[-1]["interim_verdict"]


def test_a_client_that_comes_again_gets_exactly_what_it_missed(calls: Calls, ended: str) -> None:
    everything = [(one.seq, one.kind) for one in calls.stream(ended)]
    for seen in (1, len(everything) // 2, len(everything) - 1):
        rest = [(one.seq, one.kind) for one in calls.stream(ended, after=seen)]
        assert rest == everything[seen:]
    by_address = calls.ask("GET", f"/v1/jobs/{ended}/events?after=3")
    assert next(told_by(iter(by_address.text.split("\n")))).seq == 4


def test_proxies_are_asked_to_pass_events_on_at_once_and_as_they_are(
    calls: Calls, ended: str
) -> None:
    headers = {"Accept-Encoding": "gzip, br"}
    answer = calls.ask("GET", f"/v1/jobs/{ended}/events", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["cache-control"] == "no-store, no-transform"
    assert "content-encoding" not in answer.headers
    assert "content-length" not in answer.headers


def test_heartbeats_go_out_while_nothing_happens(calls: Calls, endless: str) -> None:
    beats: list[float] = []
    address = f"{calls.url}/v1/jobs/{endless}/events"
    with httpx2.stream("GET", address, timeout=10) as answer:
        for line in answer.iter_lines():
            if line == ": still here":
                beats.append(time.monotonic())
            if len(beats) == 4:
                break
    assert (beats[3] - beats[0]) / 3 == pytest.approx(HEARTBEAT, rel=0.8)


def test_events_of_another_process_come_within_a_moment_as_json_in_one_line_whatever_they_hold(
    calls: Calls, veritrail: Veritrail, endless: str
) -> None:
    stream = calls.stream(endless, read=10)
    assert next(stream).kind == EventKind.JOB_STARTED
    began = time.monotonic()
    nasty = "line\nbreak\r\u2028 \x00 <script> \u00e9 \ud83d\ude00"
    written(veritrail, endless, 1, nasty)
    came = next(one for one in stream if one.kind == "test.event")
    assert came.at - began < 2.0
    assert came.data["text"] == json.loads(json.dumps(nasty))
    stream.close()


# What is refused.


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/jobs/j-unknown/events", {}, 404),
        ("/v1/jobs/%2e%2e%2f/events", {}, 404),
        ("/v1/jobs/j-'%20OR%201=1/events", {}, 404),
        ("/v1/jobs/{job}/events", {"Last-Event-ID": "seven"}, 422),
        ("/v1/jobs/{job}/events", {"Last-Event-ID": "-1"}, 422),
        ("/v1/jobs/{job}/events", {"Last-Event-ID": "9" * 40}, 422),
        ("/v1/jobs/{job}/events?after=-1", {}, 422),
        ("/v1/jobs/{job}/events?after=x", {}, 422),
        ("/v1/jobs/{job}/events?after=99999999999999999999", {}, 422),
        ("/v1/jobs/{job}/events?since=3", {}, 422),
        ("/v1/jobs/{job}/events?cursor=abc", {}, 422),
        ("/v1/jobs/{job}/events?cursor=abc", {"Accept": "application/json"}, 422),
        ("/v1/jobs/{job}/events?limit=0", {"Accept": "application/json"}, 422),
        ("/v1/jobs/{job}/events?limit=1000000", {"Accept": "application/json"}, 422),
        ("/v1/jobs/{job}/events", {"Accept": "image/png"}, 406),
    ],
)
def test_what_cannot_be_told_is_refused(
    calls: Calls, ended: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = calls.ask("GET", path.format(job=ended), headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"].startswith("urn:veritrail:problem:")


# Many clients, and slow ones.


@pytest.mark.parametrize("clients", [40, pytest.param(200, marks=pytest.mark.soak)])
def test_many_clients_on_one_stream_all_get_everything(
    calls: Calls, service: ServiceProcess, model: ModelServer, process: str, clients: int
) -> None:
    model.latency = 0.1
    job_id = calls.submit(process, again=True, use_cache=False)
    before = psutil.Process(service.pid).num_threads()

    async def read(client: httpx2.AsyncClient) -> list[int]:
        async with client.stream("GET", f"{calls.url}/v1/jobs/{job_id}/events") as answer:
            assert answer.status_code == 200
            lines = [line async for line in answer.aiter_lines()]
        return [one.seq for one in told_by(iter(lines))]

    async def together() -> list[list[int]]:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(limits=limits, timeout=60) as client:
            return await asyncio.gather(*(read(client) for _ in range(clients)))

    try:
        found = asyncio.run(together())
    finally:
        model.latency = 0.0
    last = calls.listed(job_id)[-1]
    assert last.kind == EventKind.JOB_FINISHED
    assert found == [list(range(1, last.seq + 1))] * clients
    assert psutil.Process(service.pid).num_threads() <= before + 40
    assert timed(lambda: calls.ask("GET", "/healthz")) < 1.0


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    """What is closed at the end, whatever comes of the test."""
    with ExitStack() as stack:
        yield stack


def _reader_that_waits(calls: Calls, job_id: str) -> socket.socket:
    """A client that has asked and takes nothing."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    reader.connect(("127.0.0.1", int(calls.url.rpartition(":")[2])))
    host = calls.url.removeprefix("http://")
    asked = f"GET /v1/jobs/{job_id}/events HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    reader.sendall(asked.encode())
    return reader


def test_slow_readers_cost_no_memory_nobody_waits_for_them_and_each_goes_on_where_it_was(
    calls: Calls,
    service: ServiceProcess,
    veritrail: Veritrail,
    endless: str,
    closing: ExitStack,
) -> None:
    for _ in range(20):
        reader = closing.enter_context(_reader_that_waits(calls, endless))
    time.sleep(0.5)
    before = psutil.Process(service.pid).memory_info().rss

    with ThreadPoolExecutor(1) as beside:
        # Where the machine is busy even this reader may be sent away; it comes again at once.
        following = beside.submit(calls.followed, endless)
        written(veritrail, endless, EVENTS, "x" * 2_000, last=True)
        quick = [(one.seq, one.kind) for one in following.result(90)]
    assert [seq for seq, _ in quick] == list(range(1, quick[-1][0] + 1))
    assert sum(kind == "test.event" for _, kind in quick) == EVENTS
    # 15 MB of events for each of 20 readers would be 300 MB.
    grown = psutil.Process(service.pid).memory_info().rss - before
    assert grown < 60e6
    time.sleep(HEARTBEAT * 4 + 1.5)  # they are sent away
    reader.settimeout(10)
    got = bytearray()
    while piece := reader.recv(65_536):
        got += piece
    text = got.decode("utf-8", "replace").split("\r\n\r\n", 1)[1]
    whole = [block for block in text.split("\n\n")[:-1] if "\nevent: " in f"\n{block}"]
    last = int(next(line for line in whole[-1].split("\n") if line.startswith("id: "))[4:])
    assert 0 < last < EVENTS
    rest = [one.seq for one in calls.stream(endless, after=last)]
    assert rest == list(range(last + 1, quick[-1][0] + 1))


# Ends.


@pytest.mark.soak
def test_a_stream_of_a_revoked_key_ends_soon_and_others_go_on(
    beside: Veritrail, tmp_path: Path, model: ModelServer
) -> None:
    beside("ingest", pumps(tmp_path / "keys.json", 2))
    shown = {}
    for name, scope in (("watcher", "verify"), ("other", "verify"), ("reader", "read")):
        made = beside("keys", "create", "--name", name, "--scope", scope, "--json").json
        shown[name] = made["key"]
    model.latency = 60.0
    with serving(beside, env=asking(model)) as service:
        mine = {name: {"Authorization": f"Bearer {key}"} for name, key in shown.items()}
        calls = Calls(service.url, mine["other"])
        job_id = calls.submit("keys")
        path = f"/v1/jobs/{job_id}/events"
        assert calls.ask("GET", path, headers={"Authorization": "Bearer no"}).status_code == 401
        assert calls.ask("GET", path, headers=mine["reader"]).status_code == 403
        watching = Calls(service.url, mine["watcher"]).stream(job_id)
        others = calls.stream(job_id)
        assert next(watching).seq == next(others).seq == 1
        beside("keys", "revoke", "watcher")
        assert timed(lambda: list(watching)) < 15
        model.latency = 0.0
        calls.ask("POST", f"/v1/jobs/{job_id}:cancel")
        assert list(others)[-1].kind == EventKind.JOB_FINISHED


def test_streams_end_when_the_service_is_told_to_end(
    calls: Calls, service: ServiceProcess, model: ModelServer, process: str
) -> None:
    model.latency = 60.0
    try:
        job_id = calls.submit(process, again=True, use_cache=False)
        streams = [calls.stream(job_id) for _ in range(5)]
        assert [next(stream).seq for stream in streams] == [1] * 5
        began = time.monotonic()
        assert service.stop() == 0
        assert time.monotonic() - began < 30  # half of what the calls at work would take
        for stream in streams:  # to their end, which is a good one
            assert EventKind.JOB_FINISHED not in [one.kind for one in stream]
    finally:
        model.latency = 0.0
        if not service.runs:
            service.start()
    assert calls.wait(job_id)["status"] == "succeeded"
