"""Files read in a child process with limits: what is made to exhaust memory or time ends the child.

All importers run in the child. What they find comes back record by record, as it is read here, so
that whoever stores it needs to know nothing of the child. Small files are read here: the bounds of
the readers make them harmless, and a child costs a second where none waits.

The limits hold on Linux (memory and processor time) and, but for memory, on macOS. Elsewhere only
the time of each answer is limited. See ADR 0054.
"""

from __future__ import annotations

import asyncio
import atexit
import io
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import EngineError, InputError
from veritrail_graph.graph.importers.apart_child import ALSO, LENGTH, TOO_MUCH_MEMORY
from veritrail_graph.graph.importers.files import suffix_of
from veritrail_graph.graph.importers.records import Header, KeptInput, ProcessInput, Record
from veritrail_graph.graph.importers.registry import (
    Found,
    ImportOptions,
    address_of,
    find_together,
)

SMALL = 256_000
"""Bytes of a file or folder that is read here; of a packed one a two-hundredth of them."""
MEMORY, MEMORY_A_BYTE = 512_000_000, 16
"""Bytes that a child may take beyond its programs, and how many more for each byte of the file."""
SECONDS, SECONDS_A_MEGABYTE = 60, 2
"""Seconds of the processor that it may take, and how many more for each megabyte."""
AT_ONCE = 2
"""Children that read at a time; others wait."""
REQUESTS_AT_ONCE = 1
"""Beside them children that read a request whose sender waits only seconds."""
NICE = 10
"""How much later than others they get the processor."""

_SECRETS = ("KEY", "TOKEN", "PASSWORD", "SECRET")
_PAUSE = 0.05
_LOOK_SECONDS, _STILL_SECONDS = 1.0, 15.0
"""How often a child at work is looked at, and how long it may do nothing."""
_SIGXCPU = 24
_places = threading.BoundedSemaphore(AT_ONCE)
_request_places = threading.BoundedSemaphore(REQUESTS_AT_ONCE)
_waiting: list[Reader] = []


def size_of(path: Path) -> int | None:
    """Return how many bytes a file or the files of a folder have; None: it is small and plain."""
    if address_of(path) is not None:
        return None
    is_plain, total = True, 0
    # Who opens a pipe waits for who writes into it.
    files = (one for one in (path.rglob("*") if path.is_dir() else (path,)) if one.is_file())
    with suppress(OSError):  # reading says what is wrong
        for one in files:
            total += one.stat().st_size
            with one.open("rb") as opened:
                is_packed = opened.read(2) == b"\x1f\x8b"
            is_parquet = suffix_of(one) == ".parquet"
            is_plain = is_plain and not is_parquet and not (is_packed and total > SMALL // 200)
    return None if is_plain and total <= SMALL else total


async def find_each(
    inputs: Sequence[tuple[Path, ImportOptions]],
    stack: AsyncExitStack,
    *,
    format_name: str | None = None,
) -> Iterator[Found]:
    """The processes of paths; one child reads all that is large or packed, until the stack ends.

    Args:
        inputs: The paths, each with the options of its importer.
        stack: Ends the child.
        format_name: The format of the paths; None: it is detected.

    Raises:
        InputError: The one path is in no known format. Of several it is a process that fails.
    """
    sizes = [await asyncio.to_thread(size_of, path) for path, _ in inputs]
    if not any(size is not None for size in sizes):
        return find_together(inputs, format_name=format_name, alone=True)
    reader = await stack.enter_async_context(reader_for(sum(size or 0 for size in sizes)))
    of_graphs = [one for one in inputs if address_of(one[0]) is not None]
    of_files = [one for one in inputs if one not in of_graphs]
    alone = not of_graphs
    found = await asyncio.to_thread(reader.processes, of_files, format_name, alone=alone)
    return chain(found, find_together(of_graphs, format_name=format_name, alone=False))


class Reader:
    """A child that reads."""

    def __init__(self) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not any(word in name.upper() for word in _SECRETS)
        }
        # Pools of memory that are reserved would count as taken.
        environment |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "veritrail_graph.graph.importers.apart_child"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment,
        )  # fmt: skip
        with suppress(AttributeError, OSError):  # Windows has none, and it may have ended
            # Who waits for an answer of the service comes first, also while it imports.
            own = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, self._process.pid, min(own + NICE, 19))
        self._lock = threading.Lock()
        self._seconds = SECONDS
        self._is_late = False

    @property
    def is_alive(self) -> bool:
        """Return whether it can be asked."""
        return self._process.poll() is None

    def limit(self, size: int) -> None:
        """Set its limits for a file of so many bytes."""
        self._seconds = SECONDS + SECONDS_A_MEGABYTE * (size // 1_000_000)
        self.ask("limit", MEMORY + MEMORY_A_BYTE * size, self._seconds)

    def ask(self, *message: Any, also: Callable[[Any], None] | None = None) -> Any:
        """Let it do something, and give what came of it.

        Args:
            message: What it is to do.
            also: Called with what it sends before it answers.

        Raises:
            InputError: What it reads cannot be read, or took more than it may.
        """
        with self._lock:
            answered = threading.Event()
            threading.Thread(target=self._watch, args=(answered,), daemon=True).start()
            try:
                kind, value = self._exchanged(pickle.dumps(message, 5), also)
            except pickle.UnpicklingError as error:
                self.end()
                raise _reader_failed(str(error)) from None
            except (OSError, EOFError, ValueError):
                raise self._why_it_ended() from None
            finally:
                answered.set()
        if kind == "memory":
            self.end()
            raise _too_much_memory()
        return _given(kind, value)

    def _exchanged(self, message: bytes, also: Callable[[Any], None] | None) -> tuple[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise EOFError
        stdin.write(LENGTH.pack(len(message)))
        stdin.write(message)
        stdin.flush()
        while True:
            length = stdout.read(LENGTH.size)
            if len(length) < LENGTH.size:
                raise EOFError
            answer = stdout.read(LENGTH.unpack(length)[0])
            kind, value = _OurValues(io.BytesIO(answer)).load()
            if kind != ALSO:
                return kind, value
            if also is not None:
                also(value)

    def _watch(self, answered: threading.Event) -> None:
        """End it where an answer does not come in time.

        Code of others may wait for itself for ever once there is no memory left.
        """
        deadline = time.monotonic() + 5 * self._seconds
        waits, before = 0, None
        while not answered.wait(_LOOK_SECONDS):
            now = self._at_work()
            waits = waits + 1 if now is not None and now == before else 0
            before = now
            if waits * _LOOK_SECONDS >= _STILL_SECONDS or time.monotonic() > deadline:
                self._is_late = waits == 0
                self._process.kill()
                return

    def _at_work(self) -> str | None:
        """Give what it has used of the processor; None: it is not known, or it does not sleep."""
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text("ascii", "replace")
        except OSError:
            return None
        state, *rest = stat.rpartition(")")[2].split()
        return " ".join(rest[10:12]) if state == "S" else None

    def _why_it_ended(self) -> InputError:
        self.end()
        if self._is_late or self._process.returncode == -_SIGXCPU:
            return InputError(
                f"Reading took more than {self._seconds} seconds, which is more than a file of "
                "this size may take. Send it in parts.",
                code="too_slow",
            )
        return _too_much_memory()

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError, ValueError):
                    pipe.close()

    def may_stay(self) -> bool:
        """Let it forget what it read; gives whether it can serve another caller."""
        if self._lock.locked() or not self.is_alive:  # somebody left in the middle of an answer
            return False
        try:
            return bool(self.ask("reset"))
        except InputError:
            return False

    def processes(
        self,
        paths: Sequence[tuple[Path, ImportOptions]],
        format_name: str | None = None,
        *,
        alone: bool = True,
    ) -> Iterator[Found]:
        """Give the processes of paths, as `find_together` does.

        Raises:
            InputError: As there, or reading took more than it may.
        """
        finding = self.ask("find", str(Path.cwd()), paths, format_name, alone)
        return self._found(finding)

    def _found(self, finding: int) -> Iterator[Found]:
        is_over = False
        while not is_over:
            read: list[tuple[str, str, Any]] = []
            fault: InputError | None = None
            try:
                is_over = not self.ask("some", finding, also=read.append)
            except InputError as error:  # what was read before it is given nevertheless
                fault = error
            for where, kind, value in read:
                yield Found(where, partial(self._opened, kind, value))
            if fault is not None:
                raise fault

    def _opened(self, kind: str, value: Any) -> ProcessInput:
        read: KeptInput | tuple[int, Header] = _given(kind, value)
        return read if isinstance(read, KeptInput) else _ReadApart(self, *read)


@dataclass(frozen=True, slots=True)
class _ReadApart:
    """A process that a child reads each time."""

    reader: Reader
    number: int
    header: Header

    def records(self) -> Iterator[Record]:
        from veritrail_graph.graph.importers.records import PlainNodes

        for one in self.packed():
            if isinstance(one, PlainNodes):
                yield from one.records()
            else:
                yield one

    def packed(self) -> Iterator[Any]:
        return self._each("records")

    def trails(self) -> Iterator[Any]:
        return self._each("trails")

    def _each(self, what: str) -> Iterator[Any]:
        reading = self.reader.ask(what, self.number)
        while some := self.reader.ask("more", reading):
            yield from some


class _OurValues(pickle.Unpickler):
    """Takes values of ours and plain ones: no pickle of the child can call anything else."""

    def find_class(self, module: str, name: str) -> Any:
        """Give a class of ours, or a plain one."""
        if (module, name) == ("builtins", "getattr"):
            return _member  # Python 3.11 to 3.11.3 names members of enumerations so
        is_ours = module.startswith("veritrail_graph.")
        found = super().find_class(module, name) if is_ours or module in _PLAIN else None
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return found


_PLAIN = ("datetime", "decimal", "collections")


def _member(kind: Any, name: str) -> Enum:
    """Return a member of an enumeration."""
    is_one = isinstance(kind, type) and issubclass(kind, Enum) and name in kind.__members__
    if not is_one:
        raise pickle.UnpicklingError(f"{name} of {kind!r}")
    member: Enum = kind[name]
    return member


def _given(kind: str, value: Any) -> Any:
    if kind == "error":
        raise value
    if kind == "failed":
        raise _reader_failed(value)
    return value


def _reader_failed(why: str) -> InputError:
    return InputError(f"The file cannot be read: its reader failed ({why}).")


def _too_much_memory() -> InputError:
    return InputError(
        "Reading took more memory than a file of this size may take. Send it in parts, or as JSON "
        "Lines, which are read line by line.",
        code=TOO_MUCH_MEMORY,
    )


@asynccontextmanager
async def reader_for(size: int, *, soon: bool = False) -> AsyncIterator[Reader]:
    """Give a child for something of so many bytes; it is ended when its caller leaves it at work.

    Args:
        size: Bytes of what is to be read; its limits grow with them.
        soon: Whether its sender waits only seconds, so that it waits for no file.
    """
    places = _request_places if soon else _places
    while not places.acquire(blocking=False):  # noqa: ASYNC110 - shared by all event loops
        await asyncio.sleep(_PAUSE)
    reader = None
    started: list[Reader] = []
    is_left = threading.Event()

    def start() -> None:
        started.append(_ready(size))
        if is_left.is_set():
            _keep_for_the_next(started)

    try:
        await asyncio.to_thread(start)
        reader = started.pop()
        yield reader
    except asyncio.CancelledError:
        # The thread goes on: a child that it starts now is nobody's.
        is_left.set()
        _keep_for_the_next(started)
        raise
    finally:
        try:
            if reader is not None and reader.may_stay():
                _waiting.append(reader)
            elif reader is not None:
                reader.end()
        finally:
            places.release()


def _keep_for_the_next(started: list[Reader]) -> None:
    with suppress(IndexError):  # not started yet, or kept already
        _waiting.append(started.pop())


def _ready(size: int) -> Reader:
    while _waiting:
        reader = _waiting.pop()
        try:
            reader.limit(size)
        except InputError:  # it has waited too long
            continue
        return reader
    try:
        reader = Reader()
    except OSError as error:
        raise EngineError(f"A reader of files cannot be started: {error.strerror}.") from None
    reader.limit(size)
    return reader


@atexit.register
def _end_waiting() -> None:
    while _waiting:
        _waiting.pop().end()
