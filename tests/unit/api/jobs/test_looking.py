"""Looking after jobs: one that cannot be looked after keeps no other from being stopped."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from veritrail_graph.api.jobs import looking


class _Busy:
    """A database of jobs that fails at first, and then says that a job was cancelled."""

    def __init__(self) -> None:
        self.readings = 0

    async def read(self, _reading: Any) -> list[tuple[str, str | None, None]]:
        self.readings += 1
        if self.readings == 1:
            raise RuntimeError("a fault that nobody thought of")
        return [("j-1", "enough", None)]


def test_a_fault_of_any_kind_does_not_end_the_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "TELL_SECONDS", 0.0)

    async def stopped() -> str:
        why: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def stop(reason: str) -> None:
            if not why.done():
                why.set_result(reason)

        async def tell() -> None:
            pass

        async with looking.Looking(_Busy()).after("j-1", tell, stop):  # type: ignore[arg-type]
            return await asyncio.wait_for(why, 10)

    assert asyncio.run(stopped()) == "enough"
