"""Answers on disk: what is found again, and that nothing about the file ends a run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from veritrail_graph.verifier.models.cache import AnswerCache, CacheStats, Cleared, answer_key
from veritrail_graph.verifier.models.port import Request, StepCall

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]
ASKED = StepCall("verdict", "verdict.v1", "00" * 32, "some-model", 0.0)
REQUEST = Request(ASKED, "A system prompt.", "A private sentence.")
ADDRESS = "http://127.0.0.1:8080/v1"
KEY = answer_key(ADDRESS, REQUEST, 100)

WRITER = """
import asyncio, sys
from pathlib import Path
from veritrail_graph.verifier.models.port import StepCall
from veritrail_graph.verifier.models.cache import AnswerCache
from veritrail_graph.verifier.models.port import Request

async def main():
    cache = AnswerCache(Path(sys.argv[1]), lambda message: sys.exit(message))
    request = Request(StepCall("verdict", "verdict.v1", "00", sys.argv[2], 0.0), "s", "u")
    for number in range(int(sys.argv[3])):
        await cache.put(f"{sys.argv[2]} {number}".encode(), request, "text " * 50, (1, 2))
        print(number, flush=True)
    await cache.close()

asyncio.run(main())
"""


def use(path: Path, work: Callable[[AnswerCache], Awaitable[T]]) -> tuple[T, list[str]]:
    """Do something with a cache, and what it warned of."""
    warnings: list[str] = []

    async def whole() -> T:
        cache = AnswerCache(path, warnings.append)
        try:
            return await work(cache)
        finally:
            await cache.close()
            await cache.close()

    return asyncio.run(whole()), warnings


async def put_and_get(cache: AnswerCache) -> str | None:
    await cache.put(KEY, REQUEST, "An answer.", (10, 5))
    return await get(cache)


async def get(cache: AnswerCache) -> str | None:
    found = await cache.get(KEY)
    if found is not None and found.text == "An answer.":
        assert (found.input_tokens, found.output_tokens) == (10, 5)
    return None if found is None else found.text


async def stats(cache: AnswerCache) -> CacheStats | None:
    return await cache.stats()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "cache" / "answers.sqlite"


def test_an_answer_is_found_again_by_a_later_run(path: Path) -> None:
    assert use(path, get) == (None, [])
    assert use(path, put_and_get) == ("An answer.", [])
    assert use(path, get) == ("An answer.", [])


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, system="Another."),
        replace(REQUEST, user="Another."),
        replace(REQUEST, sample=1),
        replace(REQUEST, schema={"type": "object"}),
        replace(REQUEST, call=ASKED._replace(model="another")),
        replace(REQUEST, call=ASKED._replace(temperature=0.2)),
        replace(REQUEST, call=ASKED._replace(temperature=None)),
        replace(REQUEST, system="A system prompt.A private", user=" sentence."),
    ],
)
def test_whatever_changes_an_answer_changes_its_key(other: Request) -> None:
    assert answer_key(ADDRESS, other, 100) != KEY


def test_address_and_limit_are_part_of_the_key_and_the_step_is_not() -> None:
    assert answer_key("http://another/v1", REQUEST, 100) != KEY
    assert answer_key(ADDRESS, REQUEST, 200) != KEY
    same = replace(REQUEST, shared=3, call=ASKED._replace(step="other", prompt="p"))
    assert answer_key(ADDRESS, same, 100) == KEY


def test_the_file_holds_no_prompt_and_is_for_its_owner_alone(path: Path) -> None:
    use(path, put_and_get)
    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"An answer." in content
    assert b"private" not in content
    assert b"system prompt" not in content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_kept_can_be_counted_and_cleared(path: Path) -> None:
    async def work(cache: AnswerCache) -> None:
        for number in range(3):
            await cache.put(bytes([number]), REQUEST, "Text.", (1, 2))
        other = replace(REQUEST, call=ASKED._replace(step="evidence_selection"))
        await cache.put(b"other", other, "Text.", (1, 2))
        found = await cache.stats()
        assert found is not None
        assert found.answers == 4
        assert found.bytes > 4096
        assert found.by_step == {
            ("evidence_selection", "some-model"): 1,
            ("verdict", "some-model"): 3,
        }
        assert found.oldest is not None
        assert found.newest is not None
        assert time.time() - 60 < found.oldest <= found.newest <= time.time()
        assert await cache.clear() == Cleared(4)
        assert await cache.clear() == Cleared(0)
        found = await cache.stats()
        assert found is not None
        assert (found.answers, found.oldest) == (0, None)

    assert use(path, work)[1] == []


def test_text_that_is_no_text_is_not_kept(path: Path) -> None:
    async def work(cache: AnswerCache) -> str | None:
        await cache.put(KEY, REQUEST, "half \ud800", (1, 2))
        return await get(cache)

    assert use(path, work) == (None, [])


def damaged(path: Path) -> None:
    path.write_bytes(b"This is no database. " * 500)


def newer(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


def a_folder(path: Path) -> None:
    path.mkdir()


def another_table(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE answers (something TEXT)")
    db.close()


@pytest.mark.parametrize("make", [damaged, newer, a_folder, another_table])
def test_a_file_that_cannot_be_used_is_told_once_and_left_alone(
    path: Path, make: Callable[[Path], None]
) -> None:
    path.parent.mkdir(parents=True)
    make(path)
    before = path.read_bytes() if path.is_file() else b""

    async def work(cache: AnswerCache) -> list[object]:
        return [await put_and_get(cache), await put_and_get(cache), await cache.stats()]

    found, warnings = use(path, work)
    assert found == [None, None, None]
    assert len(warnings) == 1
    assert str(path) in warnings[0]
    if make in (damaged, newer):
        assert path.read_bytes() == before


def half(path: Path) -> None:
    """A cache whose later pages are rubbish: it opens, and reading it fails."""
    use(path, put_and_get)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


@pytest.mark.parametrize(
    ("make", "why"),
    [(damaged, "not a database"), (another_table, "another shape"), (half, "malformed")],
)
def test_a_file_that_is_no_cache_can_be_cleared_and_is_made_anew(
    path: Path, make: Callable[[Path], None], why: str
) -> None:
    path.parent.mkdir(parents=True)
    make(path)
    _, (warning,) = use(path, stats)
    assert why in warning
    assert "once the cache is cleared" in warning
    cleared, warnings = use(path, lambda cache: cache.clear())
    assert cleared.answers == 0
    assert why in str(cleared.malformed)
    assert warnings == []
    assert not list(path.parent.iterdir())
    assert use(path, put_and_get) == ("An answer.", [])


@pytest.mark.parametrize("make", [newer, a_folder])
def test_a_file_that_may_be_somebody_elses_is_not_cleared(
    path: Path, make: Callable[[Path], None]
) -> None:
    path.parent.mkdir(parents=True)
    make(path)
    cleared, warnings = use(path, lambda cache: cache.clear())
    assert cleared == Cleared()
    assert len(warnings) == 1
    assert "cache clear" not in warnings[0]
    assert path.exists()


def test_a_file_that_is_locked_is_not_cleared(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veritrail_graph.verifier.models.cache.BUSY", 0.1)
    use(path, put_and_get)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        cleared, warnings = use(path, lambda cache: cache.clear())
    finally:
        other.close()
    assert cleared == Cleared()
    assert "locked" in warnings[0]
    assert use(path, get) == ("An answer.", [])


def test_a_file_that_stays_locked_ends_no_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veritrail_graph.verifier.models.cache.BUSY", 0.1)
    use(path, put_and_get)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        _, warnings = use(path, put_and_get)
    finally:
        other.close()
    assert len(warnings) == 1
    assert use(path, get) == ("An answer.", [])


@pytest.mark.slow
def test_several_processes_write_at_once(path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"model-{number}", "100"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        for number in range(2)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 2
    found, warnings = use(path, stats)
    assert found is not None
    assert found.by_step == {("verdict", f"model-{number}"): 100 for number in range(2)}
    assert warnings == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_process_loses_no_answer_that_was_kept(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "model", "100000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        for _ in range(50):
            kept = int(writer.stdout.readline()) + 1
        writer.send_signal(signal.SIGKILL)
    found, warnings = use(path, stats)
    assert found is not None
    assert found.answers >= kept == 50
    assert warnings == []


def test_answers_of_a_file_of_the_first_version_are_found(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TABLE answers (key BLOB PRIMARY KEY, step TEXT NOT NULL, model TEXT NOT NULL,"
            " text TEXT NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,"
            " created_at REAL NOT NULL)"
        )
        db.execute("INSERT INTO answers VALUES (?, 's', 'm', 'Kept.', 1, 2, 0.0)", (KEY,))
        db.execute("PRAGMA user_version = 1")
        db.commit()
    sent = ASKED._replace(temperature=None, effort="low")

    async def work(cache: AnswerCache) -> list[object]:
        kept = await cache.get(KEY)
        await cache.put(b"new", REQUEST, "New.", (1, 2), sent)
        new = await cache.get(b"new")
        assert kept is not None
        assert new is not None
        return [kept.text, kept.call(ASKED), new.call(ASKED)]

    found, warnings = use(path, work)
    assert found == ["Kept.", ASKED, sent]
    assert warnings == []
