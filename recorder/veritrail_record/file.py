"""The file of a recording: a process file in JSON Lines that can be read at any moment.

A record is written with one call of the operating system, and nothing is buffered here: what is
recorded survives the end of the program. A program that is killed while it writes leaves at
most one line that is cut off, which the reader of process files leaves out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

_MODE = 0o666  # less what the program's umask takes


class RecordFile:
    """A file that grows by whole records; not safe for threads.

    The header is written under another name, which then takes the place of an earlier file. So
    there is no moment at which the file is empty, and two programs that record to one path never
    write into one file: the path belongs to the later one.

    Args:
        path: Where it is.
        header: Makes the first line, with the final outputs where they are to be named.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, path: Path, header: Callable[[list[str] | None], str]) -> None:
        self.path = path.expanduser().absolute()
        self._header = header
        self._is_plain = not self.path.exists() or self.path.is_file()
        # Of a link the target is replaced; what /dev/stdout leads to has no path.
        self._place = self.path.resolve() if self._is_plain else self.path
        if self._is_plain and sys.platform != "win32":
            draft = self._draft()
            try:
                how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                self._file = os.open(draft, how, _MODE)
                self._size = self._write(header(None).encode("utf-8"), 0)
                draft.replace(self._place)
            except OSError:
                draft.unlink(missing_ok=True)
                raise
        else:  # a pipe or a device, or a system on which an open file cannot be renamed
            how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if self._is_plain else 0)
            self._file = os.open(self._place, how, _MODE)
            self._size = self._write(header(None).encode("utf-8"), 0)

    def add(self, lines: str) -> None:
        """Append lines, all or none.

        Raises:
            OSError: They cannot be written.
            UnicodeEncodeError: A text holds half a character.
        """
        self._size += self._write(lines.encode("utf-8"), self._size)

    def close(self, terminals: list[str] | None = None) -> None:
        """Close the file.

        Args:
            terminals: What the header is to name as the final outputs; None: nothing. They are
                known at the end, so the file is then written once more.

        Raises:
            OSError: It cannot be written once more; it is whole, without the names.
        """
        try:
            os.close(self._file)
        finally:
            if terminals is not None and self._is_plain:
                self._rewrite(self._header(terminals))

    def _write(self, data: bytes, end: int) -> int:
        """Write all, or nothing where the file can be cut."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            if self._is_plain:
                os.ftruncate(self._file, end)
            raise
        return len(data)

    def _rewrite(self, header: str) -> None:
        import shutil  # brings compression, which most recordings never need

        draft = self._draft()
        try:
            with self._place.open("rb") as old, draft.open("xb") as new:
                old.readline()
                new.write(header.encode("utf-8"))
                shutil.copyfileobj(old, new, 1 << 20)
            draft.chmod(self._place.stat().st_mode & 0o777)
            draft.replace(self._place)
        finally:
            draft.unlink(missing_ok=True)

    def _draft(self) -> Path:
        name = f".{self._place.name[:200]}.{os.getpid()}-{os.urandom(3).hex()}.part"
        return self._place.with_name(name)
