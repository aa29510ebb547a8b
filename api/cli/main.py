"""The entry point of `veritrail`: streams, an early start of the engine, Ctrl-C, exit."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from veritrail_graph.graph.lean_imports import keep_imports_lean

INTERRUPTED = 130

COLLECTIONS = (100_000, 50, 50)
"""Thresholds of the garbage collector. A command reads large frontiers into small values and ends:
looking for cycles among them every few hundred would only cost time."""

_MOST_HEAPS, _LEAST_FROM_SYSTEM = -8, -3  # M_ARENA_MAX and M_MMAP_THRESHOLD in malloc.h

_ASKING = ("check", "verify", "list", "show", "runs", "compare", "attribute")
"""Commands that read the graph, unless one of the options below is given."""
_NOT_ASKING = ("-h", "--help", "--cancel", "--set", "--config")
_LOADED = "veritrail_graph.api.cli.app"


def begin_early(arguments: Sequence[str]) -> None:
    """Start the embedded engine, where it is used and a command is sure to ask it.

    To load the command line takes as long as half of its start.

    Nothing is said of it: the command itself says that it starts, and what is wrong with it. An
    engine that a call with wrong options started ends when its idle time is over.

    Args:
        arguments: What follows `veritrail`.
    """
    if not arguments or arguments[0] not in _ASKING or _LOADED in sys.modules:
        return
    if any(one.partition("=")[0] in _NOT_ASKING for one in arguments):
        return
    from veritrail_graph.api.app.engine import begin_engine
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.errors import VeriTrailError

    with suppress(VeriTrailError):  # settings that are wrong: the command says so
        begin_engine(Settings())


def share_one_heap() -> None:
    """Let all threads take memory from one heap, and large pieces from the system (glibc).

    It gives each thread a heap of its own, and what one lets go no other uses; and it keeps large
    pieces that were let go, with holes between them. Both together were a quarter of the memory
    that a check of 120,000 nodes took. Threads of Python run one at a time: few wait for a heap.
    """
    with suppress(AttributeError, ImportError, OSError, TypeError):  # no such function elsewhere
        import ctypes

        adjust = ctypes.CDLL(None).mallopt
        adjust(_MOST_HEAPS, 1)
        adjust(_LEAST_FROM_SYSTEM, 128 * 1024)


def main() -> None:
    """Run the command line."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        else:  # what a terminal's character set cannot say must not end the command
            stream.reconfigure(errors="backslashreplace")
    gc.set_threshold(*COLLECTIONS)
    share_one_heap()
    keep_imports_lean()
    try:
        begin_early(sys.argv[1:])
        from veritrail_graph.api.cli.app import status

        ended = status()
    except KeyboardInterrupt:  # while it was loading
        ended = INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over, and its status is known
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader may have ended
            stream.flush()
    # Not sys.exit: a thread that still waits for an engine that has ended must not hold it up.
    os._exit(ended)


if __name__ == "__main__":
    main()
