"""The real service, as a child process or in a thread of this one, spoken to over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from acceptance.command import Veritrail, started
from fakes import warm
from fakes.ports import free_port
from fakes.service_thread import ServiceThread

START_SECONDS = 120.0
STOP_SECONDS = 60.0

_job_engine = threading.Lock()
"""Held by the service that works on jobs in this process; there can be one."""


@dataclass
class ServiceProcess:
    """A service that runs, or ran.

    Attributes:
        home: Its VERITRAIL_HOME.
        port: What it listens on; the same after a restart.
        env: Its settings.
        args: More arguments of `veritrail serve`.
        is_child: Whether it is a process of its own, which can be killed; None: only where another
            service works on jobs in this process.
        client: Speaks HTTP with it; `url` is its base.
    """

    home: Path
    port: int
    env: Mapping[str, str]
    args: Sequence[str]
    log_path: Path
    is_child: bool | None = None
    child: subprocess.Popen[bytes] | None = None
    thread: ServiceThread | None = None
    client: httpx2.Client = field(init=False)
    _works_here: bool = False

    def __post_init__(self) -> None:
        key = self.env.get("VERITRAIL_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = httpx2.Client(
            base_url=self.url, headers=headers, timeout=60.0, trust_env=False
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.child is not None
        return self.child.pid

    @property
    def runs(self) -> bool:
        return self.child is not None or self.thread is not None

    @property
    def log(self) -> str:
        """Everything that it wrote to stderr, over all restarts."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of its log, which is JSON as it is no terminal."""
        return [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self.client.request(method, path, **options)

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.get(path, **options)

    def post(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.post(path, **options)

    def patch(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.patch(path, **options)

    def delete(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.delete(path, **options)

    def start(self) -> None:
        """Start it, again too, and wait until it answers."""
        assert not self.runs
        arguments = ["--port", str(self.port), *self.args]
        environment = Veritrail(self.home).environment(self.env)
        if not self.is_child and self._fits_here():
            try:
                self.thread = ServiceThread(arguments, environment, self.log_path)
            except BaseException:
                self._leave()
                raise
            return
        with self.log_path.open("ab") as log:
            self.child = started(
                "serve",
                *arguments,
                env=environment,
                is_new=not warm.is_possible(self.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + START_SECONDS
        while True:
            assert self.child.poll() is None, self.log[-3000:]
            assert time.monotonic() < until, self.log[-3000:]
            try:
                self.client.get("/healthz")
                return
            except httpx2.TransportError:
                time.sleep(0.05)

    def _fits_here(self) -> bool:
        if "--no-worker" not in self.args:
            self._works_here = _job_engine.acquire(blocking=False)
        return "--no-worker" in self.args or self._works_here

    def until_ready(self, seconds: float = 60.0) -> None:
        """Wait until the graph answers too."""
        until = time.monotonic() + seconds
        while (answer := self.get("/readyz")).status_code != 200:
            assert time.monotonic() < until, answer.text
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill it, as the out-of-memory killer would."""
        assert self.child is not None
        self.child.kill()
        self.child.wait(10)
        self.child = None

    def _leave(self) -> None:
        if self._works_here:
            self._works_here = False
            _job_engine.release()

    def stop(self, by: int = signal.SIGTERM) -> int:
        """End it as its keeper does; gives its exit status."""
        if self.thread is not None:
            thread, self.thread = self.thread, None
            try:
                return thread.stop()
            finally:
                self._leave()
        assert self.child is not None
        self.child.send_signal(by)
        try:
            status = self.child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"did not end in time\n{self.log[-3000:]}") from None
        self.child = None
        return status


@contextmanager
def serving(
    home: Path | Veritrail,
    *,
    port: int | None = None,
    env: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
    start: bool = True,
    child: bool | None = None,
) -> Iterator[ServiceProcess]:
    """`veritrail serve` on a free port, until the end of the block.

    Args:
        home: Its VERITRAIL_HOME, or the command whose home it shares.
        port: The port; None: one that is free.
        env: More settings.
        args: More arguments of the command.
        start: Whether it is started, and waited for; else `start()` does.
        child: Whether it is a process of its own, as it must be to be killed; None: only where
            another service works on jobs in this process.
    """
    settings = dict(env or {})
    if isinstance(home, Veritrail):
        settings = {**home.settings, **settings}
        home = home.home
    descriptor, log = tempfile.mkstemp(prefix="vt-serve-", suffix=".log")
    os.close(descriptor)
    service = ServiceProcess(home, port or free_port(), settings, args, Path(log), child)
    try:
        if start:
            service.start()
        yield service
        if service.runs:
            service.stop()
        assert "Traceback" not in service.log, service.log[-3000:]
    except BaseException:
        print(f"the end of the log of {service.url}:\n{service.log[-6000:]}")
        raise
    finally:
        if service.child is not None:
            service.kill()
        elif service.thread is not None:
            service.stop()
        service.client.close()
        service.log_path.unlink()
