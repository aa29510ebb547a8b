"""A file without a name: no other program can open it, and the system removes it at the end."""

from __future__ import annotations

import errno
import weakref
from collections.abc import Sequence
from tempfile import TemporaryFile


class UnnamedFile:
    """Bytes one after the other; one thread at a time may use it.

    Raises:
        OSError: No file can be made.
    """

    def __init__(self) -> None:
        # Without a buffer: one that could not be written would be in the way of every later read.
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 (open as long as it is used)
        weakref.finalize(self, self._file.close)
        self.end = 0

    def add(self, parts: Sequence[bytes]) -> None:
        """Put bytes at the end.

        Raises:
            OSError: It takes no more; what was there before can still be read.
        """
        left = memoryview(b"".join(parts))
        at = self.end
        self._file.seek(at)
        while left:
            written = self._file.write(left) or 0
            if not written:
                raise OSError(errno.ENOSPC, "the file takes no more")
            at, left = at + written, left[written:]
        self.end = at

    def read(self, start: int, size: int) -> bytes:
        """The bytes at a place."""
        self._file.seek(start)
        return self._file.read(size)
