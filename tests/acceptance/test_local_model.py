"""A real, very small language model: real completions end in stored trails, whatever they say."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from acceptance.command import Veritrail, command, process_file
from fakes.waiting import until

from examples import local_model

SECONDS = 600
# With its sub-claims given: this model splits a claim in unexpected ways.
GIVEN = {
    "text": "The harbour opened in 1901 and has nine piers.",
    "sub_claims": ["The harbour opened in 1901.", "The harbour has nine piers."],
}
FREE = "The lighthouse was built in 1923."
IN_CI = bool(os.environ.get("CI"))

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """The address of the model; without it the tests are skipped, but in CI they fail."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(local_model.local_model())
        except local_model.Unavailable as missing:
            reason = f"no local model: {missing}"
            if IN_CI:
                pytest.fail(reason)
            pytest.skip(reason)
        yield address


@pytest.mark.parametrize(
    ("structured", "claims"),
    [("on", [GIVEN]), pytest.param("off", [GIVEN, FREE], marks=pytest.mark.soak)],
)
def test_real_answers_end_in_stored_trails(
    veritrail: Veritrail, base_url: str, tmp_path: Path, structured: str, claims: list[Any]
) -> None:
    """Free text of a model of this size is mostly malformed; with a schema it mostly is not."""
    process = f"tiny-{structured}"
    veritrail("ingest", process_file(tmp_path / f"{process}.json"))
    settings = {
        **local_model.SETTINGS,
        "OPENAI_BASE_URL": base_url,
        "VERITRAIL_STRUCTURED": structured,
        "VERITRAIL_ANSWER_RETRIES": "1",
        "VERITRAIL_MAX_OUTPUT_TOKENS": "120",
    }
    file = tmp_path / "claims.json"
    file.write_text(json.dumps(claims), encoding="utf-8")
    engine = ["--engine", "openai", "--model", local_model.MODEL]
    done = subprocess.run(
        command("verify", process, "--claims", str(file), *engine, "--json"),
        env=veritrail.environment(settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )
    told = done.stderr.decode()
    assert done.returncode in (0, 1), told
    assert "Traceback" not in told
    found = json.loads(done.stdout)["verifications"]
    assert len(found) == len(claims)
    statuses = {each["status"] for each in found}
    assert statuses <= {"succeeded", "failed"}
    assert done.returncode == int("failed" in statuses)
    for each in found:
        assert (each["verdict"] is None) == (each["status"] == "failed")
        assert bool(each["error"]) == (each["status"] == "failed")
        assert each["model"] == local_model.MODEL
        assert each["usage"]["calls"] > 0
        assert each["usage"]["input_tokens"] > 0
        number = each["verification_id"]
        stored = veritrail("show", number, "--json").json
        assert (stored["status"], stored["verdict"]) == (each["status"], each["verdict"])
        assert stored["iterations"] == each["iterations"]
        assert each["claim"] in veritrail("show", number).out


def test_the_server_ends_with_the_process_that_started_it(base_url: str) -> None:
    script = str(Path(local_model.__file__))
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        address = urlsplit(first.removeprefix("export OPENAI_BASE_URL=").strip())
        assert listens(address.port)
        child.send_signal(signal.SIGKILL)
        child.wait()
    until(lambda: not listens(address.port), 20)
    assert listens(urlsplit(base_url).port)


def listens(port: int | None) -> bool:
    assert port is not None
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
