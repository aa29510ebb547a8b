"""The needs of the engine at its start: a suitable machine, its library, a command line."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import sys
from pathlib import Path

import psutil

from veritrail_graph.graph.embedded import host
from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.embedded.settings import DATABASE, MEBIBYTE, USERNAME, EngineSettings
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.private import write_private

DISTRIBUTION = "arcadedb"
_PINNED = "26.11.1.dev2"  # as pyproject.toml has it
_OTHERWISE = "set NEO4J_URI to use a Neo4j server"
_OLDEST_GLIBC = (2, 28)
_LIBRARIES = {"Linux": "libarcadedb.so", "Darwin": "libarcadedb.dylib"}


def check_host(settings: EngineSettings, folder: EngineFolder) -> None:
    """Raise `EngineUnavailable`, with what to do about it, when a start would fail or do harm."""
    find_library()
    folder.prepare()
    free_disk = shutil.disk_usage(folder.root).free
    if free_disk < settings.min_free_disk:
        raise EngineUnavailable(
            f"the disk of {folder.root} is nearly full: {free_disk // MEBIBYTE} MiB are free and "
            f"the embedded engine asks for {settings.min_free_disk // MEBIBYTE} MiB; make room, "
            f"set VERITRAIL_HOME to a folder on another disk, or {_OTHERWISE}"
        )
    available = available_memory()
    if available < settings.needed_memory:
        raise EngineUnavailable(
            f"too little memory for the embedded engine: {available // MEBIBYTE} MiB are "
            f"available and a heap of {settings.heap} asks for "
            f"{settings.needed_memory // MEBIBYTE} MiB; close other programs, set "
            f"VERITRAIL_DB_HEAP to less (such as 256m), or {_OTHERWISE}"
        )


def find_library() -> Path:
    """Return the engine's library.

    The package is looked up, never imported: the library is for a process of its own (`host`).

    Raises:
        EngineUnavailable: The wheel is not installed, or a part of it is missing.
    """
    spec = importlib.util.find_spec(DISTRIBUTION)
    if spec is None or not spec.submodule_search_locations:
        libc, version = platform.libc_ver()
        raise EngineUnavailable(
            absent_message(platform.system(), platform.machine(), libc, version)
        )
    if platform.system() == "Windows":
        # Not tried there, and its promise of private files rests on POSIX permissions.
        raise EngineUnavailable(
            f"the embedded engine is not supported on Windows; {_OTHERWISE}, or use WSL"
        )
    root = Path(spec.submodule_search_locations[0])
    library = root / "_native" / _LIBRARIES.get(platform.system(), _LIBRARIES["Linux"])
    if not library.is_file():
        raise EngineUnavailable(
            f"the package {DISTRIBUTION} in {root} is incomplete; "
            f"`pip install --force-reinstall {DISTRIBUTION}=={_PINNED}`, or {_OTHERWISE}"
        )
    return library


def absent_message(system: str, machine: str, libc: str, libc_version: str) -> str:
    """Explain why the engine's wheel is absent on such a machine, and what to do."""
    if (reason := _unsupported(system, machine, libc, libc_version)) is not None:
        return f"there is no embedded engine for {reason}; {_OTHERWISE}"
    return (
        f"the embedded engine is not installed: `pip install {DISTRIBUTION}=={_PINNED}` (or "
        f"reinstall veritrail-graph), or {_OTHERWISE}"
    )


def _unsupported(system: str, machine: str, libc: str, libc_version: str) -> str | None:
    if system == "Darwin":
        return None if machine == "arm64" else "Macs with an Intel processor"
    if system != "Linux":
        return system or "this platform"
    if machine not in ("x86_64", "aarch64"):
        return f"Linux on {machine}"
    if libc != "glibc":
        return "Linux without glibc (such as Alpine)"
    version = tuple(int(part) for part in libc_version.split(".")[:2] if part.isdigit())
    if version < _OLDEST_GLIBC:
        return f"Linux with glibc {libc_version} (2.28 or later is needed)"
    return None


def engine_version() -> str | None:
    """Return the version of the engine's wheel, or None when it is not installed."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None


def available_memory(group: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the bytes that a new process could use, also inside a container with a limit."""
    available = int(psutil.virtual_memory().available)
    try:
        limit = int((group / "memory.max").read_text("ascii"))
        used = int((group / "memory.current").read_text("ascii"))
        counters = (group / "memory.stat").read_text("ascii").splitlines()
        cache = next(int(row.split()[1]) for row in counters if row.startswith("inactive_file "))
    except (OSError, ValueError, StopIteration):  # no cgroup v2, or no limit ("max")
        return available
    return min(available, max(0, limit - used + cache))


_LONGEST_MESSAGE = 64 * MEBIBYTE
# The child gets these alone: keys of model providers are not its business.
_PASSED_ON = ("PATH", "HOME", "TZ")
_LOGGING = """\
handlers = java.util.logging.ConsoleHandler
.level = INFO
io.undertow.level = WARNING
org.xnio.level = WARNING
org.jboss.level = WARNING
java.util.logging.ConsoleHandler.level = INFO
java.util.logging.ConsoleHandler.formatter = com.arcadedb.log.LogFormatter
"""


def engine_command(library: Path, folder: EngineFolder, settings: EngineSettings) -> list[str]:
    """Return the engine's command line. It names the password's file, never the password.

    Args:
        library: The engine.
        folder: Where it lives.
        settings: How it runs.
    """
    logging = folder.config / "logging.properties"
    write_private(logging, _LOGGING)
    return [
        *(sys.executable, "-I", "-S", host.__file__, str(library)),
        *_runtime_options(folder, logging, settings),
        *(f"-Darcadedb.{key}={value}" for key, value in _engine_settings(folder, settings).items()),
    ]


def engine_environment(source: dict[str, str]) -> dict[str, str]:
    """Return the few variables of `source` that a child process of ours is given."""
    passed_on = {name: source[name] for name in _PASSED_ON if name in source}
    # It reads and writes file names in the encoding of the locale; in "C" it finds no `ü`.
    return {**passed_on, "LC_ALL": "C.UTF-8"}


def _runtime_options(folder: EngineFolder, logging: Path, settings: EngineSettings) -> list[str]:
    return [
        f"-Xmx{settings.heap}",
        # What ran out of memory is in an unknown state; a fresh engine recovers everything
        # acknowledged from the log on disk.
        "-XX:+ExitOnOutOfMemoryError",
        # No world-readable counters in /tmp.
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={folder.scratch}",
        f"-Djava.util.logging.config.file={logging}",
    ]


def _engine_settings(folder: EngineFolder, settings: EngineSettings) -> dict[str, str]:
    return {
        "server.name": "veritrail",
        "server.rootPath": str(folder.root),
        "server.databaseDirectory": str(folder.databases),
        "server.configDirectory": str(folder.config),
        "server.backupDirectory": str(folder.backups),
        "server.logsDirectory": str(folder.logs),
        "server.rootPasswordPath": str(folder.password_file),
        "server.defaultDatabases": f"{DATABASE}[{USERNAME}]",
        # The one password has 256 random bits and lies beside its hash: to hash it slowly guards
        # nothing, and took most of a start.
        "server.saltIterations": "1000",
        # `production` would replace error texts by a reference; the engine is the user's own.
        "server.mode": "development",
        # The raw defaults listen on every interface, on well-known ports.
        "server.httpIncomingHost": "127.0.0.1",
        "server.httpIncomingPort": "0",
        "server.httpWorkerThreads": "4",
        "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "bolt.host": "127.0.0.1",
        "bolt.port": "0",
        "bolt.defaultDatabase": DATABASE,
        # What is longer than its 16 MiB it refuses, and then it hears nothing any more.
        "bolt.maxMessageSize": str(_LONGEST_MESSAGE),
        "bolt.packstream.maxValueLength": str(_LONGEST_MESSAGE),
        # 2 = fsync at commit; the default does not, and a power cut would take acknowledged work.
        "txWalFlush": "2",
        # It does not honour the time that a client gives a transaction, and goes on with what a
        # client has left; its own limit, in milliseconds, ends that.
        "command.timeout": str(int(settings.statement_seconds * 1000)),
        "opencypher.loadCsv.allowFileUrls": "false",
        "opencypher.loadCsv.allowRemoteUrls": "false",
        "polyglotEngineEnabled": "false",
        "serverMetrics": "false",
        "support.autoRegister": "false",
    }
