"""How many of our own calls lie between the start of a program and a request to a model.

A call that runs in a task of its own is under the calls that made the task. Generated code
(comprehensions) is no call.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import httpx2
import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = tuple(
    f"{ROOT}/{folder}/"
    for package in ("", "veritrail_graph/")
    for folder in (f"{package}api", f"{package}verifier", f"{package}graph", f"{package}cypher")
)
_RUNS_A_STEP = ("events.py", "_run")  # of asyncio: under it lies the loop, not who made the task

Way = tuple[str, ...]
"""Names of calls, outermost first."""


class _Measuring(asyncio.DefaultEventLoopPolicy):
    """Loops whose tasks know the calls that made them."""

    def __init__(self) -> None:
        super().__init__()
        self.made_by: WeakKeyDictionary[Any, Way] = WeakKeyDictionary()

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        loop.set_task_factory(self._make)
        return loop

    def _make(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **options)
        self.made_by[task] = self.here(sys._getframe(1))
        return task

    def here(self, frame: FrameType | None) -> Way:
        """Our calls from the start of the program to this frame."""
        own: list[str] = []
        while frame is not None:
            code = frame.f_code
            if (Path(code.co_filename).name, code.co_name) == _RUNS_A_STEP:
                break
            is_ours = code.co_filename.startswith(OURS)
            if is_ours and not code.co_name.endswith(("comp>", "<genexpr>")):
                own.append(f"{Path(code.co_filename).stem}.{code.co_qualname}")
            frame = frame.f_back
        running = asyncio._get_running_loop()
        task = asyncio.current_task() if running is not None else None
        return (*(self.made_by[task] if task is not None else ()), *reversed(own))


@contextmanager
def ways_to_requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Way]]:
    """The calls on the way to every HTTP request that is made inside."""
    policy, ways = _Measuring(), list[Way]()
    before = asyncio.get_event_loop_policy()
    send = httpx2.AsyncClient.send

    async def noted(self: httpx2.AsyncClient, *arguments: Any, **options: Any) -> Any:
        ways.append(policy.here(sys._getframe(1)))
        return await send(self, *arguments, **options)

    monkeypatch.setattr(httpx2.AsyncClient, "send", noted)
    asyncio.set_event_loop_policy(policy)
    try:
        yield ways
    finally:
        asyncio.set_event_loop_policy(before)
