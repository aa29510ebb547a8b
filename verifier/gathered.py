"""Works side by side, all of which end before the fault of one is raised."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gathered(works: Iterable[Awaitable[T]]) -> list[T]:
    """The results of works, in their order; the first fault in this order is raised.

    All end before it is raised: a pending call is paid for, and its answer is kept for the next
    attempt.
    """
    done: list[T] = []
    for result in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done
