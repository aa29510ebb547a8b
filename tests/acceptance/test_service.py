"""The service as its users meet it: a server on loopback, spoken to over HTTP."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from acceptance.command import Veritrail
from fakes.ports import free_port
from fakes.service_process import serving
from fakes.waiting import until
from fastapi import FastAPI

from veritrail_graph.api.server.listening import Server, listen
from veritrail_graph.graph.errors import VeriTrailError

ROOT = Path(__file__).resolve().parents[2]
KEY = "a-key-that-is-long-enough"


@pytest.mark.engine
def test_with_a_key_nothing_but_health_answers_without_it(veritrail: Veritrail) -> None:
    env = {"VERITRAIL_API_KEY": KEY}
    with serving(veritrail, env=env, args=["--no-worker"]) as service:
        del service.client.headers["Authorization"]
        for given in ("", "Bearer", "Bearer wrong", f"Basic {KEY}", f"Bearer {KEY}x"):
            answer = service.get("/v1/queries", headers={"Authorization": given})
            found = (answer.status_code, answer.headers["www-authenticate"])
            assert found == (401, "Bearer"), given
        for path in ("/metrics", "/v1/nothing"):
            assert service.get(path).status_code == 401, path
        for path in ("/nothing", "/"):  # pages lead to where a key is shown
            answer = service.get(path)
            assert (answer.status_code, answer.headers["location"][:8]) == (303, "/sign-in"), path
        for path in ("/healthz", "/openapi.json", "/docs", "/docs/swagger-ui.css"):
            assert service.get(path).status_code == 200, path
        key = {"Authorization": f"Bearer {KEY}"}
        assert service.get("/v1/queries", headers=key).status_code == 200


@pytest.mark.soak
@pytest.mark.engine
def test_it_survives_the_end_of_its_engine(frail: Veritrail) -> None:
    with serving(frail, args=["--no-worker"]) as service:
        service.until_ready()
        frail.kill_engine()
        service.until_ready()
        asked = service.post("/v1/queries/claims", json={"params": {"process_id": "x"}})
        assert asked.status_code == 404


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
        ((), {"VERITRAIL_HOME": "/dev/null/home"}, "No file can be made in VERITRAIL_HOME"),
    ],
)
def test_it_does_not_start_open_to_others(
    bare: Veritrail, options: tuple[str, ...], settings: dict[str, str], words: str
) -> None:
    # A child: the look-up of a host is refused within the process of the tests.
    serve = bare.child if "nobody.invalid" in options else bare
    told = serve("serve", *options, status=2, **settings).err
    assert words in told
    assert "Traceback" not in told


@pytest.mark.parametrize("command", ["serve", "worker"])
@pytest.mark.parametrize(
    ("file", "advice"),
    [
        ("service.sqlite3", "put a copy from a backup there"),
        ("jobs.sqlite3", "what it holds is made anew"),
    ],
)
def test_it_does_not_wait_for_a_file_that_is_no_database(
    bare: Veritrail, command: str, file: str, advice: str
) -> None:
    home = bare.home
    home.mkdir(exist_ok=True)
    (home / file).write_bytes(b"not a database" * 1_000)
    port = ("--port", "0") if command == "serve" else ()
    words = bare(command, *port, status=2).err
    assert f"{home / file} is no database" in words
    assert advice in words
    assert "Traceback" not in words


def test_a_port_in_use_is_told(bare: Veritrail) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "already in use" in bare("serve", "--port", port, status=2).err


def test_a_service_that_cannot_start_says_so_and_does_not_end_as_if_nothing_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @asynccontextmanager
    async def failing(_: FastAPI) -> AsyncIterator[None]:
        if True:
            raise OSError("read-only")
        yield

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(VeriTrailError, match="could not start"):
        Server(FastAPI(lifespan=failing)).serve_on(listen("127.0.0.1", 0))


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
    script = str(Path(sys.executable).with_name("veritrail"))
    child = subprocess.Popen(
        [script, *json.loads(start)[:1], *options],
        env=bare.on(neo4j_server).environment({"VERITRAIL_API_KEY": KEY}),
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: listens(int(port)))
        for _ in range(40):
            ended = subprocess.run([sys.executable, *rest], capture_output=True, check=False)
            if ended.returncode == 0:
                break
            time.sleep(0.5)
        assert ended.returncode == 0, ended.stderr.decode()
        answer = httpx2.get(
            f"http://127.0.0.1:{port}/v1/queries",
            headers={"Authorization": f"Bearer {KEY}"},
            trust_env=False,
        )
        assert answer.status_code == 200
    finally:
        child.send_signal(signal.SIGTERM)  # as docker stop does
        child.communicate(timeout=30)
    ended = subprocess.run([sys.executable, *rest], capture_output=True, check=False)
    assert ended.returncode != 0, shlex.join(rest)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
