"""The service as its users meet it: a server on loopback, spoken to over HTTP."""

from __future__ import annotations

import http.client
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from fakes.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
KEY = "a-key-that-is-long-enough"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Service:
    port: int
    child: subprocess.Popen[bytes]

    def __call__(
        self, method: str, path: str, body: Any = None, raw: bytes | None = None, **headers: str
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, sent, {"Content-Type": "application/json", **named})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)


@contextmanager
def serving(veritrail: Veritrail, *options: str, **settings: str) -> Iterator[Service]:
    port = free_port()
    script = str(Path(sys.executable).with_name("veritrail"))
    child = subprocess.Popen(
        [script, "serve", *(options or ("--port", str(port)))],
        env=veritrail.environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    service = Service(port, child)
    try:
        for _ in range(300):
            if child.poll() is not None:
                raise AssertionError(child.communicate())
            try:
                service("GET", "/healthz")
                break
            except OSError:
                time.sleep(0.1)
        yield service
    finally:
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=30)
        assert b"Traceback" not in told, told.decode()


@pytest.fixture(scope="module")
def service(veritrail: Veritrail) -> Iterator[Service]:
    with serving(veritrail) as service:
        until_ready(service)
        yield service


def until_ready(service: Service) -> None:
    """Ask until the graph answers; until then it is told to be on its way."""
    for _ in range(100):
        answer = service("GET", "/readyz")
        if answer.status == 200:
            return
        assert (answer.status, answer.headers["retry-after"]) == (503, "5"), answer.body
        time.sleep(0.2)
    raise AssertionError(answer.body)


@pytest.mark.engine
def test_with_a_key_nothing_but_health_answers_without_it(veritrail: Veritrail) -> None:
    with serving(veritrail, VERITRAIL_API_KEY=KEY) as service:
        for given in ("", "Bearer", "Bearer wrong", f"Basic {KEY}", f"Bearer {KEY}x"):
            answer = service("GET", "/v1/queries", Authorization=given)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer"), given
        for path in ("/metrics", "/v1/nothing"):
            assert service("GET", path).status == 401, path
        for path in ("/nothing", "/"):  # pages lead to where a key is shown
            answer = service("GET", path)
            assert (answer.status, answer.headers["location"][:8]) == (303, "/sign-in"), path
        for path in ("/healthz", "/openapi.json", "/docs", "/docs/swagger-ui.css"):
            assert service("GET", path).status == 200, path
        assert service("GET", "/v1/queries", Authorization=f"Bearer {KEY}").status == 200


@pytest.mark.engine
def test_it_survives_the_end_of_its_engine(bare: Veritrail) -> None:
    with serving(bare) as service:
        until_ready(service)
        bare.kill_engine()
        until_ready(service)
        assert service("POST", "/v1/queries/claims", {"params": {"process_id": "x"}}).status == 404


@pytest.mark.parametrize(
    ("options", "settings", "words"),
    [
        (("--host", "0.0.0.0"), {}, "needs a key"),
        (("--host", "::"), {}, "needs a key"),
        (("--host", "example.org"), {}, "needs a key"),
        ((), {"VERITRAIL_API_KEY": "short"}, "at least 16"),
        ((), {"VERITRAIL_API_KEY": "schlüssel-der-lang-genug-ist"}, "ASCII"),
        ((), {"VERITRAIL_API_KEY": f"vt_abcdefgh_{'s' * 43}"}, "could not be revoked"),
        (("--host", "nobody.invalid"), {"VERITRAIL_API_KEY": KEY}, "no address of this machine"),
        ((), {"VERITRAIL_API_KEY_FILE": "/no/such/file"}, "cannot be read"),
    ],
)
def test_it_does_not_start_open_to_others(
    bare: Veritrail, options: tuple[str, ...], settings: dict[str, str], words: str
) -> None:
    # A child: the look-up of a host is refused within the process of the tests.
    serve = bare.child if "nobody.invalid" in options else bare
    assert words in serve("serve", *options, status=2, **settings).err


def test_a_port_in_use_is_told(bare: Veritrail) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "is it in use" in bare("serve", "--port", port, status=2).err


@pytest.mark.engine
def test_the_image_starts_and_is_healthy_with_the_environment_of_compose(
    bare: Veritrail, neo4j_server: Any
) -> None:
    """What the image runs, without an image: its command, its environment, its health check."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (start,) = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    (check,) = re.findall(r"^HEALTHCHECK .*CMD (\[.*\])$", text, re.MULTILINE)
    port = str(free_port())
    options = [port if one == "8000" else one for one in json.loads(start)[1:]]
    python, *rest = [one.replace(":8000", f":{port}") for one in json.loads(check)]
    assert python == "python"
    settings = {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USERNAME": neo4j_server.username,
        "NEO4J_PASSWORD": neo4j_server.password,
        "VERITRAIL_API_KEY": KEY,
    }
    script = str(Path(sys.executable).with_name("veritrail"))
    child = subprocess.Popen(
        [script, *json.loads(start)[:1], *options],
        env=bare.environment(settings),
        stderr=subprocess.PIPE,
    )
    try:
        service = Service(int(port), child)
        for _ in range(200):
            ended = subprocess.run([sys.executable, *rest], capture_output=True, check=False)
            if ended.returncode == 0:
                break
            time.sleep(0.1)
        assert ended.returncode == 0, ended.stderr.decode()
        assert service("GET", "/v1/queries", Authorization=f"Bearer {KEY}").status == 200
    finally:
        child.send_signal(signal.SIGTERM)  # as docker stop does
        child.communicate(timeout=30)
    ended = subprocess.run([sys.executable, *rest], capture_output=True, check=False)
    assert ended.returncode != 0, shlex.join(rest)
