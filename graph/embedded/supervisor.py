"""The process that owns the engine, outlives the commands, and stops when nobody needs it.

Run as `python -m veritrail_graph.graph.embedded.supervisor SETTINGS`, where SETTINGS is a JSON
object without any secret. It leaves its parent's session and parent, so that a command's end or
Ctrl-C does not reach it.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import filelock
import psutil

from veritrail_graph.graph.embedded.control import ControlServer, Reply
from veritrail_graph.graph.embedded.folder import EngineFolder, SupervisorState
from veritrail_graph.graph.embedded.lifetime import Lifetime
from veritrail_graph.graph.embedded.process import EngineProcess, end_leftover
from veritrail_graph.graph.embedded.settings import EngineSettings
from veritrail_graph.graph.errors import EngineUnavailable

_LEFTOVER_PATIENCE = 10.0
_LONGEST_TICK = 5.0
_TIME_TO_READ = 1.0
_ANNOUNCED = b"1"


class Supervisor:
    """One engine, its control channel and its end."""

    def __init__(self, settings: EngineSettings, folder: EngineFolder) -> None:
        self._folder = folder
        self._wake = threading.Event()
        self._lifetime = Lifetime(settings.idle_seconds)
        self._tick = min(_LONGEST_TICK, settings.idle_seconds / 4)
        self._engine = EngineProcess(settings, folder, on_exit=self._wake.set)
        self._token = secrets.token_urlsafe(32)
        self._control = ControlServer(self._token, self._lifetime, self._describe, self._wake)

    def run(self, announce: int) -> None:
        """Start the engine, serve it until nobody needs it any more, stop it.

        Args:
            announce: Written to, and closed, as soon as the control channel is open.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._wake.set())
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._publish()
        os.write(announce, _ANNOUNCED)
        os.close(announce)
        threading.Thread(target=self._control.serve_forever, daemon=True).start()
        try:
            self._engine.start()
            self._publish(self._engine.pid)
            self._engine.wait_ready()
            self._control.settle()
            self._lifetime.touch()
            self._watch()
        except EngineUnavailable as error:
            self._fail(str(error))
        except OSError as error:
            self._fail(f"the embedded engine cannot be started: {error}")
        finally:
            self._finish()

    def _fail(self, reason: str) -> None:
        self._control.settle(reason)
        time.sleep(_TIME_TO_READ)  # the commands that wait for the start get to know why

    def _publish(self, engine_pid: int | None = None) -> None:
        created = psutil.Process(engine_pid).create_time() if engine_pid else None
        self._folder.write_state(
            SupervisorState(os.getpid(), self._control.port, self._token, engine_pid, created)
        )

    def _watch(self) -> None:
        # `_wake` is set by a stop request, by a signal, and by the end of the engine.
        while self._engine.alive and not self._wake.wait(self._tick):
            if self._engine.needs_restart:
                self._lifetime.hurry()
            elif self._lifetime.seconds_left() is not None and self._engine.bolt_clients():
                self._lifetime.touch()  # such as Neo4j Browser, which knows no leases
            if self._lifetime.end_if_idle():
                return

    def _finish(self) -> None:
        self._lifetime.end()
        self._folder.state_file.unlink(missing_ok=True)
        self._control.server_close()
        self._engine.stop()

    def _describe(self) -> Reply | None:
        if not self._engine.alive:
            return None
        return {
            "bolt_port": self._engine.bolt_port if self._control.settled.is_set() else None,
            "engine_pid": self._engine.pid,
            "supervisor_pid": os.getpid(),
            "clients": self._lifetime.clients,
            "pinned": self._lifetime.pinned,
            "idle_seconds_left": self._lifetime.seconds_left(),
        }


def main() -> int:
    """Leave the command that started us, then be the one supervisor of the folder."""
    os.umask(0o077)
    settings = _settings(json.loads(sys.argv[1]))
    announced, announce = os.pipe()
    if os.fork() > 0:
        # The command waits for this end: it leaves no zombie behind, and it knows then that the
        # control channel is open, or why not.
        os.close(announce)
        os._exit(0 if os.read(announced, 1) == _ANNOUNCED else 1)
    os.close(announced)
    return _supervise(settings, EngineFolder(settings.home), announce)


def _supervise(settings: EngineSettings, folder: EngineFolder, announce: int) -> int:
    # Taken after the fork, which the lock would not survive.
    lock = filelock.FileLock(folder.supervisor_lock, mode=0o600)
    try:
        # A predecessor that is stopping still has the data open.
        lock.acquire(timeout=settings.stop_timeout + _LEFTOVER_PATIENCE)
    except filelock.Timeout:
        sys.stderr.write(f"another supervisor holds {folder.supervisor_lock}\n")
        return 1
    left = folder.read_state()
    if left is not None and left.engine_pid is not None and left.engine_created is not None:
        end_leftover(left.engine_pid, left.engine_created, folder.root, _LEFTOVER_PATIENCE)
    Supervisor(settings, folder).run(announce)
    return 0


def _settings(values: Mapping[str, object]) -> EngineSettings:
    return EngineSettings(**{**values, "home": Path(str(values["home"]))})  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main())
