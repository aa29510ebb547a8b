"""What strangers, broken clients and stranger's pages get from the service."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from acceptance.command import Veritrail
from acceptance.homes import a_home
from fakes.ports import free_port
from fakes.service_process import ServiceProcess, serving
from fakes.waiting import until

from veritrail_graph.api.server import listening
from veritrail_graph.api.service.rest.docs_page import ASSETS

NOWHERE = {"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}", "VERITRAIL_BODY_SECONDS": "2"}
LIBRARY = "/v1/queries"


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceProcess]:
    """A service without an engine: what is tested here is before it."""
    with a_home() as veritrail, serving(veritrail, env=NOWHERE, args=["--no-worker"]) as service:
        yield service


def raw(service: ServiceProcess, sent: bytes, seconds: float = 60.0) -> bytes:
    """What comes back for these bytes until the other side closes."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=seconds) as connection:
        connection.sendall(sent)
        got = bytearray()
        try:
            while piece := connection.recv(65_536):
                got += piece
        except ConnectionResetError:
            pass
    return bytes(got)


def get(path: str, *headers: str, host: str = "127.0.0.1") -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", ""])
def test_a_name_that_a_stranger_gave_this_machine_is_refused(
    service: ServiceProcess, host: str
) -> None:
    answer = service.get(LIBRARY, headers={"Host": f"{host}:{service.port}"})
    assert (answer.status_code, answer.json()["type"]) == (421, "urn:veritrail:problem:wrong-host")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-Forwarded-For": "203.0.113.7"},
        {"Forwarded": "for=203.0.113.7"},
        {"Via": "1.1 proxy"},
    ],
)
def test_without_a_key_pages_of_other_sites_and_proxies_can_do_nothing(
    service: ServiceProcess, headers: dict[str, str]
) -> None:
    answer = service.post(f"{LIBRARY}/claims", content=b"{}", headers=headers)
    assert answer.status_code == 421
    own = {"Origin": service.url, "Sec-Fetch-Site": "same-origin"}
    assert service.post(f"{LIBRARY}/claims", json={}, headers=own).status_code == 503


@pytest.mark.parametrize(
    "query",
    ["key=abc", "api_key=abc", "KEY=", "access_token=x", "token=x", "q=vt_abcdefgh_secret"],
)
def test_a_key_in_the_address_is_refused_and_not_logged(
    service: ServiceProcess, query: str
) -> None:
    answer = service.get(f"{LIBRARY}?{query}&note=do-not-log-this")
    assert (answer.status_code, answer.json()["type"]) == (
        400,
        "urn:veritrail:problem:key-in-address",
    )
    assert "do-not-log-this" not in service.log
    assert "secret" not in service.log


def test_an_id_of_the_request_stands_in_answer_problem_and_log(service: ServiceProcess) -> None:
    answer = service.get("/v1/nothing", headers={"X-Request-ID": "my.request-1"})
    assert answer.headers["x-request-id"] == "my.request-1"
    assert answer.json()["instance"] == "urn:veritrail:request:my.request-1"
    until(lambda: "my.request-1" in service.log)  # it is written behind the answer
    (line,) = [one for one in service.lines if one.get("request_id") == "my.request-1"]
    assert (line["method"], line["path"], line["status"], line["level"]) == (
        "GET",
        "unknown",
        404,
        "info",
    )
    assert line["ms"] >= 0
    for odd in ("a b", "x" * 65, "é", 'a"b', "a\tb", ""):
        made = service.get("/healthz", headers={"X-Request-ID": odd.encode("latin-1")})
        assert re.fullmatch("[0-9a-f]{32}", made.headers["x-request-id"]), odd


def test_a_line_break_in_a_path_a_header_or_an_id_makes_no_header_and_no_line(
    service: ServiceProcess,
) -> None:
    before = len(service.log.splitlines())
    told = raw(
        service, get("/v1/queries/%0d%0aX-Evil:%201%0d%0a", "X-Request-ID: a%0d%0aX-Evil: 1")
    )
    assert b"x-evil" not in told.lower().partition(b"\r\n\r\n")[0]
    told = raw(
        service,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"X-Request-ID: a\r\n b\r\n\r\n",
    )
    assert b" b\r\n" not in told.partition(b"\r\n\r\n")[0]
    assert raw(service, b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n").startswith(b"HTTP/1.1 400")
    lines = service.log.splitlines()[before:]
    assert all(json.loads(line) for line in lines)


def assert_is_whole(told: bytes, kind: bytes) -> None:
    """A refusal that no application has seen has what every other one has."""
    asked = told.partition(b"x-request-id: ")[2].partition(b"\r\n")[0]
    assert asked
    assert b"urn:veritrail:request:" + asked in told
    assert b"urn:veritrail:problem:" + kind + b'"' in told
    assert b"content-type: application/problem+json" in told
    assert b"x-content-type-options: nosniff" in told


def test_headers_that_are_too_large_or_no_http_are_refused(service: ServiceProcess) -> None:
    huge = raw(service, get("/healthz", "X-Padding: " + "x" * 70_000))
    assert huge.startswith(b"HTTP/1.1 431"), huge[:200]
    assert b"application/problem+json" in huge
    many = raw(service, get("/healthz", *(f"X-{n}: {'y' * 100}" for n in range(1_000))))
    assert many.startswith(b"HTTP/1.1 431"), many[:200]
    long = raw(service, get("/v1/" + "x" * 40_000))
    assert long.startswith(b"HTTP/1.1 431"), long[:200]
    unfinished = raw(service, b"GET /healthz HTTP/1.1\r\nX: " + b"y" * 60_000)
    assert unfinished.startswith(b"HTTP/1.1 431"), unfinished[:200]
    assert_is_whole(unfinished.lower(), b"headers-too-large")
    assert raw(service, b"\x16\x03\x01\x02\x00\x01\x00" + b"\0" * 20 + b"\r\n\r\n").startswith(
        b"HTTP/1.1 400"
    )
    both = get("/healthz", "Transfer-Encoding: chunked", "Content-Length: 5") + b"0\r\n\r\n"
    assert raw(service, both).startswith(b"HTTP/1.1 400")
    assert raw(service, get("/healthz")).startswith(b"HTTP/1.1 200")


def test_a_body_that_does_not_arrive_or_does_not_end_is_given_up(service: ServiceProcess) -> None:
    begin = f"POST {LIBRARY}/claims HTTP/1.1\r\nHost: localhost\r\n"
    begun = time.monotonic()
    slow = raw(service, f"{begin}Content-Length: 100\r\n\r\n{{".encode())
    assert slow.startswith(b"HTTP/1.1 408"), slow[:200]
    assert 1.5 < time.monotonic() - begun < 60
    told = raw(service, f"{begin}Content-Length: 100000000000\r\n\r\n".encode())
    assert told.startswith(b"HTTP/1.1 413"), told[:200]
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(f"{begin}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            for _ in range(5_000):  # 300 MB, if anybody took them
                connection.sendall(piece)
            raise AssertionError("an endless body was read to its end")
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert service.get("/healthz").status_code == 200


def test_a_connection_that_says_nothing_is_closed(
    service: ServiceProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "HEADER_SECONDS", 1.0)  # 10 s in use
    begun = time.monotonic()
    with (
        socket.create_connection(("127.0.0.1", service.port), timeout=60) as silent,
        socket.create_connection(("127.0.0.1", service.port), timeout=60) as slow,
    ):
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        assert silent.recv(100) == b""
        told = b"".join(iter(lambda: slow.recv(2_000), b"")).lower()
    assert told.startswith(b"http/1.1 408"), told
    assert_is_whole(told, b"request-timeout")
    assert 0.8 < time.monotonic() - begun < 60


def test_answers_have_safe_headers_and_are_compressed_where_it_is_wanted(
    service: ServiceProcess,
) -> None:
    packed = service.get(LIBRARY)
    assert packed.headers["content-encoding"] == "gzip"
    plain = service.get(LIBRARY, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == packed.json()
    refused = service.get(LIBRARY, headers={"Host": "evil.example"})
    for answer in (packed, plain, refused, service.get("/v1/nothing"), service.get("/docs")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"].startswith("default-src 'none';")
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("packing", ["identity", "gzip"])
def test_head_tells_the_headers_of_get_without_its_body(
    service: ServiceProcess, packing: str
) -> None:
    headers = {"Accept-Encoding": packing}
    for path in ("/healthz", LIBRARY, "/docs", "/openapi.json", "/v1/processes/none"):
        got = service.get(path, headers=headers)
        told = service.request("HEAD", path, headers=headers)
        assert (told.status_code, told.content) == (got.status_code, b""), path
        for name in ("content-type", "content-encoding", "vary", "cache-control"):
            assert told.headers.get(name) == got.headers.get(name), (path, name)
        if got.status_code == 200:  # a problem names its request
            assert told.headers["content-length"] == got.headers["content-length"], path
    refused = service.request("HEAD", f"{LIBRARY}/claims")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert 'method="HEAD",path="/v1/queries"' in service.get("/metrics").text


def test_the_engine_that_is_down_is_told_everywhere_and_its_address_nowhere(
    service: ServiceProcess,
) -> None:
    for answer in (service.get("/readyz"), service.post(f"{LIBRARY}/claims", json={})):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert answer.json()["type"] == "urn:veritrail:problem:engine-unavailable"
        assert "bolt" not in answer.text
        assert NOWHERE["NEO4J_URI"].rpartition(":")[2] not in answer.text
    assert NOWHERE["NEO4J_URI"] not in service.log
    assert service.get("/healthz").status_code == 200


def test_figures_count_requests_by_route_and_take_no_labels_from_strangers(
    service: ServiceProcess,
) -> None:
    for n in range(5):
        service.get(f"/stranger/{n}")
        service.request(f"ODD{n}", LIBRARY)
        service.post(f"{LIBRARY}/stranger-{n}", json={})
    told = service.get("/metrics")
    assert told.headers["content-type"].startswith("text/plain; version=")
    assert "stranger" not in told.text
    assert "ODD" not in told.text
    counted = dict(re.findall(r"^veritrail_requests_total\{(.*)\} (\S+)$", told.text, re.MULTILINE))
    by_template = [n for key, n in counted.items() if 'POST",path="/v1/queries/{name}"' in key]
    assert sum(map(float, by_template)) >= 5
    assert float(counted['method="GET",path="unknown",status="404"']) >= 5
    assert "veritrail_request_seconds_bucket" in told.text
    assert "veritrail_job_calls 0.0" in told.text


def test_the_description_is_whole_and_its_page_loads_nothing_from_elsewhere(
    service: ServiceProcess,
) -> None:
    told = service.get("/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    assert told["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    named = {tag["name"] for tag in told["tags"]}
    for path, item in told["paths"].items():
        for call in item.values():
            assert set(call["tags"]) <= named, path
            assert call["description"], path
            assert "HTTPValidationError" not in json.dumps(call), path
            if path.startswith("/v1/"):
                assert call["security"], f"{path} asks for no scope"
                assert {"401", "403", "429", "503"} <= set(call["responses"]), path
    page = service.get("/docs")
    policy = page.headers["content-security-policy"]
    assert "'unsafe" not in policy
    assert "http" not in policy
    loaded = set(re.findall(r'(?:src|href)="([^"#][^"]*)"', page.text))
    assert loaded == {f"/docs/{name}" for name in ASSETS}
    for inline in re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    for name, kind in ASSETS.items():
        assert service.get(f"/docs/{name}").headers["content-type"].startswith(kind)
    assert service.get("/docs/other.js").status_code in (401, 404, 422)


def test_pages_of_chosen_origins_may_ask_and_no_others() -> None:
    env = {**NOWHERE, "VERITRAIL_CORS_ORIGINS": "https://ours.example"}
    with a_home() as veritrail, serving(veritrail, env=env, args=["--no-worker"]) as service:
        asks = {"Access-Control-Request-Method": "POST", "Origin": "https://ours.example"}
        before = service.request("OPTIONS", f"{LIBRARY}/claims", headers=asks)
        assert before.status_code == 200
        assert before.headers["access-control-allow-origin"] == "https://ours.example"
        answer = service.get(LIBRARY, headers={"Origin": "https://ours.example"})
        assert answer.headers["access-control-allow-origin"] == "https://ours.example"
        assert "access-control-allow-credentials" not in answer.headers
        other = service.get(LIBRARY, headers={"Origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"VERITRAIL_CORS_ORIGINS": "*"}, "is no origin"),
        ({"VERITRAIL_CORS_ORIGINS": "https://a.example/path"}, "is no origin"),
        ({"VERITRAIL_RATE": "many"}, "requests a minute"),
        ({"VERITRAIL_EVENTS_HEARTBEAT": "soon"}, "VERITRAIL_EVENTS_HEARTBEAT"),
        ({"VERITRAIL_BODY_SECONDS": "0"}, "above 0"),
        ({"VERITRAIL_JOBS_URL": "mysql://root:hidden@db/x"}, "VERITRAIL_JOBS_URL"),
    ],
)
def test_a_setting_that_cannot_be_is_told_before_it_starts(
    bare: Veritrail, settings: dict[str, str], words: str
) -> None:
    told = bare("serve", "--port", "0", status=2, **settings).err
    assert words in told
    assert "hidden" not in told


def test_it_takes_any_free_port_says_which_and_ends_well_on_sigterm(bare: Veritrail) -> None:
    started = bare.start("serve", "--port", "0", "--log-format", "json", "--no-worker", **NOWHERE)
    assert started.child.stderr is not None
    line = json.loads(started.child.stderr.readline())
    answer = httpx2.get(f"{line['url']}/healthz", trust_env=False)
    assert answer.status_code == 200
    started.child.terminate()
    ended = started.end(0)
    assert ended.out == ""


def test_lines_for_people_and_fewer_of_them(bare: Veritrail) -> None:
    args = ["--log-format", "text", "--log-level", "error", "--no-worker"]
    with serving(bare, env=NOWHERE, args=args) as service:
        service.get(LIBRARY)
        assert service.log == ""
    args[-2] = "debug"
    with serving(bare, env=NOWHERE, args=args) as service:
        service.get(LIBRARY)
        service.get("/healthz")
        until(lambda: 'path="/healthz"' in service.log)
        assert 'path="/v1/queries"' in service.log
        assert service.lines == []


def test_an_answer_under_way_is_finished_when_it_is_told_to_end(bare: Veritrail) -> None:
    env = {**NOWHERE, "VERITRAIL_BODY_SECONDS": "60"}
    with (
        serving(bare, env=env, args=["--no-worker"]) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=60) as asking,
        socket.create_connection(("127.0.0.1", service.port), timeout=60) as silent,
        ThreadPoolExecutor(1) as threads,
    ):
        asking.sendall(
            f"POST {LIBRARY}/claims HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Length: 2\r\n\r\n{".encode()
        )
        time.sleep(1)
        ending = threads.submit(service.stop)
        assert silent.recv(100) == b""  # a silent client is disconnected at once
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", service.port), timeout=60)
        asking.sendall(b"}")
        assert asking.recv(1_000).startswith(b"HTTP/1.1 503")  # there is no engine
        assert ending.result() == 0
