"""The needs of the engine at its start: a suitable machine, a Java runtime, a command line."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from veritrail_graph.graph.embedded.folder import EngineFolder
from veritrail_graph.graph.embedded.settings import DATABASE, MEBIBYTE, USERNAME, EngineSettings
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.private import write_private

DISTRIBUTION = "arcadedb-embedded"
_OTHERWISE = "set NEO4J_URI to use a Neo4j server"
_OLDEST_GLIBC = (2, 34)
# Left off the class path, so that they cannot open a port or an endpoint whatever is configured:
# other wire protocols, the MCP endpoint, the console and the bridge for in-process use.
_UNWANTED_JARS = ("mcp", "postgresw", "redisw", "graphql", "console", "python-bridge")


@dataclass(frozen=True, slots=True)
class Runtime:
    """The engine as the wheel brings it: a Java runtime and the jars to run on it."""

    java: Path
    jars: tuple[Path, ...]


def check_host(settings: EngineSettings, folder: EngineFolder) -> None:
    """Raise `EngineUnavailable`, with what to do about it, when a start would fail or do harm."""
    find_runtime()
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


def find_runtime() -> Runtime:
    """Return the engine's Java runtime and jars.

    The package is looked up, never imported: importing it loads a JVM bridge into this process.

    Raises:
        EngineUnavailable: The wheel is not installed, or a part of it is missing.
    """
    spec = importlib.util.find_spec("arcadedb_embedded")
    if spec is None or not spec.submodule_search_locations:
        libc, version = platform.libc_ver()
        raise EngineUnavailable(
            absent_message(platform.system(), platform.machine(), libc, version)
        )
    root = Path(spec.submodule_search_locations[0])
    java = root / "jre" / "bin" / "java"
    jars = tuple(
        jar
        for jar in sorted((root / "jars").glob("*.jar"))
        if not jar.name.startswith(tuple(f"arcadedb-{part}" for part in _UNWANTED_JARS))
    )
    if platform.system() == "Windows":
        # Not tried there, and its promise of private files rests on POSIX permissions.
        raise EngineUnavailable(
            f"the embedded engine is not supported on Windows; {_OTHERWISE}, or use WSL"
        )
    if not java.is_file() or not jars:
        raise EngineUnavailable(
            f"the package {DISTRIBUTION} in {root} is incomplete; "
            f"`pip install --force-reinstall {DISTRIBUTION}`, or {_OTHERWISE}"
        )
    return Runtime(java, jars)


def absent_message(system: str, machine: str, libc: str, libc_version: str) -> str:
    """Explain why the engine's wheel is absent on such a machine, and what to do."""
    if (reason := _unsupported(system, machine, libc, libc_version)) is not None:
        return f"there is no embedded engine for {reason}; {_OTHERWISE}"
    return (
        f"the embedded engine is not installed: `pip install {DISTRIBUTION}` (or reinstall "
        f"veritrail-graph), or {_OTHERWISE}"
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
        return f"Linux with glibc {libc_version} (2.34 or later is needed)"
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
_MAIN_CLASS = "com.arcadedb.server.ArcadeDBServer"
# The child gets these alone: keys of model providers and JAVA_TOOL_OPTIONS are not its business.
_PASSED_ON = ("PATH", "HOME", "TZ")
_LOGGING = """\
handlers = java.util.logging.ConsoleHandler
.level = INFO
io.undertow.level = WARNING
org.xnio.level = WARNING
org.jboss.level = WARNING
java.util.logging.ConsoleHandler.level = INFO
java.util.logging.ConsoleHandler.formatter = java.util.logging.SimpleFormatter
java.util.logging.SimpleFormatter.format = %1$tF %1$tT %4$s %5$s%6$s%n
"""


def engine_command(
    runtime: Runtime,
    folder: EngineFolder,
    settings: EngineSettings,
    java_options: Sequence[str] = (),
) -> list[str]:
    """Return the engine's command line. It names the password's file, never the password.

    Args:
        runtime: The engine.
        folder: Where it lives.
        settings: How it runs.
        java_options: More options of Java.
    """
    logging = folder.config / "logging.properties"
    write_private(logging, _LOGGING)
    return [
        str(runtime.java),
        *_java_options(folder, logging, settings),
        *_cache_options(runtime, folder, settings),
        *java_options,
        *(f"-Darcadedb.{key}={value}" for key, value in _engine_settings(folder, settings).items()),
        "-cp",
        os.pathsep.join(str(jar) for jar in runtime.jars),
        _MAIN_CLASS,
    ]


def cache_file(runtime: Runtime, folder: EngineFolder, settings: EngineSettings) -> Path:
    """Return the path of the start-up cache of this version of the engine; it may not exist."""
    stamps = [settings.jit]
    for path in (runtime.java, *runtime.jars):
        found = path.stat()
        stamps.append(f"{path} {found.st_size} {found.st_mtime_ns}")
    name = hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:16]
    return folder.root / f"startup-{name}.aot"


def _cache_options(runtime: Runtime, folder: EngineFolder, settings: EngineSettings) -> list[str]:
    """The cache (`startup_cache`), if it was made."""
    try:
        file = cache_file(runtime, folder, settings)
        return [f"-XX:AOTCache={file}"] if file.exists() else []
    except OSError:
        return []


def engine_environment(source: dict[str, str]) -> dict[str, str]:
    """Return the few variables of `source` that a child process of ours is given."""
    passed_on = {name: source[name] for name in _PASSED_ON if name in source}
    # Java reads and writes file names in the encoding of the locale; in "C" it finds no `ü`.
    return {**passed_on, "LC_ALL": "C.UTF-8"}


def _java_options(folder: EngineFolder, logging: Path, settings: EngineSettings) -> list[str]:
    # The serial collector needs the least processor time where the heap is small and life short.
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if settings.jit == "quick" else []
    return [
        f"-Xmx{settings.heap}",
        *quick,
        "-XX:+UseCompactObjectHeaders",
        # A virtual machine that ran out of memory is in an unknown state; a fresh one recovers
        # everything acknowledged from the log on disk.
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-CreateCoredumpOnCrash",
        f"-XX:ErrorFile={folder.logs / 'crash.log'}",
        # No world-readable counters in /tmp, and no way in for debuggers of other programs.
        "-XX:-UsePerfData",
        "-XX:+DisableAttachMechanism",
        f"-Djava.io.tmpdir={folder.scratch}",
        f"-Djava.util.logging.config.file={logging}",
        "-Djava.awt.headless=true",
        "-Dfile.encoding=UTF-8",
        "-Duser.language=en",
        "--enable-native-access=ALL-UNNAMED",
        "--add-opens=java.base/java.nio.channels.spi=ALL-UNNAMED",
        "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
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
