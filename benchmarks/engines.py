"""The two engines, running for a benchmark with nothing of anybody else in them."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.children import BenchmarkError
from veritrail_graph.graph.embedded import EngineSettings, start_engine, stop_engine
from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.store.database import DatabaseAddress

NAMES = ("embedded", "neo4j")
HEAP, LARGE_HEAP = "1g", "4g"

# As a server is run, and not as for tests: all compilers, the default collector.
PRODUCTION_JAVA = (
    "-Xms512m",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
    ),
    "--enable-native-access=ALL-UNNAMED",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
)


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine.

    Attributes:
        name: `embedded` or `neo4j`.
        address: Where it listens.
        environment: What the command line needs to use it.
    """

    name: str
    address: DatabaseAddress
    environment: Mapping[str, str]

    @property
    def login(self) -> dict[str, str | None]:
        """The address as arguments for a child."""
        return asdict(self.address)


@contextmanager
def running(name: str, home: Path, *, large: bool = False) -> Iterator[Engine]:
    """Run an engine until the end of the `with` block.

    Args:
        name: `embedded` or `neo4j`.
        home: A temporary VERITRAIL_HOME.
        large: Whether a Neo4j of our own gets the memory for a million nodes.

    Raises:
        BenchmarkError: It cannot be started here.
    """
    with _embedded(home) if name == "embedded" else _neo4j(home, large=large) as engine:
        yield engine


@contextmanager
def _embedded(home: Path) -> Iterator[Engine]:
    settings = EngineSettings(home)
    try:
        status = asyncio.run(start_engine(settings))
    except EngineUnavailable as error:
        raise BenchmarkError(str(error)) from error
    try:
        password = EngineFolder(home).read_password()
        address = DatabaseAddress(str(status.uri), status.username, password, status.database)
        yield Engine("embedded", address, {"VERITRAIL_HOME": str(home)})
    finally:
        asyncio.run(stop_engine(settings))


@contextmanager
def _neo4j(home: Path, *, large: bool) -> Iterator[Engine]:
    uri = os.environ.get("NEO4J_URI")
    if uri:
        user = os.environ.get("NEO4J_USERNAME") or "neo4j"
        password = os.environ.get("NEO4J_PASSWORD")
        yield _server(home, uri, user, password or "", os.environ.get("NEO4J_DATABASE"))
        return
    settings = {"server.memory.pagecache.size": "1g"} if large else None
    with own_neo4j(home, heap=LARGE_HEAP if large else HEAP, settings=settings) as engine:
        yield engine


@contextmanager
def own_neo4j(
    home: Path, *, heap: str = HEAP, settings: Mapping[str, str] | None = None
) -> Iterator[Engine]:
    """Run a Neo4j of its own, whatever NEO4J_URI says.

    Args:
        home: A temporary VERITRAIL_HOME.
        heap: The most memory that its heap takes.
        settings: Lines of its configuration.

    Raises:
        BenchmarkError: It cannot be started here.
    """
    from tests.neo4j_server import launcher

    launcher.JAVA_OPTIONS = (*PRODUCTION_JAVA, f"-Xmx{heap}")
    launcher.START_SECONDS = 300  # the machine may be busy
    try:
        with launcher.start(settings) as server:
            yield _server(home, server.uri, server.username, server.password, server.database)
    except launcher.Unavailable as error:
        raise BenchmarkError(f"no Neo4j here, set NEO4J_URI to use one: {error}") from error


def _server(home: Path, uri: str, user: str, password: str, database: str | None) -> Engine:
    environment = {
        "VERITRAIL_HOME": str(home),
        "NEO4J_URI": uri,
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
        **({"NEO4J_DATABASE": database} if database else {}),
    }
    return Engine("neo4j", DatabaseAddress(uri, user, password, database), environment)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="veritrail-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
