"""The process that owns the engine, outlives the commands, and stops when no command needs it.

Run as `python -m veritrail_graph.graph.embedded.supervisor SETTINGS`, where SETTINGS is a JSON
object without any secret. It leaves its parent's session and parent, so that a command's end or
Ctrl-C does not reach it.

Commands ask it over a control channel: one JSON line asks, one JSON line answers. A lease is an
open connection, so a command that is killed gives it back like one that ends. The channel is
loopback TCP: a Unix socket's path is limited to about 100 bytes, which a folder of the user's
choice may exceed. The token, in a file of mode 0600, keeps other users out.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import signal
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import filelock
import psutil

from veritrail_graph.graph.embedded.folder import EngineFolder, SupervisorState
from veritrail_graph.graph.embedded.process import EngineProcess, end_leftover
from veritrail_graph.graph.embedded.settings import EngineSettings
from veritrail_graph.graph.errors import EngineUnavailable


class Lifetime:
    """Counts the commands that need the engine; safe to use from several threads."""

    def __init__(self, idle_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._idle_seconds = idle_seconds
        self._last_use = clock()
        self._ending = False
        self._hurried = False
        self.clients = 0
        self.pinned = False

    @contextmanager
    def lease(self, idle_seconds: float) -> Iterator[bool]:
        """Hold the engine; gives False when it is too late and it is stopping already.

        The latest command's idle time counts: it is the one that the user set last.
        """
        with self._lock:
            granted = not self._ending
            if granted:
                self.clients += 1
                self._idle_seconds = idle_seconds
        try:
            yield granted
        finally:
            if granted:
                with self._lock:
                    self.clients -= 1
                    self._last_use = self._clock()

    def touch(self) -> None:
        """Restart the idle time: a client without a lease uses the engine."""
        with self._lock:
            self._last_use = self._clock()

    def hurry(self) -> None:
        """End as soon as no lease is held, pinned or not."""
        with self._lock:
            self._hurried = True

    def end(self) -> None:
        """Grant no lease any more."""
        with self._lock:
            self._ending = True

    def end_if_idle(self) -> bool:
        """End when the idle time is over; a lease asked for meanwhile is either held or refused."""
        with self._lock:
            left = self._seconds_left()
            self._ending = self._ending or (left is not None and left <= 0)
            return self._ending

    def seconds_left(self) -> float | None:
        """Return the idle time that is left, or None while the engine is in use or pinned."""
        with self._lock:
            return self._seconds_left()

    def _seconds_left(self) -> float | None:
        if self.clients:
            return None
        if self._hurried:
            return 0.0
        if self.pinned:
            return None
        return self._idle_seconds - (self._clock() - self._last_use)


Reply = dict[str, object]
_LONGEST_REQUEST = 4096


class ControlServer(socketserver.ThreadingTCPServer):
    """Answers commands; each connection has a thread, which a lease keeps for its life."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(
        self,
        token: str,
        lifetime: Lifetime,
        describe: Callable[[], Reply | None],
        stop: threading.Event,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.token = token
        self.lifetime = lifetime
        self.describe = describe
        self.stop = stop
        self.settled = threading.Event()
        self.failure: str | None = None

    @property
    def port(self) -> int:
        """The port of the control channel."""
        return int(self.server_address[1])

    def settle(self, failure: str | None = None) -> None:
        """Let waiting commands go on: the engine is ready, or will not be."""
        self.failure = failure
        self.settled.set()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore it: a command may end before its answer."""


class _Connection(socketserver.StreamRequestHandler):
    server: ControlServer

    def handle(self) -> None:
        request = _parse(self.rfile.readline(_LONGEST_REQUEST))
        token = request.get("token")
        if not isinstance(token, str) or not hmac.compare_digest(token, self.server.token):
            return
        match request.get("op"):
            case "status":
                self._answer(self.server.describe())
            case "stop":
                self.server.stop.set()
                self._answer({})
                self.rfile.read()  # the connection ends with the supervisor
            case "lease":
                self._lease(float(request["idle_seconds"]), pin=bool(request.get("pin")))

    def _lease(self, idle_seconds: float, *, pin: bool) -> None:
        with self.server.lifetime.lease(idle_seconds) as granted:
            if not granted:
                return
            self.server.settled.wait()
            if self.server.failure is not None:
                self._answer({"failure": self.server.failure})
                return
            if pin:
                self.server.lifetime.pinned = True
            else:
                reply = self.server.describe()
                self._answer(reply)
                if reply is not None:
                    self.rfile.read()  # until the command ends, whatever way
        if pin:  # answered without the lease, which would count as a client
            self._answer(self.server.describe())

    def _answer(self, reply: Reply | None) -> None:
        if reply is None:  # the engine has ended, and this supervisor ends in a moment
            return
        self.wfile.write(json.dumps(reply).encode("utf-8") + b"\n")


def _parse(line: bytes) -> Mapping[str, Any]:
    try:
        request = json.loads(line)
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}


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
        """Start the engine, serve it until no client needs it, stop it.

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
