"""A loop ends although a thread of it hangs."""

from __future__ import annotations

import asyncio
import threading

from veritrail_graph.api.threads import wait_for_no_threads


def test_a_loop_ends_while_a_thread_of_it_still_works() -> None:
    released = threading.Event()
    started, finished = threading.Event(), threading.Event()

    def hang() -> None:
        started.set()
        released.wait(30)
        finished.set()

    async def work() -> None:
        wait_for_no_threads()
        task = asyncio.create_task(asyncio.to_thread(hang))
        while not started.is_set():  # noqa: ASYNC110  # once
            await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(work())
    assert not finished.is_set()
    released.set()
