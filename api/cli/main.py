"""The entry point of the command `veritrail`: streams, Ctrl-C, exit."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from veritrail_graph.graph.lean_imports import keep_imports_lean

INTERRUPTED = 130

COLLECTIONS = (100_000, 50, 50)
"""Thresholds of the garbage collector. A command reads large frontiers into small values and ends:
looking for cycles among them every few hundred would only cost time."""


def main() -> None:
    """Run the command line."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        else:  # what a terminal's character set cannot say must not end the command
            stream.reconfigure(errors="backslashreplace")
    gc.set_threshold(*COLLECTIONS)
    keep_imports_lean()
    try:
        from veritrail_graph.api.cli.early import begin_early

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
