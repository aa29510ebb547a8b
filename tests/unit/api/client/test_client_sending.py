"""What a client sends, what it sends again, and what it makes of the answers."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import time

import pytest
from fakes.ports import free_port
from fakes.scripted_service import answer, events, hang_up, problem, scripted

from veritrail_graph import Client
from veritrail_graph.api.client import (
    AccessRefused,
    Conflict,
    Missing,
    Problem,
    Rejected,
    StrangeAnswer,
    Unavailable,
    Unreachable,
    operations,
)
from veritrail_graph.graph.errors import InputError, VeriTrailError, Violation

KEY = "a-key-that-nobody-may-see-0123"
OK = answer(200, {"status": "ok"})
ACCEPTED = answer(202, {"job_id": "j-1", "verification_ids": ["v-1"]})
RUNNING = answer(200, {"job_id": "j-1", "status": "running"})
OVER = answer(200, {"job_id": "j-1", "status": "succeeded"})


def test_the_key_is_sent_and_never_shown(monkeypatch):
    with scripted(problem(401, "unauthorized", "The key is not known.")) as service:
        for client in (Client(service.url, KEY), _from_environment(monkeypatch, service.url)):
            with client, pytest.raises(AccessRefused) as refused:
                client.health()
            assert service.asked[-1].headers["authorization"] == f"Bearer {KEY}"
            assert KEY not in repr(client) + str(refused.value) + repr(refused.value)
            assert "with a key" in repr(client)
        monkeypatch.delenv("VERITRAIL_API_KEY")
        with Client(service.url) as client, pytest.raises(AccessRefused):
            client.health()
        assert "authorization" not in service.asked[-1].headers


def _from_environment(monkeypatch, url):
    monkeypatch.setenv("VERITRAIL_API_KEY", KEY)
    monkeypatch.setenv("VERITRAIL_URL", url)
    return Client()


def test_a_redirect_is_not_followed_with_the_key():
    with scripted(OK) as other:
        moved = answer(307, {}, Location=other.url + "/healthz")
        with (
            scripted(moved) as service,
            Client(service.url, KEY) as client,
            pytest.raises(StrangeAnswer),
        ):
            client.health()
        assert other.asked == []


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://host", "http://", "http://h:99999"])
def test_what_is_no_address_is_refused(url):
    if url:
        with pytest.raises(InputError, match="http://host:8000"):
            Client(url)


def test_no_address_may_hold_a_password_and_no_key_a_line_break():
    with pytest.raises(InputError, match="user name or password") as refused:
        Client("http://me:secret@host")
    assert "secret" not in str(refused.value)
    for key in ("a\r\nX-Evil: 1", "schlüssel", " blank "):
        with pytest.raises(InputError) as refused:
            Client("http://127.0.0.1:8000", key)
        assert key not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Rejected), (401, AccessRefused), (403, AccessRefused), (404, Missing),
        (409, Conflict), (413, Rejected), (415, Rejected), (422, Rejected), (500, Problem),
        (504, Unavailable),
    ],
)  # fmt: skip
def test_a_problem_is_an_exception_with_all_that_was_told(status, kind):
    rule = {"kind": "cycle", "where": "edges[3]", "message": "closes a cycle"}
    more = {"violations": [rule], "instance": "urn:veritrail:request:r1"}
    with (
        scripted(problem(status, "some-kind", "What happened.", **more)) as service,
        Client(service.url) as client,
        pytest.raises(Problem) as raised,
    ):
        client.process("p")
    error = raised.value
    assert type(error) is kind
    assert isinstance(error, VeriTrailError)
    assert (error.status, error.kind, error.detail) == (status, "some-kind", "What happened.")
    assert error.type == "urn:veritrail:problem:some-kind"
    assert error.violations == (Violation("cycle", "edges[3]", "closes a cycle"),)
    assert error.request_id == "r1"
    assert str(error) == "What happened.\n  edges[3]: closes a cycle"
    assert len(service.asked) == 1


def test_what_reads_is_asked_again_until_it_is_answered():
    again = problem(503, "engine-unavailable", "Starting.", Retry_After=1)
    with (
        scripted(again, hang_up, problem(429, "too-many", "Slowly."), OK) as service,
        Client(service.url) as client,
    ):
        begun = time.monotonic()
        assert client.health().status == "ok"
    assert len(service.asked) == 4
    assert time.monotonic() - begun >= 1.0  # it waited as asked


def test_patience_ends():
    with (
        scripted(problem(503, "engine-unavailable", "Down.", Retry_After=1)) as service,
        Client(service.url, patience=0.5) as client,
        pytest.raises(Unavailable) as raised,
    ):
        client.health()
    assert raised.value.retry_after == 1.0
    address = f"http://127.0.0.1:{free_port()}"
    with Client(address, patience=0.1) as client, pytest.raises(Unreachable) as gone:
        client.health()
    assert address in str(gone.value)
    assert "veritrail serve" in str(gone.value)


def test_what_changes_something_is_not_sent_twice_when_its_answer_is_lost():
    with (
        scripted(hang_up, answer(201, {})) as service,
        Client(service.url) as client,
        pytest.raises(Unreachable, match="lost"),
    ):
        client.review("p", "k", verdict="FULLY_SUPPORTED")
    assert len(service.asked) == 1


def test_a_submission_whose_answer_is_lost_is_sent_again_under_the_same_key():
    busy = problem(503, "engine-unavailable", "Starting.")
    with scripted(hang_up, busy, ACCEPTED) as service, Client(service.url) as client:
        job = client.verify("p", ["One.", "Two."], q=1)
        other = client.verify("p", "One.")
    assert (job.job_id, job.verification_ids, job.status) == ("j-1", ["v-1"], "queued")
    keys = [asked.headers["idempotency-key"] for asked in service.asked]
    assert len(set(keys[:3])) == 1
    assert keys[3] != keys[0]
    assert [asked.body for asked in service.asked[:3]] == [service.asked[0].body] * 3
    assert service.asked[0].json == {"process_id": "p", "claims": ["One.", "Two."], "q": 1}
    assert other.job_id == "j-1"


def test_a_job_that_is_being_stopped_is_resumed_a_moment_later():
    busy = problem(409, "job-busy", "Being stopped.", Retry_After=1)
    with scripted(ACCEPTED, busy, RUNNING) as service, Client(service.url) as client:
        job = client.verify("p").resume(budget_usd=2.5)
    assert job.status == "running"
    assert service.asked[-1].json == {"budget_usd": 2.5}
    assert service.asked[-1].path == "/v1/jobs/j-1:resume"


def test_ids_stand_in_paths_as_they_are():
    with (
        scripted(answer(404, {"detail": "no"})) as service,
        Client(service.url) as client,
        pytest.raises(Missing),
    ):
        client.claim("a/b ?#é", "k:1/../x")
    assert service.asked[0].path == "/v1/processes/a%2Fb%20%3F%23%C3%A9/claims/k:1%2F..%2Fx"


def test_a_file_is_uploaded_as_it_is(tmp_path):
    report = {"process_id": "p", "name": "p", "status": "created", "nodes": 1, "edges": 0}
    done = answer(201, {**report, "claims": 0})
    content = gzip.compress(json.dumps({"text": "x" * 1_000_000}).encode())
    zipped = tmp_path / "p.json.gz"
    zipped.write_bytes(content)
    lines = tmp_path / "p.jsonl"
    lines.write_text('{"a": 1}\n')
    with scripted(hang_up, done) as service, Client(service.url) as client:
        assert client.ingest(zipped, replace=True).status == "created"
        client.ingest(str(lines))
        client.ingest({"process_id": "p"})
        client.ingest({"node": {"node_id": str(n)}} for n in range(3))
    assert [asked.body for asked in service.asked[:2]] == [content, content]
    assert service.asked[0].path == "/v1/processes?replace=true"
    kinds = [asked.headers["content-type"] for asked in service.asked[1:]]
    assert kinds == ["application/gzip", "application/x-ndjson", "application/json",
                     "application/x-ndjson"]  # fmt: skip
    assert service.asked[2].body == b'{"a": 1}\n'
    assert service.asked[-1].body.count(b"\n") == 3
    assert service.asked[0].headers.get("content-encoding") is None


def test_lines_that_are_gone_are_not_sent_a_second_time():
    with (
        scripted(hang_up, OK) as service,
        Client(service.url) as client,
        pytest.raises(Unreachable),
    ):
        client.ingest({"node": {"node_id": str(n)}} for n in range(3))
    assert len(service.asked) == 1


def test_an_answer_to_a_file_that_trickles_has_an_end(monkeypatch):
    monkeypatch.setattr(operations, "INGEST_SECONDS", 0.3)

    def trickles(handler):
        handler.send_response(201)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(100):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.05)

    with (
        scripted(trickles) as service,
        Client(service.url, patience=0.0) as client,
        pytest.raises(Unreachable, match="no whole answer within"),
    ):
        client.ingest({"process_id": "p", "nodes": []})


def test_what_cannot_be_uploaded_is_told_before_anything_is_sent(tmp_path):
    with scripted(OK) as service, Client(service.url) as client:
        with pytest.raises(InputError, match="no such file"):
            client.ingest(tmp_path / "none.json")
        with pytest.raises(InputError, match="folder"):
            client.ingest(tmp_path)
        with pytest.raises(InputError, match="JSON"):
            client.ingest({"metadata": object()})
    assert service.asked == []


@pytest.mark.parametrize(
    "other",
    [
        answer(200, b"<html>", "text/html"),
        answer(502, b"<html>", "text/html"),
        answer(200, ["x"]),
        answer(200, {}),
    ],
)
def test_what_is_no_service_of_ours_is_told(other):
    with (
        scripted(other) as service,
        Client(service.url, KEY, patience=0) as client,
        pytest.raises((StrangeAnswer, Problem)) as raised,
    ):
        client.process("p")
    assert KEY not in str(raised.value)


def test_events_go_on_where_the_connection_was_lost():
    first = events((1, "claim.started", {"claim_id": "k"}), (2, "iteration.finished", {}),
                   tail=b'id: 3\nevent: claim.fin')  # fmt: skip
    rest = events((3, "claim.finished", {"status": "succeeded"}), (4, "job.finished", {}))
    with (
        scripted(ACCEPTED, first, hang_up, rest, answer(204, b""), OVER) as service,
        Client(service.url) as client,
    ):
        told = list(client.verify("p").events())
    assert [one.id for one in told] == ["1", "2", "3", "4"]
    assert told[2].data == {"status": "succeeded"}
    streams = [one for one in service.asked if one.path.endswith("/events")]
    seen = [one.headers.get("last-event-id") for one in streams]
    assert seen[0] is None
    assert set(seen[1:-1]) == {"2"}
    assert seen[-1] == "4"


def test_a_stream_that_has_nothing_more_ends_when_the_job_is_over():
    with scripted(ACCEPTED, answer(204, b""), OVER) as service, Client(service.url) as client:
        assert list(client.verify("p").events(after="9")) == []
    assert service.asked[1].headers["last-event-id"] == "9"


def test_waiting_has_an_end():
    with scripted(ACCEPTED, RUNNING) as service, Client(service.url) as client:
        job = client.verify("p")
        with pytest.raises(TimeoutError):
            job.wait(0.3)
        assert job.status == "running"


def test_pages_are_read_as_they_are_needed():
    def page(names, cursor):
        rows = [{"process_id": name, "name": name} for name in names]
        return answer(200, {"processes": rows, "nextCursor": cursor})

    with (
        scripted(page("ab", "c1"), page("cd", "c2"), page("e", None)) as service,
        Client(service.url) as client,
    ):
        walk = iter(client.processes(page=2))
        assert next(walk).process_id == "a"
        assert len(service.asked) == 1
        assert [one.process_id for one in walk] == ["b", "c", "d", "e"]
    assert [one.path for one in service.asked] == [
        "/v1/processes?limit=2",
        "/v1/processes?limit=2&cursor=c1",
        "/v1/processes?limit=2&cursor=c2",
    ]


def test_a_client_that_is_forgotten_ends_its_thread():
    before = set(threading.enumerate())
    with scripted(OK) as service:
        client = Client(service.url)
        client.health()
        mine = [one for one in set(threading.enumerate()) - before if "client" in one.name]
        assert len(mine) == 1
        del client
        mine[0].join(10)
        assert not mine[0].is_alive()
