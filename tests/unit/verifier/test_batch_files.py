"""Files of answers of a batch: read line by line, each line bounded while it grows."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
import tracemalloc
from collections.abc import AsyncIterator, Iterable
from types import SimpleNamespace

import pytest

from veritrail_graph.verifier.models.batch_courier import Batch, Courier
from veritrail_graph.verifier.models.batch_port import BatchRecord, BatchState
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


def test_blank_lines_are_passed_over_together() -> None:
    begun = time.monotonic()
    assert asyncio.run(read(*[b"\n" * 1_000_000] * 8, b"first\n", *[b" \n" * 65_536] * 8)) == [
        "first"
    ]
    assert time.monotonic() - begun < 3.0


class Files:
    """An endpoint that gives a file of answers."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.given = 0

    async def lines(self, file_id: str) -> AsyncIterator[str]:
        for line in self._lines:
            self.given += 1
            yield line


def taken(files: Files, order: tuple[str, ...] = ()) -> tuple[dict[str, str], list[str]]:
    warned: list[str] = []
    record = BatchRecord("b", "http://x", "m", 2, BatchState.COMPLETED, "2026-01-01T00:00:00Z")
    batch = Batch(record, SimpleNamespace(service=files, address="http://x"), {}, order=order)  # type: ignore[arg-type]
    courier = Courier(None, None, lambda: None, warned.append)  # type: ignore[arg-type]
    return asyncio.run(courier.read(batch, ["f"])), warned


def answer(line_id: str) -> str:
    return json.dumps({"custom_id": line_id, "response": {"body": "x" * 50}})


def test_a_file_of_answers_that_nobody_asked_for_is_not_held_and_not_read_to_its_end() -> None:
    files = Files(answer(f"made-up-{number}") for number in itertools.count())
    found, warned = taken(files, ("a", "b"))
    assert found == {}
    assert files.given < 10_000
    assert "more than" in warned[0]
    assert "not read" in warned[0]


def test_an_answer_nested_beyond_reading_counts_as_missing_and_the_next_is_read() -> None:
    found, warned = taken(Files(["[" * 100_000, answer("b"), answer("c")]), ("a", "b"))
    assert list(found) == ["b"]
    assert warned == []


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
