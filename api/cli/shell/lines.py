"""Where the lines come from: a terminal with its history, or a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veritrail_graph.graph.errors import InputError

PROMPT, MORE = "veritrail> ", "      ...> "
_KEPT_LINES = 1_000


class Lines:
    """Lines of standard input, with a prompt where a person types them.

    Attributes:
        is_terminal: Whether a person types them.
    """

    def __init__(self) -> None:
        self.is_terminal = sys.stdin.isatty()
        self._number = 0

    async def read(self, *, begun: bool) -> str | None:
        """The next line, or None at the end.

        Args:
            begun: Whether a statement has been begun, which the prompt shows.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed at the terminal.
            InputError: The line is no text.
        """
        if self.is_terminal:
            return _typed(MORE if begun else PROMPT)
        self._number += 1
        try:
            line = await asyncio.to_thread(sys.stdin.readline)
            line.encode()
        except UnicodeError:
            raise InputError(f"Line {self._number} of the input is not UTF-8 text") from None
        return line or None


def _typed(prompt: str) -> str | None:
    # Nothing else waits for the event loop meanwhile, and a line that is read in the thread of
    # the signals can be dropped with Ctrl-C.
    with _interruptible():
        try:
            if sys.stdout.isatty():
                return input(prompt)
            sys.stderr.write(prompt)
            sys.stderr.flush()
            return sys.stdin.readline() or None
        except EOFError:
            sys.stderr.write("\n")
            return None
        except UnicodeError:
            return ""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, and put back what it did before."""
    if sys.platform == "win32":
        yield
        return
    asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # Else the loop would hear of it as well, afterwards, and end what runs then.
    wakeup = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, before)


@contextmanager
def history(file: Path) -> Iterator[None]:
    """Editing and a history of the typed lines, where Python was built with them."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_history_length(_KEPT_LINES)
    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)  # statements may hold what is nobody else's business
            readline.write_history_file(file)
