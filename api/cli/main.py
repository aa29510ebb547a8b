"""The entry point of the command `veritrail`: streams, Ctrl-C, exit."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever called us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        else:  # what a terminal's character set cannot say must not end the command
            stream.reconfigure(errors="backslashreplace")
    try:
        from api.cli.app import status

        ended = status()
    except KeyboardInterrupt:  # while it was loading
        ended = INTERRUPTED
    signal.signal(signal.SIGINT, _leave)  # nothing is left to do in order
    sys.exit(ended)


def _leave(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


def __getattr__(name: str) -> Any:
    """`app`, for who documents the commands; it is loaded when asked for, see `main`."""
    if name == "app":
        from api.cli.app import app

        return app
    raise AttributeError(name)


if __name__ == "__main__":
    main()
