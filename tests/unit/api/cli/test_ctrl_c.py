"""A second Ctrl-C leaves, whatever the command does at that moment."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

CHILD = """
import asyncio, os, signal, time
from veritrail_graph.api.cli import exits

async def work():
    await asyncio.sleep(0)
    exits.on_ctrl_c(asyncio.current_task().cancel)
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)

class Slow:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

try:
    exits.run(work(), as_json=False)
except exits.Exit as ended:
    print("ended", ended.status, flush=True)
exits.SAME_KEY_PRESS = 0.0
Slow()
print("went on", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_in_a_destructor_after_the_work_it_leaves_without_a_stack_trace() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (130, "ended 130\n")
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Left;")


EARLY = """
import asyncio, os, signal
from veritrail_graph.api.cli import exits

async def work():
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)

try:
    exits.run(work(), as_json=False)
except exits.Exit as ended:
    print("ended", ended.status, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_before_anything_is_finished_nothing_is_said_to_be_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "ended 130\n")
    assert done.stderr.splitlines() == [
        "Stopping. Press Ctrl-C again to leave now.",
        "Interrupted. No partial result is visible.",
    ]


BUSY = """
import asyncio, os, signal, time
from veritrail_graph.api.cli import exits

exits.SAME_KEY_PRESS = 0.0

async def work():
    for _ in range(3):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
    print("went on", flush=True)

exits.run(work(), as_json=False)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_while_something_keeps_the_event_loop_busy_it_leaves_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BUSY], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr


COMPUTING = """
import asyncio, os, signal, time
from veritrail_graph.api.cli import exits

exits.PATIENCE = 0.1

async def compute():
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        until = time.monotonic() + 50
        while time.monotonic() < until:
            pass
        print("went on", flush=True)
    finally:
        print("closed", flush=True)

async def work():
    async with asyncio.TaskGroup() as group:
        group.create_task(compute())
    print("went on", flush=True)

try:
    exits.run(work(), as_json=False)
except exits.Exit as ended:
    print("ended", ended.status, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_work_that_computes_without_a_pause_ends_soon_and_closes_what_it_has() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPUTING], capture_output=True, text=True, timeout=40, check=False
    )
    assert (done.returncode, done.stdout) == (0, "closed\nended 130\n")
    assert done.stderr.splitlines()[-1] == "Interrupted. No partial result is visible."


PRINTING = """
from veritrail_graph.api.cli import exits
from veritrail_graph.api.cli.terminal import print_json

async def work():
    print("chatter")
    print_json({"answer": 1})
    print("more")

exits.run(work(), as_json=True)
print_json({"after": 2})
"""


def test_what_a_library_prints_meanwhile_is_not_in_the_document() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINTING], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["{", '"answer":', "1", "}", "{", '"after":', "2", "}"]
    assert done.stderr.split() == ["chatter", "more"]
