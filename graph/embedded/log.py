"""The engine's log on disk: bounded, and without the password."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from veritrail_graph.graph.embedded.folder import EngineFolder, write_private

_LARGEST_FILE = 2 * 1024 * 1024
_KEPT_LINES = 60
_KEPT_EVENT_FILES = 3
_STACK_TRACE = ("\tat ", "\t... ", "    at ")
_TROUBLE = ("SEVERE", "WARNING", "Exception", "Error", "error")


class BoundedLog:
    """Writes `engine.log` and one predecessor, and remembers the last lines for messages."""

    def __init__(self, folder: EngineFolder, password: str) -> None:
        self._path = folder.engine_log
        self._password = password
        self._last: deque[str] = deque(maxlen=_KEPT_LINES)
        for old in sorted(folder.logs.glob("server-event-log-*"))[:-_KEPT_EVENT_FILES]:
            old.unlink(missing_ok=True)
        self._rotate()

    def write(self, line: str) -> None:
        """Append a line; a full disk loses lines of the log and nothing else."""
        line = line.replace(self._password, "********")
        self._last.append(line)
        try:
            if self._size > _LARGEST_FILE:
                self._rotate()
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError:
            return
        self._size += len(line) + 1

    def _rotate(self) -> None:
        if self._path.exists():
            self._path.replace(self._path.with_suffix(".log.1"))
        write_private(self._path, "")
        self._size = 0

    def excerpt(self) -> str:
        """Return the last lines that help a person to see what went wrong."""
        return useful_lines(tuple(self._last))


def useful_lines(lines: Sequence[str], limit: int = 4) -> str:
    """Return the last lines of trouble without stack traces, else the last lines at all."""
    plain = [line.strip() for line in lines if line.strip() and not line.startswith(_STACK_TRACE)]
    trouble = [line for line in plain if any(word in line for word in _TROUBLE)]
    return "\n".join(f"  {line[:300]}" for line in (trouble or plain)[-limit:])
