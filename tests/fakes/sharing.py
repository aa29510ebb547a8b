"""One server for all processes of a test run: the first that needs it starts it.

A record beside the lock says where the server is and who uses it. Whoever started it ends it, once
everybody else has ended; a process that died does not count.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import filelock
import psutil

S = TypeVar("S")


@contextmanager
def shared(
    record: Path,
    start: Callable[[], AbstractContextManager[S]],
    write: Callable[[S], dict[str, Any]],
    read: Callable[[dict[str, Any]], S],
) -> Iterator[S]:
    """Give the server of the test run.

    Args:
        record: The file that says where it is, in a folder that all processes of the run share.
        start: Runs a server until the end of its block.
        write: What a record has to say of a server.
        read: The server of a record.
    """
    lock = filelock.FileLock(record.with_suffix(".lock"))
    with lock:
        if record.exists():
            found = json.loads(record.read_text(encoding="utf-8"))
            running, server = None, read(found["server"])
            _note(record, found["server"], [*found["users"], os.getpid()])
        else:
            running = start()
            server = running.__enter__()
            _note(record, write(server), [os.getpid()])
    try:
        yield server
    finally:
        while not _left(record, lock, is_owner=running is not None):
            time.sleep(0.2)
        if running is not None:
            running.__exit__(None, None, None)


def _left(record: Path, lock: filelock.BaseFileLock, *, is_owner: bool) -> bool:
    """Take this process from the record; its owner may end when no other process is in it."""
    with lock:
        found = json.loads(record.read_text(encoding="utf-8"))
        others = [user for user in found["users"] if user != os.getpid()]
        if not is_owner:
            _note(record, found["server"], others)
            return True
        if any(psutil.pid_exists(user) for user in others):
            return False
        record.unlink()
        return True


def _note(record: Path, server: dict[str, Any], users: list[int]) -> None:
    record.write_text(json.dumps({"server": server, "users": users}), encoding="utf-8")
