"""Stops the engine when its supervisor has ended, for whatever reason.

Run by path as a process of its own, with nothing but the standard library: its standard input is
a pipe that only the supervisor holds, so a `kill -9` of the supervisor is an end of file here.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable

FAREWELL = b"done"


def main() -> None:
    """Wait for the end of standard input; unless the input is the farewell, stop the process.

    The arguments are its id, and the seconds that it has to end normally.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    pid, patience = int(sys.argv[1]), float(sys.argv[2])
    send = _sender(pid)
    if sys.stdin.buffer.read() == FAREWELL:
        return
    _stop(send, patience)


def _sender(pid: int) -> Callable[[int], None]:
    # On Linux a handle instead of a number: a number could belong to another process by then.
    if sys.platform == "linux":
        handle = os.pidfd_open(pid)
        return lambda number: signal.pidfd_send_signal(handle, number)
    else:  # noqa: RET505  # mypy follows the platform through both branches
        return lambda number: os.kill(pid, number)


def _stop(send: Callable[[int], None], patience: float) -> None:
    give_up = time.monotonic() + patience
    try:
        send(signal.SIGTERM)
        while time.monotonic() < give_up:
            time.sleep(0.05)
            send(0)
        send(signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    main()
