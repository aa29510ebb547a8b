"""The command `veritrail` as a real process that need not import anything: a fork of a warm one.

A new Python takes a second to import the command, which is most of what a short one takes. Here
one process imports it once (`warm_parent.py`) and forks for every call. The fork has process id,
signals, exit status, streams, folder and environment of its own, as the child of a shell has. What
it does not show is the start of the interpreter and the installed script: where a test sets
something that the interpreter reads as it starts, and on other systems than Linux, the script is
called. `test_cli_use.py`, `test_cli_terminal.py` and `test_wheel.py` call the script in any case.
"""

from __future__ import annotations

import atexit
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import filelock
from fakes import warm_caller

PARENT = Path(__file__).with_name("warm_parent.py")
CALLER = Path(__file__).with_name("warm_caller.py")
# Read by the interpreter as it starts, or by libraries as they are imported.
_READ_EARLY = ("PYTHON", "LC_", "LANG", "LD_", "TERM", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "TZ")


def is_possible(settings: Mapping[str, str]) -> bool:
    """Whether a fork does what a new interpreter with these settings would do."""
    return sys.platform == "linux" and not any(name.startswith(_READ_EARLY) for name in settings)


@cache
def address() -> str:
    """The socket of the warm process, which ends when no process of this test run is left."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    folder = Path(tempfile.gettempdir()) / f"vt-warm-{run[:12]}"  # short, as paths of sockets are
    folder.mkdir(mode=0o700, exist_ok=True)
    path = str(folder / "socket")
    with filelock.FileLock(folder / "lock"):
        try:
            _presence.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            Path(path).unlink(missing_ok=True)
            subprocess.run([sys.executable, "-P", str(PARENT), path], check=True)
            _presence.connect(path)
    warm_caller.send(_presence, [], {}, [])
    script = folder / "veritrail"
    told = f'#!/bin/sh\nexec "{sys.executable}" -I -S "{CALLER}" "{path}" "$@"\n'
    script.write_text(told, encoding="utf-8")
    script.chmod(0o755)
    return path


# As long as it is open the warm process goes on.
_presence = socket.socket(socket.AF_UNIX)
atexit.register(_presence.close)


def on_the_path() -> str:
    """The folder of a `veritrail` that calls the warm process: the first of a PATH."""
    return str(Path(address()).parent)


class Warm(subprocess.Popen[bytes]):
    """A call of the command in a fork; it is used as any other child is.

    Args:
        arguments: What stands behind `veritrail`.
        env: Its whole environment.
        stdin: PIPE, DEVNULL or an open file; the same for the other streams.
    """

    _child_created = False  # for the destructor: it is no child that this process could wait for

    def __init__(
        self, arguments: Sequence[str | bytes], *, env: Mapping[str, str], **streams: Any
    ) -> None:
        self.args = ["veritrail", *arguments]
        self.returncode: Any = None
        self._told = {"stdout": b"", "stderr": b""}
        made = [
            _stream(streams.get(name), number)
            for number, name in enumerate(("stdin", "stdout", "stderr"))
        ]
        theirs = [descriptor for descriptor, _ in made]
        self.stdin, self.stdout, self.stderr = (ours for _, ours in made)
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(address())
        warm_caller.send(self._line, [os.fsdecode(one) for one in arguments], dict(env), theirs)
        for descriptor in theirs:
            os.close(descriptor)
        self._heard = b""
        while b"\n" not in self._heard:
            self._heard += self._hear()
        said, _, self._heard = self._heard.partition(b"\n")
        self.pid = int(said)

    def _hear(self) -> bytes:
        piece = self._line.recv(64)
        assert piece, "the warm process has ended"
        return piece

    def poll(self) -> Any:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            if self._heard.endswith(b"\n"):
                self.returncode = int(self._heard)
                self._line.close()
                break
            self._line.settimeout(None if until is None else max(0.0, until - time.monotonic()))
            try:
                self._heard += self._hear()
            except (BlockingIOError, TimeoutError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None
        return int(self.returncode)

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(
        self,
        input: Any = None,  # noqa: A002  # the name that every child has
        timeout: float | None = None,
    ) -> tuple[Any, Any]:
        until = None if timeout is None else time.monotonic() + timeout
        if self.stdin is not None and not self.stdin.closed:
            with suppress(BrokenPipeError):
                self.stdin.write(input or b"")
            self.stdin.close()
        with selectors.DefaultSelector() as selector:
            for name, stream in (("stdout", self.stdout), ("stderr", self.stderr)):
                if stream is not None and not stream.closed:
                    selector.register(stream, selectors.EVENT_READ, name)
            while selector.get_map():
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
                for key, _ in selector.select(left):
                    piece = os.read(key.fd, 65_536)
                    self._told[key.data] += piece
                    if not piece:
                        selector.unregister(key.fileobj)
                        key.fileobj.close()  # type: ignore[union-attr]
        self.wait(None if until is None else max(0.0, until - time.monotonic()))
        return (
            None if self.stdout is None else self._told["stdout"],
            None if self.stderr is None else self._told["stderr"],
        )


def _stream(chosen: Any, number: int) -> tuple[int, IO[bytes] | None]:
    """What a child gets as a stream, and our end of it if it is a pipe."""
    if chosen == subprocess.PIPE:
        reads, writes = os.pipe()
        if number == 0:
            return reads, os.fdopen(writes, "wb", 0)
        return writes, os.fdopen(reads, "rb")
    if chosen == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR), None
    if chosen is None:
        return os.dup(number), None
    return os.dup(chosen if isinstance(chosen, int) else chosen.fileno()), None
