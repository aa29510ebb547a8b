"""Answers that were paid for once, kept on disk for later runs.

A file of SQLite that two processes may use at once and that survives a kill. It holds answers
and what they cost in tokens: no prompts, no keys, no headers. Whatever is wrong with the file, a
run goes on without it.

Source: ADR 0010.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from veritrail_graph.graph.private import PRIVATE_FILE, make_private_folders
from veritrail_graph.verifier.models.port import Request, StepCall

VERSION = 2
BUSY = 5.0  # seconds to wait for another process
T = TypeVar("T")

_FIRST_COLUMNS = ("key", "step", "model", "text", "input_tokens", "output_tokens", "created_at")
_COLUMNS = (*_FIRST_COLUMNS, "sent")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)

_FIRST_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY,
    step TEXT NOT NULL,
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    created_at REAL NOT NULL
)
"""
_SENT = "ALTER TABLE answers ADD COLUMN sent TEXT"
"""Since version 2: temperature and effort as JSON, where they were not sent as they were asked."""


class _Malformed(sqlite3.DatabaseError):
    """The file is no cache of answers."""


class CachedAnswer(NamedTuple):
    """An answer of an earlier call.

    Attributes:
        text: The answer.
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of the answer.
        sent: The temperature and the effort that were sent; None: as they were asked.
        version: What the model calls itself; None: as it was asked for.
    """

    text: str
    input_tokens: int
    output_tokens: int
    sent: tuple[float | None, str | None] | None = None
    version: str | None = None

    def call(self, asked: StepCall) -> StepCall:
        """Return the call as it was sent."""
        if self.sent is None:
            return asked
        temperature, effort = self.sent
        return asked._replace(
            model=self.version or asked.model, temperature=temperature, effort=effort
        )


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The contents of the cache, in numbers.

    Attributes:
        answers: How many answers.
        bytes: Their size on disk.
        by_step: Answers by step and model.
        oldest: When the oldest was stored, in seconds of the Unix clock; None: there is none.
        newest: When the newest was.
    """

    answers: int
    bytes: int
    by_step: Mapping[tuple[str, str], int]
    oldest: float | None
    newest: float | None


@dataclass(frozen=True, slots=True)
class Cleared:
    """The number of answers removed from the cache.

    Attributes:
        answers: How many answers.
        malformed: What was wrong with the file, where it had to be removed as a whole.
    """

    answers: int = 0
    malformed: str | None = None


def answer_key(address: str, request: Request, max_output: int | None, **others: Any) -> bytes:
    """The key of an answer: a hash of everything that it depends on."""
    call = request.call
    parts = {
        "address": address,
        "model": call.model,
        "system": request.system,
        "user": request.user,
        "temperature": call.temperature,
        "schema": request.schema,
        "max_output": max_output,
        "sample": request.sample,
        **others,
    }
    if call.effort is not None:
        parts["effort"] = call.effort
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class AnswerCache:
    """The answers of earlier calls; off the event loop, on one thread of its own."""

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda _message: None) -> None:
        """Nothing is opened before the first use.

        Args:
            path: The file; it and its folder are made, for their owner alone.
            warn: Called once, with the reason, when the file cannot be used.
        """
        self._path = path
        self._warn = warn
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers")
        self._connection: sqlite3.Connection | None = None
        self._broken = False
        self._closed = False

    async def get(self, key: bytes) -> CachedAnswer | None:
        """The answer under a key, if there is one."""
        return await self._run(lambda db: self._get(db, key))

    async def put(
        self,
        key: bytes,
        request: Request,
        text: str,
        tokens: tuple[int, int],
        sent: StepCall | None = None,
    ) -> None:
        """Keep a valid answer.

        Args:
            key: Its key.
            request: What was asked; its step and model are kept, nothing else of it.
            text: The answer.
            tokens: Tokens of the prompt and of the answer.
            sent: The call as it was sent; None: as it was asked.
        """
        call = request.call
        other = None if sent in (None, call) else _as_sent(call, sent)
        row = (key, call.step, call.model, text, *tokens, time.time(), other)

        def put(db: sqlite3.Connection) -> None:
            with contextlib.suppress(UnicodeEncodeError):  # a lone surrogate is no text
                db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

        await self._run(put)

    async def stats(self) -> CacheStats | None:
        """Return what it holds; None where it cannot be read."""
        return await self._run(self._stats)

    async def clear(self) -> Cleared:
        """Remove all answers; a file that is no cache of answers is removed as a whole."""
        if self._broken or self._closed:
            return Cleared()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._clear_file)

    async def close(self) -> None:
        """Close the file; it may be called more than once."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
            self._thread.shutdown(wait=False)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        if self._broken or self._closed:
            return None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._safely, work)

    def _safely(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run on the thread; the first failure is reported, and the run goes on without a cache."""
        if self._broken:  # since this was asked for
            return None
        try:
            if self._connection is None:
                self._connection = self._open()
            return work(self._connection)
        except (sqlite3.Error, OSError) as error:
            self._broken = True
            message = f"answers are not kept in {self._path}: {error}"
            if _is_malformed(error):
                message += "; once the cache is cleared, answers are kept again"
            self._warn(message)
            return None

    def _clear_file(self) -> Cleared:
        try:
            if self._connection is None:
                self._connection = self._open()
            return Cleared(self._clear(self._connection))
        except (sqlite3.Error, OSError) as error:
            if not _is_malformed(error):
                self._broken = True
                self._warn(f"the answers in {self._path} cannot be removed: {error}")
                return Cleared()
            self._close()
            for file in self._files():
                file.unlink(missing_ok=True)
            return Cleared(malformed=str(error))

    def _files(self) -> list[Path]:
        return [self._path.with_name(self._path.name + end) for end in ("", "-wal", "-shm")]

    def _open(self) -> sqlite3.Connection:
        """Open the file, made by whichever process comes first.

        Where several make it at once, SQLite is busy for some of them at once,
        whatever the time-out.
        """
        patience = time.monotonic() + BUSY
        while True:
            try:
                return self._connect()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > patience:
                    raise
            time.sleep(0.02)

    def _connect(self) -> sqlite3.Connection:
        make_private_folders(self._path.parent)
        # Made here, so that no moment passes in which others may read it.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
        db = sqlite3.connect(
            self._path, timeout=BUSY, isolation_level=None, check_same_thread=False
        )
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise sqlite3.DatabaseError("it was written by a newer version of VeriTrail Graph")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            if version < VERSION:
                _change(db)
            found = tuple(row[1] for row in db.execute("PRAGMA table_info(answers)"))
            if found != _COLUMNS:
                raise _Malformed("its table has another shape")
        except BaseException:
            db.close()
            raise
        return db

    @staticmethod
    def _get(db: sqlite3.Connection, key: bytes) -> CachedAnswer | None:
        columns = "text, input_tokens, output_tokens, sent"
        row = db.execute(f"SELECT {columns} FROM answers WHERE key = ?", (key,)).fetchone()  # noqa: S608 - fixed names
        if row is None or not isinstance(row[0], str):
            return None
        given, written = (one if isinstance(one, int) and one >= 0 else 0 for one in row[1:3])
        return CachedAnswer(row[0], given, written, *_sent(row[3]))

    def _stats(self, db: sqlite3.Connection) -> CacheStats:
        rows = db.execute("SELECT step, model, count(*) FROM answers GROUP BY step, model")
        by_step = {(step, model): count for step, model, count in rows}
        oldest, newest = db.execute(
            "SELECT min(created_at), max(created_at) FROM answers"
        ).fetchone()
        size = sum(file.stat().st_size for file in self._files() if file.exists())
        return CacheStats(sum(by_step.values()), size, by_step, oldest, newest)

    @staticmethod
    def _clear(db: sqlite3.Connection) -> int:
        count = db.execute("DELETE FROM answers").rowcount
        with contextlib.suppress(sqlite3.OperationalError):  # another process reads: later
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count


def _change(db: sqlite3.Connection) -> None:
    """Make the table, or give one of an earlier version what is new; another process may, too."""
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute(_FIRST_SCHEMA)
        found = tuple(row[1] for row in db.execute("PRAGMA table_info(answers)"))
        if found == _FIRST_COLUMNS:
            db.execute(_SENT)
            found = _COLUMNS
        if found == _COLUMNS:
            db.execute(f"PRAGMA user_version = {VERSION}")
    finally:
        db.execute("COMMIT")


def _as_sent(asked: StepCall, sent: StepCall) -> str:
    """Write down what was sent of temperature and effort, and what the model calls itself."""
    version = [sent.model] if sent.model != asked.model else []
    return json.dumps([sent.temperature, sent.effort, *version])


def _sent(stored: object) -> tuple[tuple[float | None, str | None] | None, str | None]:
    """Read what was sent of temperature and effort, and what the model calls itself."""
    if not isinstance(stored, str):
        return None, None
    try:
        temperature, effort, *version = json.loads(stored)
    except (ValueError, TypeError):
        return None, None
    return (temperature, effort), version[0] if version else None


def _is_malformed(error: Exception) -> bool:
    """Return whether the file is no cache of answers, and will never be one."""
    if isinstance(error, _Malformed):
        return True
    code = getattr(error, "sqlite_errorcode", None)  # the lowest byte is the kind of the error
    return isinstance(code, int) and code & 0xFF in _DAMAGED
