"""What Ctrl-C does: the first one ends the work in order, a later one ends the command."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable

from veritrail_graph.api.cli.terminal import say

SAME_KEY_PRESS = 1.0
"""Seconds in which a second signal is the first one, passed on by whoever started us."""

INTERRUPTED = 130

_SHOW_CURSOR = "\x1b[?25h"


def on_ctrl_c(end: Callable[[], object]) -> Callable[[], bool]:
    """Let the first Ctrl-C or SIGTERM from now on call `end`; gives who tells of it."""
    loop = asyncio.get_running_loop()
    first: float | None = None

    def interrupt() -> None:
        nonlocal first
        if first is None:
            first = loop.time()
            say("Stopping: what is finished is kept. Press Ctrl-C again to leave now.", "yellow")
            end()
        elif loop.time() - first > SAME_KEY_PRESS:
            _leave()

    if sys.platform != "win32":
        loop.add_signal_handler(signal.SIGINT, interrupt)
        loop.add_signal_handler(signal.SIGTERM, interrupt)  # from whoever runs us
    return lambda: first is not None


def _leave() -> None:
    """End the process now, without waiting for what it is doing."""
    say("Left; what was stored until now is kept.", "yellow")
    if sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)  # a progress bar hides it
        sys.stderr.flush()
    os._exit(INTERRUPTED)
