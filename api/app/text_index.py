"""The index of texts: a SQLite file in the home folder, made of the graph and never the truth.

It holds the words of nodes and claims and no text: what is found is read from the graph. So a file
that is lost, or is behind, costs time and nothing else. Several programs of one machine may share
it; one of them at a time adds to it.

Source: ours (docs/adr/0043-search.md).
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from filelock import FileLock, Timeout

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.private import PRIVATE_FILE, make_private_folders

FILE = "search.sqlite3"
VERSION = 2
"""Of the tables; a file of another version is made anew."""
LOCK = "search.lock"
"""A file that is locked by who adds: the system takes the lock from a program that is killed."""
WORDS = 16
"""Words of a query that are looked for."""
SPARE = 200_000
"""Rows of removed texts beyond which, and beyond half of all, the file is made anew."""

ANEW = 20_000
"""Texts up to which the index begins anew when a process is removed: no word of it stays."""

_WORD = re.compile(r'"([^"]*)"|(\S+)')
_LETTERS = re.compile(r"\w")


def _tables() -> list[str]:
    """The statements that make the tables."""
    text = resources.files(__package__ or "").joinpath("text_index.sql").read_text(encoding="utf-8")
    return text.strip().split(";\n")


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that holds the words.

    Attributes:
        process_id: Its process.
        kind: `node` or `claim`.
        name: Its node_id or claim_id.
        score: How well it fits; lower is better.
    """

    process_id: str
    kind: str
    name: str
    score: float


def match_of(query: str) -> str | None:
    """A query as the index understands it: every word is needed, the last one may go on.

    Words in quotation marks are next to one another. None: it holds no word.
    """
    parts = []
    for quoted, word in _WORD.findall(query.replace("\0", " ")):  # SQLite ends a text there
        text = quoted or word
        if _LETTERS.search(text):
            parts.append((text.replace('"', " "), bool(quoted)))
    if not parts:
        return None
    terms = [f'"{text}"' for text, _ in parts[:WORDS]]
    is_open = not parts[:WORDS][-1][1] and not query.endswith(" ")
    return " ".join(terms) + ("*" if is_open else "")


LEAST_ROOM = 100_000
"""Bytes; with less on its disk SQLite cannot make the files beside a database."""


class IndexUnusable(EngineError):
    """The index of texts cannot be read or written; the graph is not asked."""

    code = "index_unusable"


class IndexFull(IndexUnusable):
    """There is no room left for the index of texts."""

    code = "index_full"


def _is_full(error: sqlite3.Error | OSError, path: Path) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_IOERR:  # of a file beside it, for which there is no room either
        return shutil.disk_usage(path.resolve().parent).free < LEAST_ROOM
    return code == sqlite3.SQLITE_FULL


class TextIndex:
    """The index in a file.

    Args:
        home: The home folder.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        # It is taken in one thread and released in another.
        self._lock = FileLock(home / LOCK, mode=PRIVATE_FILE, thread_local=False)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction of its own.

        Raises:
            IndexUnusable: The file cannot be made or written.
        """
        try:
            self._make()
            with closing(sqlite3.connect(self._path, timeout=10)) as connection, connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None

    def _unusable(self, error: sqlite3.Error | OSError) -> EngineError:
        kind = IndexFull if _is_full(error, self._path) else IndexUnusable
        return kind(f"The index of texts cannot be used: {error}. It may be deleted: {self._path}")

    def _make(self) -> None:
        if not self._path.exists():
            make_private_folders(self._path.parent)
            os.close(os.open(self._path, os.O_CREAT, PRIVATE_FILE))
        with closing(sqlite3.connect(self._path, timeout=10)) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return
            connection.execute("PRAGMA journal_mode = WAL")
            connection.isolation_level = None
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                self._drop(connection)
                for statement in _tables():
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")

    @staticmethod
    def _drop(connection: sqlite3.Connection) -> None:
        for name in ("processes", "items", "words", "adding"):
            connection.execute(f"DROP TABLE IF EXISTS {name}")

    def stamps(self) -> dict[str, str]:
        """Return what is known of each process that is in the index."""
        with self._open() as connection:
            return dict(connection.execute("SELECT process_id, stamp FROM processes"))

    def take(self) -> bool:
        """Become the one that adds, or go on being it; False: another program is.

        Raises:
            EngineError: The lock's file cannot be made.
        """
        try:
            if not self._lock.is_locked:
                make_private_folders(self._path.parent)
                self._lock.acquire(blocking=False)
        except Timeout:
            return False
        except OSError as error:
            raise self._unusable(error) from None
        return True

    def release(self) -> None:
        """Let another program add."""
        self._lock.release(force=True)

    def begin(self, process_id: str) -> int:
        """Forget a process, and begin it anew; it counts as whole at `finish`."""
        self.forget(process_id)
        with self._open() as connection:
            made = connection.execute(
                "INSERT INTO processes (process_id, stamp) VALUES (?, '')", (process_id,)
            )
            return int(made.lastrowid or 0)

    def add(self, process: int, kind: str, rows: Sequence[tuple[str, str]]) -> None:
        """Add texts of a process.

        Args:
            process: Its number in the index.
            kind: `node` or `claim`.
            rows: The name and the text of each.
        """
        with self._open() as connection:
            known = connection.execute("SELECT 1 FROM processes WHERE id = ?", (process,))
            if known.fetchone() is None:  # it was removed meanwhile
                return
            for name, text in rows:
                made = connection.execute(
                    "INSERT INTO items (process, kind, name) VALUES (?, ?, ?)",
                    (process, kind, name),
                )
                connection.execute(
                    "INSERT INTO words (rowid, text) VALUES (?, ?)",
                    (made.lastrowid, text.encode("utf-8", "replace").decode()),
                )

    def finish(self, process: int, stamp: str) -> None:
        """Say that all of a process is there."""
        with self._open() as connection:
            connection.execute("UPDATE processes SET stamp = ? WHERE id = ?", (stamp, process))

    def spoil(self, process_id: str) -> None:
        """Let a process be read again: texts of it were changed. Nothing is made for it."""
        if not self._path.exists():
            return
        with self._open() as connection:
            connection.execute(
                "UPDATE processes SET stamp = '' WHERE process_id = ?", (process_id,)
            )

    def forget(self, process_id: str) -> None:
        """Take a process out; its words stay in the file until that is made anew."""
        with self._open() as connection:
            chosen = "(SELECT id FROM processes WHERE process_id = ?)"
            connection.execute(f"DELETE FROM items WHERE process IN {chosen}", (process_id,))  # noqa: S608
            connection.execute("DELETE FROM processes WHERE process_id = ?", (process_id,))

    def erase(self, process_id: str) -> None:
        """Take out a process that is removed, and leave none of its words in the file.

        The words of one process cannot be told from those of others. So a small index is emptied,
        and the next search fills it; of a large one the words stay until it is made anew.
        """
        if not self._path.exists():
            return
        self.forget(process_id)
        with self._open() as connection:
            if connection.execute("SELECT count(*) FROM items").fetchone()[0] > ANEW:
                return
            connection.execute("PRAGMA secure_delete = ON")  # what is freed is overwritten
            for statement in (
                "INSERT INTO words (words) VALUES ('delete-all')",
                "DELETE FROM items",
                "DELETE FROM processes",
            ):
                connection.execute(statement)
        with self._open() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def clear_if_spoiled(self) -> None:
        """Begin anew where most of the file is of texts that were removed."""
        with self._open() as connection:
            last = connection.execute("SELECT count(*) FROM words_docsize").fetchone()[0]
            there = connection.execute("SELECT count(*) FROM items").fetchone()[0]
            if last - there > max(SPARE, there):
                connection.execute("PRAGMA user_version = 0")

    def find(
        self,
        query: str,
        *,
        kind: str | None = None,
        process_id: str | None = None,
        after: int = 0,
        limit: int = 20,
    ) -> list[Hit]:
        """Return what holds all words of a query, the best first.

        Args:
            query: The words.
            kind: `node` or `claim`; None: both.
            process_id: Only of this process.
            after: How many are left out at the beginning.
            limit: The most hits that are given.
        """
        wanted = match_of(query)
        if wanted is None:
            return []
        statement = (
            "SELECT p.process_id, i.kind, i.name, bm25(words) AS score FROM words "
            "JOIN items i ON i.id = words.rowid JOIN processes p ON p.id = i.process "
            "WHERE words MATCH ? AND (? IS NULL OR i.kind = ?) "
            "AND (? IS NULL OR p.process_id = ?) ORDER BY score, i.id LIMIT ? OFFSET ?"
        )
        given = (wanted, kind, kind, process_id, process_id, limit, after)
        with self._open() as connection:
            return [Hit(*row) for row in connection.execute(statement, given)]
