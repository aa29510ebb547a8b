"""Threads beside event loops: the end of a loop waits for none of them, and they let it run."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor


class UnawaitedThreads(ThreadPoolExecutor):
    """Threads that an event loop does not wait for when it ends.

    What was begun is handed back before, in the time that it may take. A file that is still being
    read, or a database that hangs, must not keep the program from ending.
    """

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; what runs is left to itself."""
        del wait, cancel_futures
        super().shutdown(wait=False, cancel_futures=True)


def wait_for_no_threads() -> None:
    """Let the running loop end without its threads."""
    asyncio.get_running_loop().set_default_executor(UnawaitedThreads())


SWITCH_SECONDS = 0.0005
"""How long a thread that computes keeps others from running; Python's own value is 0.005."""


def let_loops_run_soon() -> None:
    """Let threads that compute give way to event loops of this process sooner.

    A loop waits so long for each of them whenever it has waited for anything else, which it does
    several times for one answer: two threads and 5 ms made 50 ms of an answer of 3.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
