"""A real PostgreSQL for tests, from Debian's package, without a cluster of the system's.

``start()`` gives a server of its own on a free loopback port, in a temporary folder. As root it
runs as another user, as PostgreSQL demands. A watchdog process stands between the tests and the
server: when its standard input ends, because the tests ended in whatever way, the server ends.

By hand: ``python tests/postgres_server/launcher.py`` runs one until Enter.
"""

from __future__ import annotations

import os
import pwd
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

START_SECONDS = 60
USER = "veritrail"
OTHER_USERS = ("postgres", "nobody")
"""Whom the server runs as where the tests run as root, the first that there is."""

# What is lost in a crash of the machine is no loss here: the folder is thrown away.
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "log_min_messages": "fatal",
}


class Unavailable(Exception):
    """No server can be had on this machine; the message says what is missing."""


@dataclass
class Server:
    """A server that can be stopped and started again on the same port, its data kept.

    Attributes:
        home: Its folder.
        port: Its port.
        password: Of the one user.
    """

    home: Path
    port: int
    password: str
    _watchdog: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def url(self, database: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Make an empty database; gives its address."""
        import psycopg

        name = f"t{secrets.token_hex(6)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url(name)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = {**OPTIONS, "port": str(self.port), "unix_socket_directories": str(self.home)}
        command = [str(_programs() / "postgres"), "-D", str(self.home / "data")]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", __file__, "--watch", str(self.home), *command],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in the terminal is for the tests to handle
        )
        self._wait()

    def stop(self) -> None:
        """Stop it, in the way in which a server goes down that is in use."""
        if self._watchdog is not None:
            with suppress(BrokenPipeError):
                self._watchdog.communicate(timeout=60)
            self._watchdog = None

    def _wait(self) -> None:
        import psycopg

        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
                return
            except psycopg.OperationalError as error:
                ended = self._watchdog is None or self._watchdog.poll() is not None
                if ended or time.monotonic() > deadline:
                    raise Unavailable(f"PostgreSQL did not start: {error}\n{self._log()}") from None
            time.sleep(0.05)

    def _log(self) -> str:
        log = self.home / "log"
        return log.read_text("utf-8", "replace")[-2000:] if log.is_file() else ""


@contextmanager
def start() -> Iterator[Server]:
    """Run a server until the end of the ``with`` block.

    Raises:
        Unavailable: PostgreSQL is not installed, or does not start.
    """
    _programs()
    home = Path(tempfile.mkdtemp(prefix="veritrail-postgres-"))
    server = Server(home, _free_port(), secrets.token_urlsafe(18))
    try:
        _make_cluster(server)
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def _programs() -> Path:
    """The folder of initdb and postgres: Debian's newest, else that of the PATH."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    for found in sorted(versions, key=lambda it: float(it.parts[-3]), reverse=True):
        return found.parent
    initdb = shutil.which("initdb")
    if initdb is None:
        raise Unavailable("initdb is not there (on Debian: apt-get install postgresql)")
    return Path(initdb).resolve().parent


def _other_user() -> pwd.struct_passwd | None:
    """Whom the server runs as; None: the user of the tests."""
    if os.geteuid() != 0:
        return None
    for name in OTHER_USERS:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise Unavailable("PostgreSQL does not run as root, and there is no other user to run it")


def _make_cluster(server: Server) -> None:
    user = _other_user()
    word = server.home / "password"
    word.write_text(server.password, encoding="ascii")
    if user is not None:
        for path in (server.home, word):
            os.chown(path, user.pw_uid, user.pw_gid)
    command = [str(_programs() / "initdb"), "-D", str(server.home / "data"), "-U", USER]
    command += ["-A", "scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--locale=C", "-N"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=server.home,
        user=user.pw_uid if user else None,
        group=user.pw_gid if user else None,
        extra_groups=[] if user else None,
    )
    if done.returncode:
        raise Unavailable(f"initdb failed:\n{(done.stdout + done.stderr)[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _watch(home: Path, command: list[str]) -> int:
    """Run the server until standard input ends."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    user = _other_user()
    with (home / "log").open("ab") as log:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )
    try:
        while server.poll() is None:
            if select.select([0], [], [], 0.1)[0] and not os.read(0, 4096):
                break
    finally:
        server.send_signal(signal.SIGQUIT)  # at once, as if it had crashed
        server.wait()
    return 0


def main(arguments: list[str]) -> int:
    """Run one server by hand, or be the watchdog."""
    if arguments[:1] == ["--watch"]:
        return _watch(Path(arguments[1]), arguments[2:])
    try:
        with start() as server:
            print(server.url())
            print("Enter stops it.", flush=True)
            sys.stdin.readline()
    except Unavailable as error:
        print(f"No PostgreSQL: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
