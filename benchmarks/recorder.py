"""The recorder: what recording adds to a call of 10 ms, held against the same call without it.

Both are called in turn in one process, and who goes first changes from round to round. What is
counted is processor time, which a busy machine stretches less; writing waits for no disk.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import veritrail_record as vr
from benchmarks.children import run_child
from benchmarks.report import Line, Report, middle

CALL_SECONDS = 0.010
ROUNDS = 200
MOST_RATIO = 1.02
PIECES = 10
MANY = 50

SHAPES = {
    "few": "a text of 1,000 characters from 3 inputs",
    "many": f"a text of 10,000 characters from {MANY} inputs of 2,000",
    "streamed": f"{PIECES} pieces of a text",
    "awaited": "a coroutine",
}


def measure(report: Report, folder: Path) -> None:
    """A call of every shape, recorded and not."""
    for shape, words in SHAPES.items():
        path = str(folder / f"recorded-{shape}.jsonl")
        found = run_child("benchmarks.recorder:calls", shape=shape, path=path)
        own = found["recorded"] - found["plain"]
        report.add(
            Line(
                f"recorder: 10 ms, {words}",
                found["recorded"],
                reference=found["plain"],
                target=None if shape == "many" else MOST_RATIO,
                note=f"{own * 1e6:+.0f} µs a call; fastest {found['fastest'] * 1e6:+.0f} µs",
            )
        )


async def calls(shape: str, path: str) -> dict[str, float]:
    """Median seconds of a call without and with recording, in turn."""
    spent: dict[str, list[float]] = {"plain": [], "recorded": []}
    plain = _FUNCTIONS[shape]
    ways = {"plain": plain, "recorded": vr.recorded_step(step=shape)(plain)}
    count, size = (MANY, 2_000) if shape == "many" else (3, 500)
    with vr.record("bench", path=path, quiet=True) as run:
        for number in range(ROUNDS):
            pages = [run.source(_text(f"{number}.{place}", size)).text for place in range(count)]
            for name in sorted(ways, reverse=bool(number % 2)):
                text = _text(f"{name} {number}", 10_000 if shape == "many" else 1_000)
                start = time.thread_time()
                await _consumed(ways[name](text, pages))
                spent[name].append(time.thread_time() - start)
    fastest = min(spent["recorded"]) - min(spent["plain"])
    return {"fastest": fastest} | {name: middle(values) for name, values in spent.items()}


async def _consumed(result: Any) -> None:
    if isinstance(result, Iterator):
        for _ in result:
            pass
    elif isinstance(result, Awaitable):
        await result


def _text(name: str, characters: int) -> str:
    return f"{name}: ".ljust(characters, "x")


def _work(seconds: float) -> None:
    """Be busy: a sleep takes longer than it should, and by how much changes."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def _call(text: str, pages: list[str]) -> str:
    del pages
    _work(CALL_SECONDS)
    return text


def _streamed(text: str, pages: list[str]) -> Iterator[str]:
    del pages
    size = len(text) // PIECES
    for number in range(PIECES):
        _work(CALL_SECONDS / PIECES)
        yield text[number * size : (number + 1) * size]


async def _awaited(text: str, pages: list[str]) -> str:
    del pages
    _work(CALL_SECONDS)
    return text


_FUNCTIONS: dict[str, Callable[[str, list[str]], Any]] = {
    "few": _call,
    "many": _call,
    "streamed": _streamed,
    "awaited": _awaited,
}
