"""Threads of event loops whose end waits for none of them."""

from __future__ import annotations

import asyncio
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
