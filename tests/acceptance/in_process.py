"""One call of `main()` within this process, as if it were a process of its own.

The call gets arguments, environment, streams and signal handlers of its own; what it changed of
this process is restored when it ends. That takes a tenth of the time of a child, which imports
everything anew. Tests of signals, pipes, terminals and kills need a child.
"""

from __future__ import annotations

import asyncio
import gc
import io
import logging
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn
from unittest import mock

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Left(BaseException):
    """The command has ended itself with `os._exit`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def call(
    arguments: Sequence[str | bytes], environment: Mapping[str, str], typed: bytes = b""
) -> tuple[int, bytes, bytes]:
    """Run the command line with these arguments and no other environment.

    Args:
        arguments: What stands behind `veritrail`; bytes need not be text.
        environment: The whole environment of the call.
        typed: What standard input holds.

    Returns:
        The exit status, and what was written to stdout and to stderr.
    """
    from veritrail_graph.api.cli import main

    with ExitStack() as stack:
        streams = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        stdin, stdout, stderr = streams
        stdin.write(typed)
        stdin.seek(0)
        argv = ["veritrail", *(os.fsdecode(argument) for argument in arguments)]
        stack.enter_context(_state_restored())
        stack.enter_context(_no_running_loop())
        stack.enter_context(mock.patch.dict(os.environ, dict(environment), clear=True))
        stack.enter_context(mock.patch.object(sys, "argv", argv))
        # The command-line library takes the program's name from here.
        stack.enter_context(mock.patch.object(sys.modules["__main__"], "__package__", ""))
        stack.enter_context(mock.patch.object(os, "_exit", _leave))
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            # As the interpreter does it: input that is no text is for the program to refuse.
            errors = "surrogateescape" if name == "stdin" else "strict"
            text = io.TextIOWrapper(stream, "utf-8", errors, line_buffering=name == "stderr")
            stack.callback(text.detach)
            stack.enter_context(mock.patch.object(sys, name, text))
        try:
            main.main()
            raise AssertionError("main() returns by os._exit alone")
        except _Left as ended:
            status = ended.status
        except Exception:  # noqa: BLE001  # what the interpreter does with it
            traceback.print_exc()
            status = 1
        for text in (sys.stdout, sys.stderr):
            text.flush()
        return status, _content(stdout), _content(stderr)


@contextmanager
def _no_running_loop() -> Iterator[None]:
    """Hide the event loop of Playwright, which rests while a test runs in its thread."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


@contextmanager
def _state_restored() -> Iterator[None]:
    """Give back what a command sets for its process: signals, collector, logging, folder."""
    folder = Path.cwd()
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    thresholds = gc.get_threshold()
    loggers = [logging.getLogger(name) for name in (None, "veritrail", "dbos", "uvicorn")]
    logs = [(log, list(log.handlers), log.level, log.propagate) for log in loggers]
    umask = os.umask(0o022)
    os.umask(umask)
    root = loggers[0]
    root.handlers[:] = [one for one in root.handlers if type(one).__module__ != "_pytest.logging"]
    if logging.lastResort is not None:  # what no handler takes goes to stderr
        root.addHandler(logging.lastResort)
    try:
        yield
    finally:
        os.umask(umask)
        os.chdir(folder)
        gc.set_threshold(*thresholds)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for log, before, level, propagates in logs:
            log.handlers[:], log.propagate = before, propagates
            log.setLevel(level)


def _leave(status: int) -> NoReturn:
    raise _Left(status)


def _content(stream: io.IOBase) -> bytes:
    stream.seek(0)
    return bytes(stream.read())
