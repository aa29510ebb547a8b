"""A loop ends although a thread of it hangs, and runs although others compute."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest
from fastapi import FastAPI

from veritrail_graph.api.server.listening import Server, listen
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


def test_threads_that_compute_give_way_to_the_loop_of_the_service_within_a_millisecond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[float] = []
    monkeypatch.setattr(sys, "setswitchinterval", taken.append)

    async def start() -> None:
        server = Server(FastAPI())
        server.config.load()
        server.lifespan = server.config.lifespan_class(server.config)
        with listen("127.0.0.1", 0) as listening:
            await server.startup([listening])
            await server.shutdown([listening])

    asyncio.run(start())
    assert taken
    assert max(taken) <= 0.001
