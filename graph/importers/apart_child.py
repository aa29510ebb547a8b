"""The child process that reads files for another one, within limits; see `apart`.

It takes one message after the other from stdin and answers each on stdout: four bytes of length,
and a pickle. What it reads ahead it sends before the answer, each part as it is ready. It ends
when stdin ends, when no message comes for a while and it holds nothing, and at its limits.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from veritrail_graph.graph import errors
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.importers.records import (
    Header,
    KeptInput,
    NodeRecord,
    PlainEdges,
    PlainNodes,
    ProcessInput,
    TrailInput,
    packed,
)
from veritrail_graph.graph.importers.registry import Found, ImportOptions, find_together

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.plain import PlainText
    from veritrail_graph.graph.importers.traces.received import RequestForm

LENGTH = struct.Struct(">I")
IDLE_SECONDS = 60.0
MOST_KEPT = 300_000_000
"""Bytes that it may have taken and still serve the next caller."""
TOO_MUCH_MEMORY = "too_much_memory"
ALSO = "also"
"""What is sent before an answer."""

_AT_ONCE = 500
_CHARACTERS_AT_ONCE = 1_000_000
_RECORD = 100
"""Characters that the rest of a record counts as."""
_SECONDS_AT_ONCE = 0.1


class Serving:
    """Reads what it is asked to; what it holds between two messages has a number."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self._send = send
        self._held: dict[int, Any] = {}
        self._numbers = count(1)

    @property
    def is_held(self) -> bool:
        """Return whether a caller is not done yet; it may be busy for long, storing what it got."""
        return bool(self._held)

    def _hold(self, value: Any) -> int:
        number = next(self._numbers)
        self._held[number] = value
        return number

    def limit(self, memory: int, seconds: int) -> None:
        """Limit what is taken from now on, in bytes and in seconds of the processor."""
        with suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            usage = resource.getrusage(resource.RUSAGE_SELF)
            used = int(usage.ru_utime + usage.ru_stime) + 1
            _, most = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, most))
            pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, most))

    def find(
        self,
        folder: str,
        paths: Sequence[tuple[Path, ImportOptions]],
        format_name: str | None,
        alone: bool,
    ) -> int:
        """Begin to look for the processes of paths, which may be below the caller's folder."""
        os.chdir(folder)
        return self._hold(iter(find_together(paths, format_name=format_name, alone=alone)))

    def some(self, finding: int) -> bool:
        """Find the next processes, up to a large one; gives whether there may be more.

        Of each it sends where it is, and what became of opening it.
        """
        size, until = 0, time.monotonic() + _SECONDS_AT_ONCE
        for found in self._held[finding]:
            kind, value = attempt(self._opened, found)
            self._send((found.where, kind, value))
            if kind != "value":  # an error is a record
                size += _characters(value)
            elif isinstance(value, KeptInput):
                size += sum(map(_characters, value.kept))
            else:
                return True
            if size >= _CHARACTERS_AT_ONCE or time.monotonic() >= until:
                return True
        return False

    def _opened(self, found: Found) -> KeptInput | tuple[int, Header]:
        """Open a process: all of a small one, so that nothing more is asked of it."""
        source = found.open()
        header, kept = source.header, _small(packed(source))
        if kept is not None and (carried := _small(_carried(source))) is not None:
            return KeptInput(header, kept, carried)
        return self._hold(source), header

    def records(self, source: int) -> int:
        """Begin to read the records of a process."""
        return self._hold(iter(packed(self._held[source])))

    def trails(self, source: int) -> int:
        """Begin to read what a process carries besides."""
        return self._hold(iter(_carried(self._held[source])))

    def more(self, reading: int) -> list[Any]:
        """Read some more; nothing at the end."""
        some = _some(self._held[reading])
        if not some:
            self.drop(reading)
        return some

    def request(self, body: bytes, form: RequestForm, most: int) -> Any:
        """Read an export request."""
        from veritrail_graph.graph.importers.traces.received import read_request

        return read_request(body, form, most)

    def trace(self, trace_id: str, paths: list[Path]) -> Any:
        """Make the process of a trace whose spans files hold."""
        from veritrail_graph.graph.importers.traces.received import process_of_files

        return process_of_files(trace_id, paths)

    def answer(
        self, answer: PlainText, sources: list[PlainText], language: str, question: str | None
    ) -> Any:
        """Make the process of an answer and the texts that it was made from."""
        from veritrail_graph.graph.importers.plain import answer_over
        from veritrail_graph.graph.sentences import SentenceSplitter

        splitter = SentenceSplitter.for_language(language)
        return answer_over(answer, sources, splitter, question=question)

    def drop(self, number: int) -> None:
        """Hold something no longer."""
        self._held.pop(number, None)

    def reset(self) -> bool:
        """Hold nothing; gives whether it may serve another caller."""
        self._held.clear()
        gc.collect()
        try:
            import resource
        except ImportError:
            return False
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        unit = 1 if sys.platform == "darwin" else 1024
        return largest * unit <= MOST_KEPT


def _some(records: Iterable[Any]) -> list[Any]:
    """The next records, as many as are sent at once."""
    some, size = [], 0
    for one in records:
        some.append(one)
        size += _characters(one)
        if len(some) >= _AT_ONCE or size >= _CHARACTERS_AT_ONCE:
            break
    return some


def _small(records: Iterator[Any]) -> tuple[Any, ...] | None:
    """All records; None: there are more than are sent at once."""
    some = _some(records)
    return None if next(records, None) is not None else tuple(some)


def _characters(record: Any) -> int:
    if isinstance(record, PlainNodes):
        return sum(map(len, record.texts)) + _RECORD * len(record)
    if isinstance(record, PlainEdges):
        return _RECORD * len(record)
    return len(record.text) if isinstance(record, NodeRecord) else _CHARACTERS_AT_ONCE // 100


def _carried(source: ProcessInput) -> Iterator[Any]:
    return source.trails() if isinstance(source, TrailInput) else iter(())


def attempt(do: Callable[..., Any], *given: Any) -> tuple[str, Any]:
    """Do something; gives what became of it: a value or an error."""
    try:
        return "value", do(*given)
    except MemoryError:
        raise
    except VeriTrailError as error:
        if type(error).__module__ == errors.__name__:
            return "error", error
        violations = getattr(error, "violations", ())
        return "error", InputError(str(error), violations, code=error.code, **error.facts)
    except Exception as error:  # noqa: BLE001 - the caller says it in its own words
        return "failed", type(error).__name__


def messages(stdin: BinaryIO, serving: Serving) -> Iterator[tuple[Any, ...]]:
    """Give the messages, until stdin ends, or none comes for a while and nothing is held."""
    while True:
        if os.name == "posix" and not serving.is_held:
            import select

            if not select.select([stdin], [], [], IDLE_SECONDS)[0]:
                return
        length = stdin.read(LENGTH.size)
        if len(length) < LENGTH.size:
            return
        yield pickle.loads(stdin.read(LENGTH.unpack(length)[0]))  # noqa: S301 - of our parent


def main() -> None:
    """Answer messages until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    stdin = os.fdopen(os.dup(0), "rb")  # one message at a time: nothing waits in its buffer
    stdout = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what others print is no answer

    def send(kind: str, value: Any) -> None:
        answer = pickle.dumps((kind, value), 5)
        stdout.write(LENGTH.pack(len(answer)))
        stdout.write(answer)
        stdout.flush()

    serving = Serving(partial(send, ALSO))
    reserve = bytearray(1_000_000)  # for the answer that there is no memory left
    with suppress(BrokenPipeError):
        for name, *given in messages(stdin, serving):
            try:
                send(*attempt(getattr(serving, name), *given))
            except MemoryError:
                reserve.clear()
                send("memory", None)


if __name__ == "__main__":
    main()
