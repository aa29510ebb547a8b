"""The engine's folder under VERITRAIL_HOME: its paths, permissions, secrets and logs.

Texts under study may be confidential, so nothing in the engine's folder is ever readable by
another user. VERITRAIL_HOME is made private when it is made here, and is not changed otherwise.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.private import make_private_folders, write_private

_OTHERS = 0o077
_SHORTEST_PASSWORD = 16


@dataclass(frozen=True, slots=True)
class SupervisorState:
    """The state that a supervisor leaves: commands find it by this, and its successor cleans up."""

    pid: int
    port: int
    token: str = field(repr=False)
    engine_pid: int | None = None
    engine_created: float | None = None


class EngineFolder:
    """The folder `engine` under VERITRAIL_HOME."""

    def __init__(self, home: Path) -> None:
        self.home = home.expanduser().absolute()
        self.root = self.home / "engine"
        self.databases = self.root / "databases"
        self.config = self.root / "config"
        self.backups = self.root / "backups"
        self.logs = self.root / "log"
        self.scratch = self.root / "tmp"
        self.engine_log = self.logs / "engine.log"
        self.supervisor_log = self.logs / "supervisor.log"
        self.password_file = self.root / "password"
        self.state_file = self.root / "supervisor.json"
        self.start_lock = self.root / "start.lock"
        self.supervisor_lock = self.root / "supervisor.lock"

    def prepare(self) -> None:
        """Make the folders, and take from others whatever rights they have on the engine's.

        Raises:
            EngineUnavailable: The folder cannot be made or written to.
        """
        try:
            make_private_folders(
                self.home,
                self.root,
                self.databases,
                self.config,
                self.logs,
                self.backups,
                self.scratch,
            )
            self._tighten()
            probe = self.root / f".probe-{os.getpid()}"
            write_private(probe, "")
            probe.unlink()
        except OSError as error:
            raise self._unusable(error) from None

    def _tighten(self) -> None:
        for path in (self.root, *_entries(self.root)):
            with suppress(FileNotFoundError):  # another first command works here, too
                mode = path.lstat().st_mode
                if mode & _OTHERS and not stat.S_ISLNK(mode):
                    path.chmod(stat.S_IMODE(mode) & ~_OTHERS)

    def _unusable(self, error: OSError) -> EngineUnavailable:
        if isinstance(error, FileExistsError | NotADirectoryError):
            reason = f"{_in_the_way(Path(error.filename or self.home))} is a file, not a folder"
        else:
            reason = f"{error.strerror or error} ({error.filename or self.home})"
        return EngineUnavailable(
            f"the embedded engine cannot use its folder {self.root}: {reason}; set VERITRAIL_HOME "
            "to a folder that you can write to, or NEO4J_URI to use a Neo4j server"
        )

    def read_state(self) -> SupervisorState | None:
        """Return what the last supervisor left, or None when nothing usable is there."""
        try:
            return SupervisorState(**json.loads(self.state_file.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from None
        except (ValueError, TypeError):
            return None

    def write_state(self, state: SupervisorState) -> None:
        """Replace the state file in one step, so that no reader sees half of it."""
        draft = self.state_file.with_suffix(".new")
        write_private(draft, json.dumps(asdict(state)))
        draft.replace(self.state_file)

    def read_password(self) -> str:
        """Return the engine's password."""
        try:
            return self.password_file.read_text("utf-8").strip()
        except OSError as error:
            raise EngineUnavailable(
                f"the password of the embedded engine cannot be read from {self.password_file} "
                f"({error.strerror}); an engine that is started again makes a new one",
                code="password_unreadable",
            ) from None

    def ensure_password(self) -> None:
        """Make a random password where there is none, and let the engine take it at its start.

        The engine reads the file only while it has no user, so its own record of users is dropped
        before each start: then the file alone decides, also after it was changed. A user that a
        statement made (`CREATE USER`) ends with the engine; left there, the engine would make no
        root, and no start would succeed.
        """
        known = self.password_file.read_text("utf-8") if self.password_file.exists() else ""
        if len(known.strip()) < _SHORTEST_PASSWORD:
            write_private(self.password_file, secrets.token_urlsafe(32))
        (self.config / "server-users.jsonl").unlink(missing_ok=True)

    def data_bytes(self) -> int:
        """Return the size of the data on disk."""
        return sum(_size(path) for path in _entries(self.databases))


def _in_the_way(path: Path) -> Path:
    """The first part of a path that is no folder."""
    return next((part for part in reversed((path, *path.parents)) if not part.is_dir()), path)


def _entries(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent) / name


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except FileNotFoundError:  # the engine works while its files are counted
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


_LARGEST_FILE = 2 * 1024 * 1024
_KEPT_LINES = 60
_KEPT_EVENT_FILES = 3
_STACK_TRACE = ("\tat ", "\t... ", "    at ")
_TROUBLE = ("SEVER", "WARNI", "Exception", "Error", "error")


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
