"""Every test runs isolated: own home, own folder, clean environment, no network.

The one thing that is taken from outside is ``NEO4J_URI`` (with its login),
which the ``neo4j_server`` fixture uses instead of starting a server itself.
"""

from __future__ import annotations

import gc
import ipaddress
import os
import shutil
import socket
import ssl
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpcore2
import hypothesis
import hypothesis.configuration
import pytest
from fakes.sharing import shared
from hypothesis.internal import constants_ast
from hypothesis.internal.conjecture import providers
from neo4j_server import launcher
from postgres_server import launcher as postgres_launcher
from xdist.scheduler import LoadFileScheduling

from veritrail_graph.graph.lean_imports import keep_imports_lean

S = TypeVar("S")
pytest_plugins = ["acceptance.homes", "fakes.service_databases"]
ROOT = Path(__file__).resolve().parent
OUTSIDE = dict(os.environ)
CLEARED = ("NEO4J_", "OPENAI_", "AZURE_", "VERITRAIL_", "NO_COLOR", "FORCE_COLOR")

gc.disable()  # until all is collected: what is imported and collected stays, and is looked at often
keep_imports_lean()  # as in a command; else each worker loads data-frame libraries for seconds
hypothesis.configuration.set_hypothesis_home_dir(ROOT / ".hypothesis")
hypothesis.settings.register_profile("local", deadline=None, max_examples=20)
hypothesis.settings.register_profile(
    "ci", deadline=None, max_examples=20, derandomize=True, print_blob=True
)
hypothesis.settings.register_profile("long", deadline=None, max_examples=200)
hypothesis.settings.load_profile("ci" if OUTSIDE.get("CI") else "local")


# What drops a constraint of the shared Neo4j, and what relies on one being there.
CHANGES_THE_SCHEMA = ("contract/test_schema.py", "contract/test_damage.py")
# What uses the second engine of a worker: on one worker it starts once.
USES_THE_FRAIL_ENGINE = (
    "acceptance/test_cli_export.py",
    "acceptance/test_cli_faults.py",
    "acceptance/test_client_jobs.py",
    "acceptance/rest/test_fuzz.py",
    "acceptance/rest/test_service_faults.py",
    "acceptance/web/test_review_page.py",
)


class _ByFile(LoadFileScheduling):
    """A worker gets a file at a time, or a folder whose tests share one service or graph."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.rpartition("/")[0]
        if folder in {"tests/browser", "tests/golden"}:
            return folder
        scope = super()._split_scope(nodeid)
        if scope.endswith(USES_THE_FRAIL_ENGINE):
            return "the frail engine"
        return "the schema" if scope.endswith(CHANGES_THE_SCHEMA) else scope


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the tests in order, and let a worker send the plugin of reruns its few bytes at once.

    For each test it sends two messages over TCP, of which the system else keeps the second back
    until the first is acknowledged: 40 ms a test, nearly all that most tests took.
    """
    config.pluginmanager.register(_Order())
    if config.getoption("--hypothesis-profile") != "long":
        # To draw examples from the constants of all modules, each worker reads them for seconds.
        constants_ast.is_local_module_file = providers.is_local_module_file = lambda _path: False
    line = getattr(getattr(config, "failures_db", None), "sock", None)
    if line is not None:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


# What takes long begins first, so that no worker is left with it in the end: the folders that are
# given out whole, then tests of doors and of stores, wherever they stand.
LONGEST_FIRST = ("browser", "golden", "acceptance", "contract", "recorder")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let each worker read the test files in an order of its own.

    In a fresh clone nothing is compiled. Workers that come from both ends, and a third that begins
    in the middle, compile a part of it each, and find the rest done.
    """
    report = yield
    worker = int(OUTSIDE.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 3
    if worker and isinstance(collector, pytest.Session | pytest.Dir):
        half = len(report.result) // 2
        turned = [*report.result[half:], *report.result[:half]]
        report.result = report.result[::-1] if worker == 1 else turned
    return report


class _Order:
    """The order of the tests, which all workers must agree on."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the files in order, however they were read, before anything else looks at them."""
        items.sort(key=lambda item: (not item.path.is_relative_to(ROOT / "tests"), item.path))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest folders first; within a folder the order stays."""

    def turn(item: pytest.Item) -> int:
        folders = item.nodeid.split("::", 1)[0].split("/")[:-1]
        return min(
            (place for place, name in enumerate(LONGEST_FIRST) if name in folders),
            default=len(LONGEST_FIRST),
        )

    items.sort(key=turn)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave what has been imported and collected out of every later garbage collection."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByFile:
    """Spread files over the workers."""
    return _ByFile(config, log)


class OutgoingConnectionError(RuntimeError):
    """A test tried to leave this machine."""


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[list[str]]:
    """Refuse every connection and name look-up that is not for this machine.

    Yields the refused addresses, for ``_isolated`` to fail the test even
    when the code under test swallowed the error.
    """
    refused: list[str] = []
    allowed = {urlsplit(OUTSIDE["NEO4J_URI"]).hostname} if OUTSIDE.get("NEO4J_URI") else set()

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in allowed and not is_local(name):
            refused.append(str(name))
            raise OutgoingConnectionError(f"tests may not connect to {name}")

    def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: socket.socket, *arguments: Any) -> Any:
            address = arguments[-1]  # of connect(address), sendto(data, [flags,] address)
            if self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
                check(address[0])
            return method(self, *arguments)

        return call

    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        check(host)
        found = look_up(host, *arguments, **options)
        if host in allowed:
            allowed.update(str(entry[4][0]) for entry in found)
        return found

    with pytest.MonkeyPatch.context() as patch:
        for method in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, method, guarded(getattr(socket.socket, method)))
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield refused


def is_local(host: object) -> bool:
    """Whether a host is this machine, or no host at all (a server that binds)."""
    if host in (None, "", "localhost", "0.0.0.0", "::"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Let all clients of the tests share the trusted certificates: reading them takes 50 ms."""
    read = httpcore2.default_ssl_context
    kept = cache(lambda trust_env, *_named: read(_trust_env=trust_env))

    def once(*, _trust_env: bool = True) -> ssl.SSLContext:
        return kept(_trust_env, *(os.environ.get(f"SSL_CERT_{one}") for one in ("FILE", "DIR")))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", once)
        yield


class _Spare:
    """An empty folder that one test after the other gets, for as long as they leave it as it is.

    Most tests put nothing there, and a disk may take longer to remove a folder than they run.
    """

    def __init__(self) -> None:
        self._folder, self._mode = "", 0

    def folder(self) -> str:
        """Return the folder of the last test, or another where that is no longer as it was."""
        if not self._untouched():
            self.remove()
            # Short: the path of a Unix socket holds about 100 characters.
            self._folder = tempfile.mkdtemp(
                prefix="vt-", dir="/tmp" if os.name == "posix" else None
            )
            self._mode = Path(self._folder).stat().st_mode
        return self._folder

    def remove(self) -> None:
        """Remove the folder."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _untouched(self) -> bool:
        try:
            folder = Path(self._folder)
            return folder.stat().st_mode == self._mode and not any(folder.iterdir())
        except OSError:
            return False


@pytest.fixture(scope="session")
def _spare_folders() -> Iterator[tuple[_Spare, _Spare]]:
    """The folder for the home of a test, and the one to work in."""
    both = _Spare(), _Spare()
    yield both
    for one in both:
        one.remove()


@pytest.fixture(autouse=True)
def _isolated(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    _no_network: list[str],
    _spare_folders: tuple[_Spare, _Spare],
) -> Iterator[None]:
    """Give the test a home, a working folder (``tmp_path``, if it takes it) and an environment."""
    for name in OUTSIDE:
        if name.startswith(CLEARED):
            monkeypatch.delenv(name, raising=False)
    home, working = _spare_folders
    monkeypatch.setenv("VERITRAIL_HOME", home.folder())
    own = "tmp_path" in request.fixturenames
    monkeypatch.chdir(request.getfixturevalue("tmp_path") if own else working.folder())
    already = len(_no_network)
    yield
    if hosts := _no_network[already:]:
        pytest.fail(f"the test tried to connect to {', '.join(hosts)}")


@pytest.fixture(autouse=True)
def _no_lost_exception(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test in which asyncio reports an exception that was never retrieved."""
    yield
    gc.collect(0)
    lost = [record.getMessage() for record in caplog.records if record.name == "asyncio"]
    if lost:
        pytest.fail(f"asyncio reports: {lost[0]}")


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in OUTSIDE else own


@pytest.fixture(scope="session")
def neo4j_server(run_folder: Path) -> Iterator[launcher.Server]:
    """A real Neo4j 5, one for all workers: the one of ``NEO4J_URI``, else one of our own.

    A server named by ``NEO4J_URI`` is taken to be there for tests: its data
    may be removed. Without Java 17 or Maven the tests that need a server are
    skipped, but in CI (``CI`` set) they fail.
    """
    if uri := OUTSIDE.get("NEO4J_URI"):
        yield launcher.Server(
            uri,
            OUTSIDE.get("NEO4J_USERNAME") or "neo4j",
            OUTSIDE.get("NEO4J_PASSWORD") or "",
            OUTSIDE.get("NEO4J_DATABASE") or "neo4j",
        )
        return
    start = shared(
        run_folder / "neo4j.json", launcher.start, asdict, lambda found: launcher.Server(**found)
    )
    yield from _available(start, launcher.Unavailable, "real Neo4j (set NEO4J_URI to use one)")


@pytest.fixture(scope="session")
def postgres_server(run_folder: Path) -> Iterator[postgres_launcher.Server]:
    """A real PostgreSQL, one for all workers: no test stops it.

    Where it is not installed, the tests that need it are skipped, but in CI (``CI`` set) they
    fail.
    """
    start = shared(
        run_folder / "postgres.json",
        postgres_launcher.start,
        lambda server: {"home": str(server.home), "port": server.port, "password": server.password},
        lambda found: postgres_launcher.Server(
            Path(found["home"]), found["port"], found["password"]
        ),
    )
    yield from _available(start, postgres_launcher.Unavailable, "real PostgreSQL")


@pytest.fixture
def frail_postgres() -> Iterator[postgres_launcher.Server]:
    """A PostgreSQL of the test's own, which it may stop and start again."""
    yield from _available(
        postgres_launcher.start(), postgres_launcher.Unavailable, "real PostgreSQL"
    )


def _available(
    start: AbstractContextManager[S], unavailable: type[Exception], what: str
) -> Iterator[S]:
    """Give a server; where it cannot be had, skip the test, but fail it in CI."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(start)
        except unavailable as missing:
            reason = f"no {what}: {missing}"
            if OUTSIDE.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        yield server


@pytest.fixture
def postgres_url(postgres_server: postgres_launcher.Server) -> str:
    """The address of an empty database of the test's own."""
    return postgres_server.new_database()
