"""The stand-in for a new process of the command does what the script does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from acceptance.command import command
from fakes import warm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the script is called there"),
]
PIPES = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest", "nothing-here.json", "--json"],
        pytest.param(["--version"], marks=pytest.mark.soak),
        pytest.param(["no-such"], marks=pytest.mark.soak),
    ],
    ids=lambda given: given[0],
)
def test_a_fork_says_and_ends_as_the_script_does(arguments: list[str]) -> None:
    with subprocess.Popen(command(*arguments), env=os.environ, **PIPES) as script:
        wanted = script.communicate(timeout=60)
    fork = warm.Warm(arguments, env=os.environ, **PIPES)
    assert fork.communicate(timeout=60) == wanted
    assert fork.returncode == script.returncode


def test_a_shell_finds_it_and_gets_its_status() -> None:
    path = f"{warm.on_the_path()}{os.pathsep}{os.environ['PATH']}"
    text = 'veritrail --version && veritrail no-such 2>/dev/null; echo "$?"'
    told = subprocess.run(
        ["sh", "-c", text], env={**os.environ, "PATH": path}, capture_output=True, check=True
    )
    first, status = told.stdout.split(b"\n")[:2]
    assert first.startswith(b"veritrail")
    assert status == b"2"


def test_a_fork_is_killed_as_any_child_is() -> None:
    waiting = {**PIPES, "stdin": subprocess.PIPE}  # for a text that nobody sends
    fork = warm.Warm(["check", "-"], env=os.environ, **waiting)
    with pytest.raises(subprocess.TimeoutExpired):
        fork.wait(0.3)
    fork.kill()
    assert fork.wait(30) == -signal.SIGKILL
    fork.communicate()
    with pytest.raises(ProcessLookupError):
        os.kill(fork.pid, 0)
