"""The engine as a child process: start, readiness, stop."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from veritrail_graph.graph.embedded import keeper
from veritrail_graph.graph.embedded.folder import BoundedLog, EngineFolder
from veritrail_graph.graph.embedded.launch import engine_command, engine_environment, find_library
from veritrail_graph.graph.embedded.probe import Login, refusal
from veritrail_graph.graph.embedded.settings import DATABASE, USERNAME, EngineSettings
from veritrail_graph.graph.errors import EngineUnavailable

_BOLT_LINE = re.compile(r"Listening for incoming BOLT connections on \S*?:(\d+) ")
_LOCKED_LINE = "is locked by another process"
_UNFLUSHED_LINE = "Error on flushing page"
_KEEPER_PATIENCE = "3"  # in seconds, as an argument
_POLL_SECONDS = 0.05
_LAST_WORDS_SECONDS = 2.0
_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


class EngineProcess:
    """One run of the engine. `start` must be called in the main thread."""

    def __init__(
        self,
        settings: EngineSettings,
        folder: EngineFolder,
        on_exit: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._on_exit = on_exit
        self._progress = threading.Condition()
        self._locked = False
        self._child: subprocess.Popen[bytes] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        self.bolt_port: int | None = None
        # The disk was full, and some pages exist in memory and in the engine's log alone; only a
        # restart brings them to their place.
        self.needs_restart = False

    def start(self) -> None:
        """Start the engine, and a keeper that takes it down when this process is killed."""
        self._folder.ensure_password()
        self._password = self._folder.read_password()
        self._log = BoundedLog(self._folder, self._password)
        command = engine_command(find_library(), self._folder, self._settings)
        child = self._child = subprocess.Popen(
            command,
            cwd=self._folder.root,
            env=engine_environment(dict(os.environ)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=_parent_death_signal(),
        )
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", keeper.__file__, str(child.pid), _KEEPER_PATIENCE],
            cwd=self._folder.root,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._follower = threading.Thread(target=self._follow, args=(child,), daemon=True)
        self._follower.start()

    @property
    def pid(self) -> int | None:
        """The engine's process id, once it was started."""
        return self._child.pid if self._child else None

    @property
    def alive(self) -> bool:
        """Return whether the engine, and the keeper that guards it, still run."""
        return all(child and child.poll() is None for child in (self._child, self._keeper))

    def _follow(self, child: subprocess.Popen[bytes]) -> None:
        for raw in child.stdout or ():
            line = raw.decode("utf-8", "replace").rstrip()
            with self._progress:
                self._log.write(line)
                if match := _BOLT_LINE.search(line):
                    self.bolt_port = int(match[1])
                self._locked = self._locked or _LOCKED_LINE in line
                self.needs_restart = self.needs_restart or _UNFLUSHED_LINE in line
                self._progress.notify_all()
        child.wait()
        for pipe in filter(None, (child.stdin, child.stdout)):
            pipe.close()
        with self._progress:
            self._progress.notify_all()
        self._on_exit()

    def wait_ready(self) -> None:
        """Return when a login and a read from the database have succeeded.

        Raises:
            EngineUnavailable: The engine ended, or did not get ready in time.
        """
        deadline = time.monotonic() + self._settings.start_timeout
        with self._progress:
            self._progress.wait_for(
                lambda: not self.alive or self.bolt_port is not None, self._settings.start_timeout
            )
        said = None
        if self.alive and self.bolt_port is not None and time.monotonic() < deadline:
            login = Login(self.bolt_port, USERNAME, self._password, DATABASE)
            said = refusal(login, deadline - time.monotonic(), lambda: self.alive)
            if said is None:
                return
        raise self._failure(said)

    def _failure(self, said: str | None) -> EngineUnavailable:
        if not self.alive:  # its last words may not have been read yet
            self._follower.join(_LAST_WORDS_SECONDS)
        if self._locked:
            return EngineUnavailable(
                f"another process has the data of the embedded engine open "
                f"({self._folder.databases}); stop that process, set VERITRAIL_HOME to another "
                "folder, or set NEO4J_URI to use a Neo4j server"
            )
        if (status := self._child.poll() if self._child else None) is None:
            what = f"did not get ready within {self._settings.start_timeout:g} seconds"
        else:
            what = f"ended while it started (exit status {status})"
        with self._progress:
            excerpt = f"  {said}" if said and status is None else self._log.excerpt()
        return EngineUnavailable(
            f"the embedded engine {what}. Its last words:\n{excerpt}\n"
            f"All of them: {self._folder.engine_log}; or set NEO4J_URI to use a Neo4j server"
        )

    def bolt_clients(self) -> int:
        """Return the number of open Bolt connections, also those of other programs."""
        try:
            connections = psutil.Process(self.pid).net_connections("tcp")
        except psutil.Error:
            return 0
        return sum(
            connection.status == psutil.CONN_ESTABLISHED and connection.laddr[1] == self.bolt_port
            for connection in connections
        )

    def stop(self) -> None:
        """Stop the engine cleanly, by force when it does not end in time, then its keeper."""
        if self._child and self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(self._settings.stop_timeout)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        if self._keeper and self._keeper.poll() is None:
            _dismiss(self._keeper)


def _dismiss(child: subprocess.Popen[bytes]) -> None:
    try:
        child.communicate(keeper.FAREWELL, timeout=5)
    except (subprocess.TimeoutExpired, BrokenPipeError):
        child.kill()
        child.wait()


def _parent_death_signal() -> Callable[[], None] | None:
    """Return what asks Linux to end the child with its parent, for when the keeper died too."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def end_leftover(pid: int, created: float, folder: Path, patience: float) -> None:
    """End an engine that a killed supervisor left; its own keeper is normally faster."""
    try:
        process = psutil.Process(pid)
        ours = abs(process.create_time() - created) < 1 and str(folder) in " ".join(
            process.cmdline()
        )
        if not ours:  # the number belongs to another process by now
            return
        process.terminate()
        deadline = time.monotonic() + patience
        # A zombie has released its files; its parent reaps it at some time.
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(_POLL_SECONDS)
    except psutil.Error:
        return
