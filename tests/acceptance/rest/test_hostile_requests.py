"""What attackers, broken clients and chance send: a clear answer each, and nothing left behind."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from acceptance.command import Veritrail
from fakes.ports import free_port
from fakes.process_files import as_json, document
from fakes.service_process import ServiceProcess, serving
from fakes.waiting import until

pytestmark = pytest.mark.engine

PROCESS = "hostile"
EVIL = [
    "..", "../../etc/passwd", "a/b", "%2F", "x'}) DETACH DELETE n //", "$process_id", "\0", "~new",
    f"{PROCESS}~new", "ÄÖ😀", "\r\nSet-Cookie: a=b", "a" * 2_000, ";DROP TABLE jobs", "{x}",
]  # fmt: skip
SHOWN_TO_ALL = ("a/b", "x'}) DETACH DELETE n //")
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture(scope="module")
def service(shared_service: ServiceProcess) -> Iterator[ServiceProcess]:
    answer = shared_service.post("/v1/processes", content=as_json(document(process_id=PROCESS)))
    assert answer.status_code in (200, 201), answer.text
    yield shared_service
    shared_service.delete(f"/v1/processes/{PROCESS}")


def raw(service: ServiceProcess, method: str, target: str, body: bytes = b"") -> tuple[int, bytes]:
    """A request whose target no client has put in order."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.putrequest(method, target, skip_host=False)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


@pytest.mark.parametrize("evil", EVIL)
def test_ids_that_are_paths_or_cypher_name_nothing(service: ServiceProcess, evil: str) -> None:
    name = quote(evil, safe="")
    views = [  # they find a process or a verification as the others do
        ("GET", f"/v1/processes/{name}/lineage?node_id=t"),
        ("GET", f"/v1/processes/{name}/stages"),
        ("GET", f"/v1/processes/{name}/claims"),
        ("GET", f"/v1/processes/{name}/verifications"),
        ("GET", f"/v1/verifications/{name}/provenance"),
        ("GET", f"/v1/verifications/{name}/error"),
    ]
    for method, path in [
        *(views if evil in SHOWN_TO_ALL else ()),
        ("GET", f"/v1/processes/{name}"),
        ("DELETE", f"/v1/processes/{name}"),
        ("GET", f"/v1/processes/{name}/nodes"),
        ("GET", f"/v1/processes/{PROCESS}/claims/{name}"),
        ("DELETE", f"/v1/processes/{PROCESS}/claims/{name}"),
        ("GET", f"/v1/processes/{PROCESS}/lineage?node_id={name}"),
        ("GET", f"/v1/verifications/{name}"),
        ("GET", f"/v1/verifications/{name}/diff/{name}"),
    ]:
        status, content = raw(service, method, path)
        wanted = (404, 422) if "node_id" in path and len(evil) > 1_024 else (404,)
        assert status in wanted, (method, path, content)
        assert json.loads(content)["type"].startswith("urn:veritrail:problem:")
    assert service.get(f"/v1/processes/{PROCESS}").json()["nodes"] == 4


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/nodes?limit=0", {422}),
        ("/nodes?limit=1001", {422}),
        (f"/nodes?limit={'9' * 400}", {422}),
        ("/nodes?limit=1e3", {422}),
        ("/nodes?stage=-1", {422}),
        ("/nodes?stage=99999999999999999999", {422}),
        ("/nodes?role=king", {422}),
        ("/nodes?fields=text,secret", {422}),
        ("/nodes?text=", {422}),
        ("/nodes?text=" + "x" * 1_001, {422}),
        ("/nodes?text=%00", {200}),
        ("/nodes?text=%ED%A0%80", {200, 422}),
        ("/nodes?cursor=x", {422}),
        ("/nodes?cursor=" + "A" * 9_000, {422}),
        ("/nodes?limt=5", {422}),
        ("/claims?verdict=MAYBE", {422}),
        ("/claims?review=odd", {422}),
        ("/claims?error_stage=two", {422}),
        ("/claims?stage=2", {422}),
        ("/verifications?cursor=WzFd", {422}),
        ("?force=1", {422}),
        ("/stages?x=1&y=2", {422}),
    ],
)
def test_parameters_out_of_bounds_or_unknown_are_told(
    service: ServiceProcess, path: str, statuses: set[int]
) -> None:
    status, content = raw(service, "GET", f"/v1/processes/{PROCESS}{path}")
    assert status in statuses, content
    if status == 422:
        assert json.loads(content)["violations"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b"1", b'"x"', b"\xff\xfe", b"{}", DEEP.encode(),
        ('{"claims": ' + DEEP + "}").encode(), b'{"text": "x", "who": 1}', b'{"text": 5}',
        b'{"text": "\\ud800"}', b'{"node_ids": "t"}', b'{"node_ids": [1]}', b'{"node_ids": [""]}',
        b'{"node_ids": ["t"], "fields": ["secret"]}', b'{"claims": [{"text": {}}]}',
        b'{"claims": [{"a": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}]}",
        b'{"claims": [NaN]}', json.dumps({"node_ids": ["t"] * 1_001}).encode(),
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)  # fmt: skip
def test_bodies_of_another_shape_are_told(service: ServiceProcess, body: bytes) -> None:
    at = f"/v1/processes/{PROCESS}"
    for method, path in [
        ("POST", f"{at}/nodes:batchGet"),
        ("POST", f"{at}/claims"),
        ("PATCH", f"{at}/claims/k1"),
        ("POST", "/v1/queries/claims"),
    ]:
        status, content = raw(service, method, path, body)
        is_call = path.startswith("/v1/queries") and body == b"{}"
        assert status in (400, 422), (path, content[:500])
        assert is_call or b"Traceback" not in content
        assert len(content) < 20_000
    assert len(service.get(f"{at}/claims").json()["claims"]) == 1


def test_a_body_for_every_method_that_takes_none(service: ServiceProcess) -> None:
    at = f"/v1/processes/{PROCESS}"
    for method in ("OPTIONS", "PUT", "TRACE", "PATCH", "BREW"):
        status, _ = raw(service, method, f"{at}/stages")
        assert status == 405, method
    for method in ("GET", "HEAD"):
        status, _ = raw(service, method, at, b"x" * 100)
        assert status == 200, method
    status, _ = raw(service, "GET", "/v1/processes/")
    assert status == 404
    status, _ = raw(service, "GET", "//v1/processes")
    assert status == 404


def send_part(service: ServiceProcess, content: bytes, length: int) -> None:
    """Send the beginning of an upload and go."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as wire:
        head = (
            f"POST /v1/processes HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n"
            "Content-Type: application/json\r\n\r\n"
        )
        wire.sendall(head.encode() + content)
        time.sleep(0.3)


def kept(service: ServiceProcess) -> list[str]:
    return [path.name for path in (service.home / "uploads").rglob("body*")]


def test_an_upload_that_is_cut_leaves_nothing(service: ServiceProcess) -> None:
    content = as_json(document(process_id="cut-off"))
    send_part(service, content[:-10], len(content))
    send_part(service, content + b" " * 5_000_000, 100_000_000)
    until(lambda: kept(service) == [])
    assert service.get("/v1/processes/cut-off").status_code == 404


def test_a_client_that_leaves_after_its_body_is_served_nevertheless(
    service: ServiceProcess,
) -> None:
    content = as_json(document(process_id="left-early"))
    send_part(service, content, len(content))
    until(lambda: service.get("/v1/processes/left-early").status_code == 200)
    assert service.delete("/v1/processes/left-early").status_code == 204


def test_many_uploads_at_once_are_all_stored(service: ServiceProcess) -> None:
    names = [f"many-{number}" for number in range(6)]
    statuses: dict[str, int] = {}

    def upload(name: str) -> None:
        content = as_json(document(process_id=name))
        statuses[name] = service.post("/v1/processes", content=content).status_code

    threads = [threading.Thread(target=upload, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == dict.fromkeys(names, 201)
    for name in names:
        assert service.delete(f"/v1/processes/{name}").status_code == 204


def test_limits_hold_and_a_killed_server_leaves_nothing(veritrail: Veritrail) -> None:
    env = {"VERITRAIL_UPLOAD_MAX": "100kb"}
    with serving(veritrail, env=env, child=True) as service:
        large = as_json(document(process_id="large")) + b" " * 100_000
        for body in (large, gzip.compress(b" " * 900_000)):
            answer = service.post("/v1/processes", content=body)
            assert answer.status_code == 413, answer.text
            assert answer.json()["type"] == "urn:veritrail:problem:body-too-large"

        def pieces() -> Iterator[bytes]:
            for _ in range(20):
                yield b" " * 10_000

        endless: Any = service.client.post("/v1/processes", content=pieces())
        assert endless.status_code == 413
        with socket.create_connection(("127.0.0.1", service.port), timeout=30) as wire:
            head = "POST /v1/processes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n"
            wire.sendall(head.encode() + b"{" * 1_000)
            until(lambda: kept(service) != [])
            service.kill()
        assert kept(service) != []
        service.start()
        until(lambda: kept(service) == [])


def test_without_an_engine_every_call_says_when_to_come_again(bare: Veritrail) -> None:
    with serving(
        bare, env={"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}"}, args=["--no-worker"]
    ) as service:
        at, trail = "/v1/processes/p", "/v1/verifications/v"
        for path in (
            "/v1/processes", at, f"{at}/nodes", f"{at}/lineage?node_id=n", f"{at}/stages",
            f"{at}/claims", f"{at}/claims/k", f"{at}/verifications", trail, f"{trail}/provenance",
            f"{trail}/error", f"{trail}/diff/w",
        ):  # fmt: skip
            answer = service.get(path)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5"), path
            assert answer.json()["type"] == "urn:veritrail:problem:engine-unavailable"
        for answer in (
            service.delete(at),
            service.delete(f"{at}/claims/k"),
            service.patch(f"{at}/claims/k", json={"text": "x"}),
            service.post(f"{at}/claims", json={"claims": ["x"]}),
            service.post(f"{at}/nodes:batchGet", json={"node_ids": ["n"]}),
            service.post("/v1/processes", content=as_json(document())),
        ):
            assert answer.status_code == 503, answer.text
        broken = service.post("/v1/processes", content=b'{"format": 1}')
        assert broken.status_code == 422, "a broken body needs no engine to be told"
        assert kept(service) == []


def test_a_body_that_is_not_sent_as_json_is_told_what_to_send(service: ServiceProcess) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}  # the default of curl
    for path in ("/v1/verifications", "/v1/queries/processes", f"/v1/processes/{PROCESS}/claims"):
        answer = service.post(path, content=b'{"process_id": "x"}', headers=form)
        assert answer.status_code == 415, answer.text
        assert answer.json()["type"] == "urn:veritrail:problem:unsupported-media-type"
        assert "application/json" in answer.json()["detail"]
