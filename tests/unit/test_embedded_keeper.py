"""The keeper: takes a process down at the end of its input, unless it was dismissed."""

import subprocess
import sys

import pytest

from veritrail_graph.graph.embedded import keeper

STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True)"


@pytest.fixture
def victim():
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def guard(pid):
    return subprocess.Popen(
        [sys.executable, "-I", "-S", keeper.__file__, str(pid), "0.5"], stdin=-1
    )


def test_the_end_of_its_input_ends_the_process(victim):
    guard(victim.pid).communicate(b"", timeout=10)
    assert victim.wait(5) == -15


def test_a_farewell_leaves_the_process_alone(victim):
    guard(victim.pid).communicate(keeper.FAREWELL, timeout=10)
    assert victim.poll() is None


def test_a_process_that_ignores_the_request_is_killed():
    stubborn = subprocess.Popen(
        [sys.executable, "-c", STUBBORN + "; time.sleep(60)"], stdout=subprocess.PIPE
    )
    with stubborn:
        stubborn.stdout.readline()  # it ignores SIGTERM from here on
        guard(stubborn.pid).communicate(b"", timeout=20)
        assert stubborn.wait(5) == -9
