"""Files of answers of a batch: read line by line, each line bounded while it grows."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from veritrail_graph.verifier.models.openai_batches import MAX_LINE, in_time, short_lines


async def read(*blocks: bytes) -> list[str]:
    async def sent() -> AsyncIterator[bytes]:
        for block in blocks:
            yield block

    return [line async for line in short_lines(sent())]


def test_lines_are_whole_wherever_the_file_is_cut() -> None:
    text = '{"a": "é\u2028"}\r\n\n  \n{"b": 1}\n{"c": 2}'.encode()
    expected = ['{"a": "é\u2028"}\r', '{"b": 1}', '{"c": 2}']
    assert asyncio.run(read(text)) == expected
    assert asyncio.run(read(*(text[at : at + 1] for at in range(len(text))))) == expected
    assert asyncio.run(read()) == []


def test_a_line_without_end_is_not_held_and_those_around_it_are_read() -> None:
    long = [b"a" * 1_000_000] * (4 * MAX_LINE // 1_000_000)
    tracemalloc.start()
    found = asyncio.run(read(b"first\n", *long, b"\nsecond\n", *long))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["first", "second"]
    assert most < 2 * MAX_LINE


def test_a_file_that_trickles_in_is_given_up() -> None:
    async def trickling() -> AsyncIterator[bytes]:
        while True:
            yield b"{"
            await asyncio.sleep(0.01)

    async def whole() -> None:
        async with asyncio.timeout(20):
            async for _ in in_time(trickling(), 0.1):
                pass

    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(whole())
    assert time.monotonic() - begun < 20
